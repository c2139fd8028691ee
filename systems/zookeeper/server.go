package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/stalemate-io/stalemate/systems/local"
)

// server is one member of an Ensemble.
type server struct {
	*local.Member
	client string // host:port for clients
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

// Start runs the server's command.
func (s *server) Start() error { return writeError(s.Member.Start()) }

// errPaused and errStopped are the answers of servers that need not be asked.
var (
	errPaused  = errors.New("the server is paused")
	errStopped = errors.New("the server is not running")
)

func (s *server) ask(ctx context.Context) (Status, error) {
	switch s.Asleep() {
	case local.ErrStopped:
		return Status{}, errStopped
	case local.ErrPaused:
		return Status{}, errPaused
	}
	return Ask(ctx, s.client)
}

// died says how the server ended by itself, or nil where it did not.
func (s *server) died() error {
	var d *local.DiedError
	if err := s.Died(); !errors.As(err, &d) {
		return err
	}
	return &DiedError{Server: d.Node, Exit: d.Exit, Log: d.Log, Tail: d.Tail}
}

// portTaken says whether the server's log complains that one of its ports is in
// use. Not every server that cannot bind a port ends.
func (s *server) portTaken() bool {
	log := local.Tail(s.Command.Log, 200)
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
