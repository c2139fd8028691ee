//go:build unix && !linux

package local

import "syscall"

func groupLeader() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

func guard(pgid int) (stop func(), err error) { return startWatchdog(pgid) }

// reap waits until the process has ended, then ends what it left behind in its
// group. Between the two the group's id may be free; only a group of the same
// id born within that instant could be hit.
func (p *Process) reap() {
	err := p.cmd.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.exited = true
	_ = signalGroup(p.Pid(), signalKill)
	p.err = err
}
