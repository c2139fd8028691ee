package processes

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/stalemate-io/stalemate/systems/local"
	"github.com/stalemate-io/stalemate/systems/node"
)

// tailLines is how much of a node's log an error shows.
const tailLines = 12

// process is one node of a Cluster.
type process struct {
	id      node.ID
	address string // host:port where clients reach it
	dir     string
	program string
	args    []string

	mu      sync.Mutex
	running *local.Process // nil while it was not started, or was killed
	paused  bool
}

func (p *process) log() string { return filepath.Join(p.dir, "node.log") }

func (p *process) start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.alive() {
		return fmt.Errorf("%s runs already", p.id)
	}
	r, err := local.Start(local.Command{Path: p.program, Args: p.args, Dir: p.dir, Log: p.log()})
	if err != nil {
		return fmt.Errorf("%s: %w", p.id, err)
	}
	p.running, p.paused = r, false
	return nil
}

// alive is asked with mu held.
func (p *process) alive() bool {
	if p.running == nil {
		return false
	}
	select {
	case <-p.running.Done():
		return false
	default:
		return true
	}
}

// end ends the process by how, which is one of its methods.
func (p *process) end(ctx context.Context, how func(*local.Process, context.Context) error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.alive() {
		return fmt.Errorf("%s does not run", p.id)
	}
	if err := how(p.running, ctx); err != nil {
		return fmt.Errorf("%s: %w", p.id, err)
	}
	p.running, p.paused = nil, false
	return nil
}

func (p *process) setPaused(paused bool, how func(*local.Process) error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.alive() {
		return fmt.Errorf("%s does not run", p.id)
	}
	if err := how(p.running); err != nil {
		return fmt.Errorf("%s: %w", p.id, err)
	}
	p.paused = paused
	return nil
}

func (p *process) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running == nil {
		return nil
	}
	if err := p.running.Close(); err != nil {
		return fmt.Errorf("%s: %w", p.id, err)
	}
	p.running = nil
	return nil
}

var (
	errPaused  = errors.New("the node is paused")
	errStopped = errors.New("the node is not running")
)

// asleep says why the node cannot answer, if it cannot.
func (p *process) asleep() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !p.alive():
		return errStopped
	case p.paused:
		return errPaused
	}
	return nil
}

// died says how the node ended by itself, nil where it did not.
func (p *process) died() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running == nil || p.alive() {
		return nil
	}
	return &DiedError{Node: p.id, Exit: p.running.Err(), Log: p.log(), Tail: p.running.Tail(tailLines)}
}

// DiedError is a node that ended by itself.
type DiedError struct {
	Node node.ID
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

// portTaken says whether the node ended because its port is in use.
func (e *DiedError) portTaken() bool { return strings.Contains(e.Tail, "address already in use") }
