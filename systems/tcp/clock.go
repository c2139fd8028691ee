package tcp

import "time"

var (
	bootClock = machineClock()
	bootTime  = time.Now()
)

// Now is the clock of all nodes that run on this machine, in whichever process:
// the time since some start, which never goes back and which pauses of a process
// do not stop.
func Now() time.Duration { return bootClock + time.Since(bootTime) }
