//go:build unix

package local

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// startWatchdog starts a shell that kills process group pgid when this program
// dies: it reads from a pipe whose other end this program alone holds and never
// writes to. It stands in for the parent-death signal where there is none.
func startWatchdog(pgid int) (stop func(), err error) {
	cmd, w, err := newWatchdog(pgid)
	if err != nil {
		return nil, err
	}
	return func() {
		// Killed before its pipe ends, it has no time to act.
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		w.Close()
	}, nil
}

// newWatchdog starts the shell. It acts when w, which nobody else may hold, is
// closed.
func newWatchdog(pgid int) (cmd *exec.Cmd, w *os.File, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("watchdog: %w", err)
	}
	defer r.Close()
	cmd = exec.Command("/bin/sh", "-c", `read _; kill -9 "-$1"`, "watchdog", strconv.Itoa(pgid))
	cmd.Stdin = r
	// In a group of its own it outlives both a kill of the guarded group and
	// an interrupt typed at the terminal.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		w.Close()
		return nil, nil, fmt.Errorf("watchdog: %w", err)
	}
	return cmd, w, nil
}
