package systems

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Member is one node of a cluster as a deployment holds it: a process, a container.
type Member interface {
	Start() error
	Kill(context.Context) error
	Pause() error
	Resume() error
	// Died says how the node ended by itself, nil where it did not.
	Died() error
}

// Members are the nodes of a cluster by name: the part of a Cluster that does to the
// node of a name what is asked, and nothing else.
type Members[K ~string, M Member] map[K]M

func (m Members[K, M]) of(name string) (M, error) {
	member, ok := m[K(name)]
	if !ok {
		return member, fmt.Errorf("no node %q: want one of %v", name, slices.Sorted(maps.Keys(m)))
	}
	return member, nil
}

// Start runs a node again without waiting until it serves, which is for the
// cluster to do. It fails where the node runs.
func (m Members[K, M]) Start(_ context.Context, name string) error {
	member, err := m.of(name)
	if err != nil {
		return err
	}
	return member.Start()
}

// Kill ends a node as kill -9 does. It fails where the node does not run.
func (m Members[K, M]) Kill(ctx context.Context, name string) error {
	member, err := m.of(name)
	if err != nil {
		return err
	}
	return member.Kill(ctx)
}

// Pause stops a node's execution until Resume; its connections stay open.
func (m Members[K, M]) Pause(_ context.Context, name string) error {
	member, err := m.of(name)
	if err != nil {
		return err
	}
	return member.Pause()
}

// Resume lets a paused node go on. Resuming one that is not paused is no error.
func (m Members[K, M]) Resume(_ context.Context, name string) error {
	member, err := m.of(name)
	if err != nil {
		return err
	}
	return member.Resume()
}

// Died says which nodes ended by themselves, nil where none did.
func (m Members[K, M]) Died() error { return Each(m, M.Died) }

// Each does something to all members at once, and joins the errors in the order of
// the names.
func Each[K ~string, M any](m map[K]M, do func(M) error) error {
	names := slices.Sorted(maps.Keys(m))
	errs := make([]error, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() { errs[i] = do(m[name]) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
