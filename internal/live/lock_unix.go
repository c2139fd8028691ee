//go:build unix

package live

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lock takes a file for this process until it closes it or ends, however it ends.
// It is false where another has it.
func lock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
