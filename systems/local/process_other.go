//go:build !unix

package local

import (
	"errors"
	"syscall"
)

type signal string

const (
	signalKill      signal = "kill"
	signalTerminate signal = "terminate"
	signalStop      signal = "stop"
	signalContinue  signal = "continue"
)

func groupLeader() *syscall.SysProcAttr { return nil }

// guard refuses: without process groups and signals a process could neither be
// paused nor be kept from outliving this program.
func guard(int) (stop func(), err error) { return nil, errors.ErrUnsupported }

func signalGroup(int, signal) error { return errors.ErrUnsupported }

func (p *Process) reap() {
	_ = p.cmd.Process.Kill()
	err := p.cmd.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.exited = true
	p.err = err
}
