package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/stalemate-io/stalemate/systems/local"
)

// tailLines is how much of a server's log an error message shows.
const tailLines = 12

// server is one member of an Ensemble.
type server struct {
	name   string
	client string // host:port for clients
	log    string
	java   string
	args   []string

	mu      sync.Mutex
	process *local.Process // nil while not running
	paused  bool
}

// install writes the server's folder: its configuration and its id.
func (s *server) install(dir string, id int, config string) error {
	data := filepath.Join(dir, "data")
	if err := os.MkdirAll(data, 0o755); err != nil {
		return writeError(err)
	}
	for path, text := range map[string]string{
		filepath.Join(dir, "zoo.cfg"): config,
		filepath.Join(data, "myid"):   strconv.Itoa(id) + "\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return writeError(err)
		}
	}
	return nil
}

// writeError says what to do about a full disk.
func writeError(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("the disk is full; free some space or choose another folder: %w", err)
	}
	return err
}

func (s *server) start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running() {
		return fmt.Errorf("%s runs already", s.name)
	}
	p, err := local.Start(local.Command{Path: s.java, Args: s.args, Dir: filepath.Dir(s.log), Log: s.log})
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, writeError(err))
	}
	s.process, s.paused = p, false
	return nil
}

// running is asked with mu held.
func (s *server) running() bool {
	if s.process == nil {
		return false
	}
	select {
	case <-s.process.Done():
		return false
	default:
		return true
	}
}

func (s *server) kill(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.running() {
		return fmt.Errorf("%s does not run", s.name)
	}
	if err := s.process.Kill(ctx); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	s.process, s.paused = nil, false
	return nil
}

func (s *server) pause() error {
	return s.setPaused(true, (*local.Process).Pause)
}

func (s *server) resume() error {
	return s.setPaused(false, (*local.Process).Resume)
}

func (s *server) setPaused(paused bool, do func(*local.Process) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.running() {
		return fmt.Errorf("%s does not run", s.name)
	}
	if err := do(s.process); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	s.paused = paused
	return nil
}

func (s *server) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return nil
	}
	if err := s.process.Close(); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	s.process = nil
	return nil
}

// errPaused and errStopped are the answers of servers that need not be asked.
var (
	errPaused  = errors.New("the server is paused")
	errStopped = errors.New("the server is not running")
)

func (s *server) ask(ctx context.Context) (Status, error) {
	s.mu.Lock()
	running, paused := s.running(), s.paused
	s.mu.Unlock()
	switch {
	case !running:
		return Status{}, errStopped
	case paused:
		return Status{}, errPaused
	}
	return Ask(ctx, s.client)
}

// died says how the server ended by itself, or nil where it did not.
func (s *server) died() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil || s.running() {
		return nil
	}
	return &DiedError{Server: s.name, Exit: s.process.Err(), Log: s.log, Tail: s.process.Tail(tailLines)}
}

// portTaken says whether the server's log complains that one of its ports is in
// use. Not every server that cannot bind a port ends.
func (s *server) portTaken() bool {
	log := local.Tail(s.log, 200)
	return strings.Contains(log, "Address already in use") || strings.Contains(log, "BindException")
}

// DiedError is a server that ended by itself.
type DiedError struct {
	Server string
	Exit   error  // how it ended; nil is exit status 0
	Log    string // path of its whole log
	Tail   string // the last lines of it
}

func (e *DiedError) Error() string {
	how := "exit status 0"
	if e.Exit != nil {
		how = e.Exit.Error()
	}
	hint := ""
	if strings.Contains(e.Tail, "No space left on device") {
		hint = "; the disk is full: free some space or choose another folder"
	}
	if e.Tail == "" {
		return fmt.Sprintf("server %s ended by itself (%s%s) and wrote no log; to have one, install libslf4j-java or set ZOOKEEPER_HOME to a whole release", e.Server, how, hint)
	}
	return fmt.Sprintf("server %s ended by itself (%s%s); the end of %s:\n%s", e.Server, how, hint, e.Log, e.Tail)
}

// Unwrap gives how the process ended.
func (e *DiedError) Unwrap() error { return e.Exit }
