//go:build unix

package local

import "syscall"

type signal = syscall.Signal

const (
	signalKill      = syscall.SIGKILL
	signalTerminate = syscall.SIGTERM
	signalStop      = syscall.SIGSTOP
	signalContinue  = syscall.SIGCONT
)

func signalGroup(pgid int, s signal) error { return syscall.Kill(-pgid, s) }
