package register

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems"
)

// fake is a system whose nodes all see the same registers, unless told not to.
type fake struct {
	mu      sync.Mutex
	values  map[string]histories.Value
	version map[string]int64
	// behind is by how many versions a node's reads are late, hung makes it
	// answer nothing.
	behind map[string]int64
	hung   map[string]bool
	refuse error // of creations
	opened []string
	closed int
	asked  int
	onAsk  func(n int)
}

func newFake() *fake {
	return &fake{
		values: map[string]histories.Value{}, version: map[string]int64{},
		behind: map[string]int64{}, hung: map[string]bool{},
	}
}

func (f *fake) Nodes() []string { return []string{"n1", "n2", "n3"} }

func (f *fake) Create(_ context.Context, key string, v histories.Value) systems.Outcome {
	if f.refuse != nil {
		return systems.Outcome{Type: histories.Info, Err: f.refuse}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.values[key], f.version[key] = v, 0
	return systems.Outcome{Type: histories.OK, Version: histories.At(0)}
}

func (f *fake) Open(_ context.Context, node, path string) (systems.Client, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.opened = append(f.opened, node+" "+path)
	if path == "broken" {
		return nil, errors.New("connection refused")
	}
	return &fakeClient{fake: f, node: node, id: fmt.Sprint(len(f.opened))}, nil
}

// list gives what was opened, sorted.
func (f *fake) list() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(slices.Values(f.opened))
}

type fakeClient struct {
	*fake
	node, id string
}

func (c *fakeClient) Prepare(_ context.Context, op *systems.Op) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	op.ExpectedVersion = c.version[op.Key]
	if op.F == "cas" {
		op.Expected = c.values[op.Key]
	}
	return nil
}

func (c *fakeClient) Invoke(ctx context.Context, op systems.Op) systems.Outcome {
	c.mu.Lock()
	c.asked++
	if c.onAsk != nil {
		c.onAsk(c.asked)
	}
	hung := c.hung[c.node]
	c.mu.Unlock()
	if hung {
		<-ctx.Done()
		return systems.Outcome{Type: histories.Fail, Err: ctx.Err()}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if op.F == "read" {
		return systems.Outcome{Type: histories.OK, Value: c.values[op.Key], Version: histories.At(c.version[op.Key] - c.behind[c.node])}
	}
	if op.Conditional && op.ExpectedVersion != c.version[op.Key] {
		return systems.Outcome{Type: histories.Fail, Err: errors.New("version conflict")}
	}
	c.values[op.Key] = op.Value
	c.version[op.Key]++
	return systems.Outcome{Type: histories.OK, Version: histories.At(c.version[op.Key])}
}

func (c *fakeClient) Identity() string { return c.id }

func (c *fakeClient) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed++
	return nil
}
