//go:build unix

package tcp

import (
	"time"

	"golang.org/x/sys/unix"
)

// machineClock reads the clock that the processes of a machine share.
func machineClock() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return time.Duration(time.Now().UnixNano())
	}
	return time.Duration(t.Nano())
}
