package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/client"

	"github.com/stalemate-io/stalemate/systems/local"
)

// Command says what a container runs.
type Command struct {
	// Image is what it runs from. Entrypoint is the program, nil for the
	// image's own; Args are its arguments, nil for the image's own.
	Image      string
	Entrypoint []string
	Args       []string
	// Env are settings of the environment, NAME=value.
	Env []string
	// Files are put into the container before it first starts.
	Files []File
	// Folder, if not empty, is a folder of this machine that is the container's
	// DataDir, in which it begins. What runs there is then this user, whoever the
	// image names.
	Folder string
	// Log is the file that Close writes what was printed to.
	Log string
}

// DataDir is where a container finds the folder of its command.
const DataDir = "/data"

func (c *Command) config(s *Space) *container.Config {
	config := &container.Config{Image: c.Image, Entrypoint: c.Entrypoint, Cmd: c.Args, Env: c.Env, Labels: s.labels()}
	if c.Folder != "" {
		config.User, config.WorkingDir = s.engine.user, DataDir
	}
	return config
}

func (c *Command) mounts() []mount.Mount {
	if c.Folder == "" {
		return nil
	}
	return []mount.Mount{{Type: mount.TypeBind, Source: c.Folder, Target: DataDir}}
}

// Member is one node of a cluster: a container in the network namespace of its
// host. Killed, it keeps its files. Its methods may be called from any goroutine.
type Member struct {
	host    *Host
	command Command
	id      string

	mu     sync.Mutex
	exit   *exit // of the last start that nobody ended; nil where there is none
	paused bool

	once   sync.Once
	closed error
}

// exit is how a container ended.
type exit struct {
	done   chan struct{}
	cancel context.CancelFunc
	status int64 // valid once done is closed
	err    error
}

// Member makes the container of a host's node without starting it.
func (h *Host) Member(ctx context.Context, c Command) (*Member, error) {
	ctx, cancel := context.WithTimeout(ctx, actTimeout)
	defer cancel()
	m := &Member{host: h, command: c}
	s, api := h.space, h.space.engine.api
	place := &container.HostConfig{
		NetworkMode: container.NetworkMode("container:" + h.id),
		// The host's program is the first process of the namespace, with which the
		// kernel ends all others: no node outlives its run.
		PidMode: container.PidMode("container:" + h.id),
		Mounts:  c.mounts(),
	}
	made, err := api.ContainerCreate(ctx, client.ContainerCreateOptions{Name: s.name + "-" + h.node, Config: c.config(s), HostConfig: place})
	if err != nil {
		return nil, fmt.Errorf("the container of %s: %w", h.node, err)
	}
	m.id = made.ID
	archive, err := pack(c.Files)
	if err != nil {
		return nil, err
	}
	_, err = api.CopyToContainer(ctx, m.id, client.CopyToContainerOptions{DestinationPath: "/", Content: bytes.NewReader(archive)})
	if err != nil {
		return nil, fmt.Errorf("putting files into the container of %s: %w", h.node, err)
	}
	s.mu.Lock()
	s.members = append(s.members, m)
	s.mu.Unlock()
	return m, nil
}

// Start starts the container. It fails where it runs already.
func (m *Member) Start() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.alive() {
		return fmt.Errorf("%s runs already", m.host.node)
	}
	waiting, stop := context.WithCancel(context.Background())
	api := m.host.space.engine.api
	wait := api.ContainerWait(waiting, m.id, client.ContainerWaitOptions{Condition: container.WaitConditionNextExit})
	ctx, cancel := context.WithTimeout(waiting, actTimeout)
	defer cancel()
	if _, err := api.ContainerStart(ctx, m.id, client.ContainerStartOptions{}); err != nil {
		stop()
		return fmt.Errorf("starting %s: %w", m.host.node, err)
	}
	e := &exit{done: make(chan struct{}), cancel: stop}
	go func() {
		defer close(e.done)
		defer stop()
		select {
		case r := <-wait.Result:
			e.status = r.StatusCode
		case e.err = <-wait.Error:
		}
	}()
	m.exit, m.paused = e, false
	return nil
}

// alive is asked with mu held.
func (m *Member) alive() bool {
	if m.exit == nil {
		return false
	}
	select {
	case <-m.exit.done:
		return false
	default:
		return true
	}
}

// Kill ends the node as kill -9 does, a paused one too; Terminate as it wishes to
// end, and if ctx is over first, by killing it. Both fail where it does not run.
func (m *Member) Kill(ctx context.Context) error { return m.end(ctx, "KILL") }

// Terminate asks the node to end.
func (m *Member) Terminate(ctx context.Context) error {
	err := m.end(ctx, "TERM")
	if err != nil && ctx.Err() != nil {
		killing, cancel := context.WithTimeout(context.WithoutCancel(ctx), actTimeout)
		defer cancel()
		return m.end(killing, "KILL")
	}
	return err
}

func (m *Member) end(ctx context.Context, signal string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.alive() {
		return fmt.Errorf("%s does not run", m.host.node)
	}
	if _, err := m.host.space.engine.api.ContainerKill(ctx, m.id, client.ContainerKillOptions{Signal: signal}); err != nil {
		return fmt.Errorf("%s: %w", m.host.node, err)
	}
	select {
	case <-m.exit.done:
	case <-ctx.Done():
		return fmt.Errorf("%s did not end: %w", m.host.node, context.Cause(ctx))
	}
	m.exit, m.paused = nil, false
	return nil
}

// freezeAttempts is how often a container is asked to stand still: the freezer of
// cgroups v1 gives up now and then on a busy machine.
const freezeAttempts = 5

// Pause stops the node's execution until Resume; its connections stay open.
func (m *Member) Pause() error {
	return m.setPaused(true, func(ctx context.Context, api *client.Client) (err error) {
		for range freezeAttempts {
			if _, err = api.ContainerPause(ctx, m.id, client.ContainerPauseOptions{}); err == nil {
				return nil
			}
		}
		return err
	})
}

// Resume lets a paused node go on. Resuming one that is not paused is no error.
func (m *Member) Resume() error {
	return m.setPaused(false, func(ctx context.Context, api *client.Client) error {
		_, err := api.ContainerUnpause(ctx, m.id, client.ContainerUnpauseOptions{})
		return err
	})
}

func (m *Member) setPaused(paused bool, how func(context.Context, *client.Client) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.alive() {
		return fmt.Errorf("%s does not run", m.host.node)
	}
	if m.paused == paused {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), actTimeout)
	defer cancel()
	if err := how(ctx, m.host.space.engine.api); err != nil {
		return fmt.Errorf("%s: %w", m.host.node, err)
	}
	m.paused = paused
	return nil
}

// Asleep says why the node cannot answer: local.ErrPaused or local.ErrStopped, nil
// where nobody has seen to that.
func (m *Member) Asleep() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case !m.alive():
		return local.ErrStopped
	case m.paused:
		return local.ErrPaused
	}
	return nil
}

// tailLines is how much of a node's log an error shows.
const tailLines = 12

// Died says how the node ended by itself, as a *local.DiedError; nil where it did
// not.
func (m *Member) Died() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.exit == nil || m.alive() {
		return nil
	}
	how := m.exit.err
	if how == nil {
		how = fmt.Errorf("exit status %d", m.exit.status)
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	var tail strings.Builder
	if err := m.logs(ctx, &tail, strconv.Itoa(tailLines)); err != nil {
		fmt.Fprintf(&tail, "(its log cannot be read: %v)", err)
	}
	return &local.DiedError{Node: m.host.node, Exit: how, Log: m.command.Log, Tail: strings.TrimRight(tail.String(), "\n")}
}

func (m *Member) logs(ctx context.Context, w io.Writer, tail string) error {
	r, err := m.host.space.engine.api.ContainerLogs(ctx, m.id, client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Tail: tail})
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = stdcopy.StdCopy(w, w, r)
	return err
}

// collect writes what the node has printed to its log file.
func (m *Member) collect(ctx context.Context) (err error) {
	f, err := os.Create(m.command.Log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return m.logs(ctx, f, "all")
}

// CopyOut copies a folder of the container, running or not, into a folder of this
// machine, which is made.
func (m *Member) CopyOut(ctx context.Context, from, to string) error {
	r, err := m.host.space.engine.api.CopyFromContainer(ctx, m.id, client.CopyFromContainerOptions{SourcePath: from})
	if err != nil {
		return fmt.Errorf("copying %s out of the container of %s: %w", from, m.host.node, err)
	}
	defer r.Content.Close()
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close()
	return unpack(r.Content, root)
}

// unpack writes the folders and files of an archive of one folder into root. Other
// things, such as links, no node has.
func unpack(archive io.Reader, root *os.Root) error {
	r := tar.NewReader(archive)
	for {
		h, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		_, name, _ := strings.Cut(path.Clean(h.Name), "/")
		if name == "" {
			continue // the folder itself
		}
		name = filepath.FromSlash(name)
		switch h.Typeflag {
		case tar.TypeDir:
			err = root.MkdirAll(name, 0o755)
		case tar.TypeReg:
			err = unpackFile(r, root, name)
		}
		if err != nil {
			return err
		}
	}
}

func unpackFile(r io.Reader, root *os.Root, name string) (err error) {
	f, err := root.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = io.Copy(f, r)
	return err
}

// Close kills the node, a paused one too, and writes its log. Its container stays
// until its space is closed. It is safe to call twice.
func (m *Member) Close() error {
	m.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), actTimeout)
		defer cancel()
		if m.Asleep() != local.ErrStopped {
			m.closed = m.Kill(ctx)
		}
		m.closed = errors.Join(m.closed, m.collect(ctx))
	})
	return m.closed
}

// abandon ends the wait for the container's end.
func (m *Member) abandon() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.exit != nil {
		m.exit.cancel()
	}
}
