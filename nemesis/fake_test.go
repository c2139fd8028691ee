package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/stalemate-io/stalemate/systems"
)

// fake is a cluster that only remembers what is broken.
type fake struct {
	mu       sync.Mutex
	nodes    []string
	servers  []string // on which the nodes depend
	leader   string
	noLinks  bool
	refuse   error // what every fault returns, after having taken effect
	onLeader func()

	// What is broken now, in words, and how often something was broken.
	broken map[string]bool
	broke  int
}

func newFake(n int) *fake {
	f := &fake{broken: map[string]bool{}}
	for i := range n {
		f.nodes = append(f.nodes, fmt.Sprintf("n%d", i+1))
	}
	f.leader = f.nodes[n-1]
	return f
}

// newDependent is a fake of three nodes that depend on server s1, and whose leader
// pushes to the others.
func newDependent() *fake {
	f := newFake(3)
	f.servers = []string{"s1"}
	return f
}

func (f *fake) Dependencies() []string { return f.servers }

func (f *fake) Pushed() []string {
	if f.servers == nil {
		return nil
	}
	return slices.Clone(f.nodes)
}

func (f *fake) HoldPush(to string, d time.Duration) error {
	if d == 0 {
		return f.repair("push to " + to)
	}
	return f.damage(fmt.Sprintf("push to %s held %v", to, d))
}

// state lists what is broken, sorted.
func (f *fake) state() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := []string{}
	for b := range f.broken {
		list = append(list, b)
	}
	slices.Sort(list)
	return list
}

func (f *fake) damage(what string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.broken[what] = true
	f.broke++
	return f.refuse
}

func (f *fake) repair(what string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for b := range f.broken {
		if b == what || len(b) > len(what) && b[:len(what)+1] == what+" " {
			delete(f.broken, b)
		}
	}
	return nil
}

func (f *fake) Nodes() []string { return f.nodes }

func (f *fake) Leader(context.Context) (string, error) {
	if f.onLeader != nil {
		f.onLeader()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.leader == "" {
		return "", errors.New("nobody leads")
	}
	return f.leader, nil
}

func (f *fake) Kill(_ context.Context, node string) error { return f.damage(node + " killed") }
func (f *fake) Start(ctx context.Context, node string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return f.repair(node + " killed")
}
func (f *fake) Pause(_ context.Context, node string) error { return f.damage(node + " paused") }
func (f *fake) Resume(ctx context.Context, node string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return f.repair(node + " paused")
}
func (f *fake) Close() error { return nil }

func (f *fake) Links() systems.Links {
	if f.noLinks {
		return nil
	}
	return fakeLinks{f}
}

type fakeLinks struct{ *fake }

func (l fakeLinks) Cut(from, to string) error { return l.damage(from + ">" + to + " cut") }
func (l fakeLinks) Delay(from, to string, d time.Duration) error {
	return l.damage(fmt.Sprintf("%s>%s delayed %v", from, to, d))
}
func (l fakeLinks) Throttle(from, to string, n int) error {
	return l.damage(fmt.Sprintf("%s>%s throttled %d", from, to, n))
}
func (l fakeLinks) Heal(from, to string) error { return l.repair(from + ">" + to) }
