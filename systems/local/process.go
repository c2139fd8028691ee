package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

// ErrExited is returned by what needs a process that still runs.
var ErrExited = errors.New("the process has ended")

// closeTimeout bounds how long Close waits for the kernel to end a process that
// was sent SIGKILL. Only a process stuck in the kernel needs any of it.
const closeTimeout = 10 * time.Second

// Command says what to run.
type Command struct {
	// Path is the program, Args what follows its name.
	Path string
	Args []string
	// Dir is the working directory; empty means the caller's.
	Dir string
	// Env is the environment as KEY=value; nil means the caller's.
	Env []string
	// Log is the file that standard output and standard error are appended
	// to. Its folder is created where missing.
	Log string
}

// Process is a running command, leader of a process group of its own: signals
// go to the group, so they reach its children too, and an interrupt typed at
// the terminal does not reach it.
type Process struct {
	cmd  *exec.Cmd
	log  string
	done chan struct{}

	// mu is held while a signal is sent and while the process is reaped, so
	// that no signal can reach a stranger who was given the same id.
	mu     sync.Mutex
	exited bool
	err    error
}

// Start runs c.
func Start(c Command) (*Process, error) {
	if err := os.MkdirAll(filepath.Dir(c.Log), 0o755); err != nil {
		return nil, fmt.Errorf("folder for the log of %s: %w", c.Path, err)
	}
	log, err := os.OpenFile(c.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("log of %s: %w", c.Path, err)
	}
	// The child has a descriptor of its own from the fork on.
	defer log.Close()

	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir = c.Dir
	cmd.Env = c.Env
	cmd.Stdout = log
	cmd.Stderr = log
	cmd.SysProcAttr = groupLeader()

	p := &Process{cmd: cmd, log: c.Log, done: make(chan struct{})}
	started := make(chan error)
	go p.supervise(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	return p, nil
}

// supervise starts the process, waits for its end and reaps it. It keeps its
// operating system thread all the while: the kernel ties the parent-death
// signal to the thread that forked, not to the program, and the Go runtime may
// end an idle thread at any time.
func (p *Process) supervise(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := p.cmd.Start(); err != nil {
		started <- err
		return
	}
	stop, err := guard(p.cmd.Process.Pid)
	if err != nil {
		p.signal(signalKill)
		p.reap()
		started <- fmt.Errorf("guard against outliving this program: %w", err)
		return
	}
	defer stop()
	started <- nil
	p.reap()
	close(p.done)
}

// Pid is the id of the process and of its group.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done is closed as soon as the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err says how the process ended: nil where it exited with status 0, or has not
// ended yet.
func (p *Process) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Pause stops the execution of the group until Resume. Its connections and
// files stay open.
func (p *Process) Pause() error { return p.signal(signalStop) }

// Resume lets a paused group go on.
func (p *Process) Resume() error { return p.signal(signalContinue) }

// Kill ends the group at once, as kill -9 does, stopped or not, and returns
// when the process has ended. Killing what has ended is no error.
func (p *Process) Kill(ctx context.Context) error {
	if err := p.signal(signalKill); err != nil && !errors.Is(err, ErrExited) {
		return err
	}
	return p.wait(ctx)
}

// Terminate asks the group to end and kills it when ctx is over before it has.
func (p *Process) Terminate(ctx context.Context) error {
	for _, s := range []signal{signalTerminate, signalContinue} {
		if err := p.signal(s); err != nil && !errors.Is(err, ErrExited) {
			return err
		}
	}
	if p.wait(ctx) == nil {
		return nil
	}
	return p.Close()
}

// Close kills the group and waits until it has ended. It is safe to call twice.
func (p *Process) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	return p.Kill(ctx)
}

func (p *Process) wait(ctx context.Context) error {
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("process %d has not ended: %w", p.Pid(), context.Cause(ctx))
	}
}

// signal sends s to every process of the group.
func (p *Process) signal(s signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.exited {
		return ErrExited
	}
	if err := signalGroup(p.Pid(), s); err != nil {
		return fmt.Errorf("send %v to process group %d: %w", s, p.Pid(), err)
	}
	return nil
}
