package local

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// Why a Member does not answer, where somebody has seen to that.
var (
	ErrPaused  = errors.New("the node is paused")
	ErrStopped = errors.New("the node is not running")
)

// Member is one node of a cluster: a command that is started, killed, paused and
// started again. Its methods may be called from any goroutine.
type Member struct {
	Name    string
	Command Command

	mu      sync.Mutex
	process *Process // nil while it was not started, or was ended
	paused  bool
}

// Start runs the command. It fails where it runs already.
func (m *Member) Start() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.alive() {
		return fmt.Errorf("%s runs already", m.Name)
	}
	p, err := Start(m.Command)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	m.process, m.paused = p, false
	return nil
}

// alive is asked with mu held.
func (m *Member) alive() bool {
	if m.process == nil {
		return false
	}
	select {
	case <-m.process.Done():
		return false
	default:
		return true
	}
}

// Kill ends the node as kill -9 does, Terminate as it wishes to end. Both fail
// where it does not run.
func (m *Member) Kill(ctx context.Context) error      { return m.end(ctx, (*Process).Kill) }
func (m *Member) Terminate(ctx context.Context) error { return m.end(ctx, (*Process).Terminate) }

func (m *Member) end(ctx context.Context, how func(*Process, context.Context) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.alive() {
		return fmt.Errorf("%s does not run", m.Name)
	}
	if err := how(m.process, ctx); err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	m.process, m.paused = nil, false
	return nil
}

// Pause stops the node's execution until Resume; its connections stay open.
// Resuming one that is not paused is no error.
func (m *Member) Pause() error  { return m.setPaused(true, (*Process).Pause) }
func (m *Member) Resume() error { return m.setPaused(false, (*Process).Resume) }

func (m *Member) setPaused(paused bool, how func(*Process) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.alive() {
		return fmt.Errorf("%s does not run", m.Name)
	}
	if err := how(m.process); err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	m.paused = paused
	return nil
}

// Asleep says why the node cannot answer: ErrPaused or ErrStopped, nil where
// nobody has seen to that.
func (m *Member) Asleep() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case !m.alive():
		return ErrStopped
	case m.paused:
		return ErrPaused
	}
	return nil
}

// Pid is the process id, 0 where the node does not run.
func (m *Member) Pid() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.alive() {
		return 0
	}
	return m.process.Pid()
}

// Died says how the node ended by itself, as a *DiedError; nil where it did not.
func (m *Member) Died() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.process == nil || m.alive() {
		return nil
	}
	return &DiedError{Node: m.Name, Exit: m.process.Err(), Log: m.Command.Log, Tail: m.process.Tail(tailLines)}
}

// Close kills the node, a paused one too. It is safe to call twice.
func (m *Member) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.process == nil {
		return nil
	}
	if err := m.process.Close(); err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	m.process = nil
	return nil
}

// tailLines is how much of a node's log an error shows.
const tailLines = 12

// DiedError is a node that ended by itself.
type DiedError struct {
	Node string
	Exit error  // how it ended; nil is exit status 0
	Log  string // path of its whole log
	Tail string // the last lines of it
}

func (e *DiedError) Error() string {
	how := "exit status 0"
	if e.Exit != nil {
		how = e.Exit.Error()
	}
	if e.Tail == "" {
		return fmt.Sprintf("node %s ended by itself (%s) and printed nothing", e.Node, how)
	}
	return fmt.Sprintf("node %s ended by itself (%s); the end of %s:\n%s", e.Node, how, e.Log, e.Tail)
}

// Unwrap gives how the process ended.
func (e *DiedError) Unwrap() error { return e.Exit }

// PortTaken says whether the node ended because its port is in use.
func (e *DiedError) PortTaken() bool {
	return strings.Contains(strings.ToLower(e.Tail), "address already in use")
}
