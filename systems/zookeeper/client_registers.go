package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems"
)

// DefaultSession is the session time-out that clients ask for. A client leaves
// a silent server after two thirds of it and would then miss what that server
// says when it wakes, so it is far longer than any pause.
const DefaultSession = 60 * time.Second

// Registers are the znodes that one run works on: one a key, under a root of
// the run's own, so that runs on one ensemble do not meet.
type Registers struct {
	servers []Server
	root    string
	timeout time.Duration

	mu     sync.Mutex
	keys   []string
	caches map[string]*cache
	noops  int
}

// Server is a server's name and the address at which it takes clients.
type Server struct{ Name, Address string }

// NewRegisters names the znodes of a run; run must be unique on the ensemble and
// fit for a znode's name. Nothing is asked of the servers yet.
func NewRegisters(servers []Server, run string, session time.Duration) *Registers {
	if session <= 0 {
		session = DefaultSession
	}
	return &Registers{
		servers: servers,
		root:    "/stalemate-" + run,
		timeout: session,
		caches:  map[string]*cache{},
	}
}

// Root is the znode under which everything of the run lies.
func (r *Registers) Root() string { return r.root }

// Nodes lists the servers' names.
func (r *Registers) Nodes() []string {
	names := make([]string, len(r.servers))
	for i, s := range r.servers {
		names[i] = s.Name
	}
	return names
}

// noopPrefix begins the names of the znodes that clients of the path write have
// for their writes.
const noopPrefix = "noop-"

func (r *Registers) znode(key string) string { return r.root + "/" + key }

// Create makes the run's root, if it is not there, and the register key with its
// first value, as version 0.
func (r *Registers) Create(ctx context.Context, key string, value histories.Value) systems.Outcome {
	err := r.once(ctx, r.servers[0], func(_ context.Context, s *session) error {
		if _, err := s.Create(r.root, nil, 0, zk.WorldACL(zk.PermAll)); err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return fmt.Errorf("creating %s: %w", r.root, err)
		}
		if _, err := s.Create(r.znode(key), encode(value), 0, zk.WorldACL(zk.PermAll)); err != nil {
			return fmt.Errorf("creating %s: %w", r.znode(key), err)
		}
		return nil
	})
	if err != nil {
		return systems.Outcome{Type: writeType(err), Err: err}
	}
	r.mu.Lock()
	r.keys = append(r.keys, key)
	r.mu.Unlock()
	return systems.Outcome{Type: histories.OK, Version: histories.At(0)}
}

// Open gives a client of the server node for reads along path; an empty path is
// for a client that writes. All registers must have been created. It returns
// once the client is ready.
func (r *Registers) Open(ctx context.Context, node, path string) (systems.Client, error) {
	server, err := r.server(node)
	if err != nil {
		return nil, err
	}
	if path == PathWatch {
		return r.watch(ctx, server)
	}
	s, err := openSession([]string{server.Address}, r.timeout, nil)
	if err != nil {
		return nil, err
	}
	c := &client{registers: r, node: node, session: s}
	if err := s.ready(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if path == PathWrite {
		r.mu.Lock()
		r.noops++
		c.noop = fmt.Sprintf("%s/%s%d", r.root, noopPrefix, r.noops)
		r.mu.Unlock()
		_, err := await(ctx, func(context.Context) (string, error) {
			return s.Create(c.noop, nil, 0, zk.WorldACL(zk.PermAll))
		})
		if err != nil {
			return nil, errors.Join(fmt.Errorf("creating %s through %s: %w", c.noop, node, err), c.Close())
		}
	}
	return c, nil
}

// watch gives a reader of the server's cache, which the first one starts.
func (r *Registers) watch(ctx context.Context, server Server) (systems.Client, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.caches[server.Name]
	if !ok {
		var err error
		if c, err = openCache(server.Address, r.timeout, r.keys, r.znode); err != nil {
			return nil, err
		}
		r.caches[server.Name] = c
	}
	if err := c.session.ready(ctx); err != nil {
		return nil, err
	}
	return &watcher{node: server.Name, cache: c}, nil
}

// Remove deletes everything of the run from the ensemble. Call it after the
// last client is closed, where the ensemble outlives the run.
func (r *Registers) Remove(ctx context.Context) error {
	return r.once(ctx, r.servers[0], func(ctx context.Context, s *session) error {
		children, _, err := s.Children(r.root)
		if errors.Is(err, zk.ErrNoNode) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("listing %s: %w", r.root, err)
		}
		for _, child := range children {
			if ctx.Err() != nil {
				return ended(ctx)
			}
			if err := s.Delete(r.znode(child), -1); err != nil && !errors.Is(err, zk.ErrNoNode) {
				return fmt.Errorf("deleting %s: %w", r.znode(child), err)
			}
		}
		if err := s.Delete(r.root, -1); err != nil {
			return fmt.Errorf("deleting %s: %w", r.root, err)
		}
		return nil
	})
}

// Close ends the caches. Clients are closed by whoever opened them.
func (r *Registers) Close() error {
	r.mu.Lock()
	caches := r.caches
	r.caches = map[string]*cache{}
	r.mu.Unlock()
	var (
		wait sync.WaitGroup
		errs = make(chan error, len(caches))
	)
	for _, c := range caches {
		wait.Go(func() { errs <- c.Close() })
	}
	wait.Wait()
	close(errs)
	var all error
	for err := range errs {
		all = errors.Join(all, err)
	}
	return all
}

// once does f in a session of its own.
func (r *Registers) once(ctx context.Context, server Server, f func(context.Context, *session) error) error {
	s, err := openSession([]string{server.Address}, r.timeout, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.ready(ctx); err != nil {
		return err
	}
	_, err = await(ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, f(ctx, s) })
	return err
}

func (r *Registers) server(name string) (Server, error) {
	for _, s := range r.servers {
		if s.Name == name {
			return s, nil
		}
	}
	return Server{}, fmt.Errorf("no server %q: there are %v", name, r.Nodes())
}
