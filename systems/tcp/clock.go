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

// At is what Now was at a time of the wall clock, for what others have dated. It
// is right where that clock has not been set since.
func At(t time.Time) time.Duration { return Now() - time.Since(t.Round(0)) }
