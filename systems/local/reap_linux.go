package local

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// groupLeader makes the child leader of a group of its own and has the kernel
// kill it when the thread that starts it dies.
func groupLeader() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// guard has nothing to do where the parent-death signal exists.
func guard(int) (stop func(), err error) { return func() {}, nil }

// reap waits until the process has ended and, while its id is still its own,
// ends what it left behind in its group.
func (p *Process) reap() {
	for {
		err := unix.Waitid(unix.P_PID, p.Pid(), nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.exited = true
	_ = signalGroup(p.Pid(), signalKill)
	p.err = p.cmd.Wait()
}
