package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems"
	"github.com/stalemate-io/stalemate/systems/links"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/processes"
	"github.com/stalemate-io/stalemate/systems/sim"
	"github.com/stalemate-io/stalemate/systems/tcp"
)

// ErrOnlySimulated is a fault that only the simulator can inject, such as a clock
// that runs slow.
var ErrOnlySimulated = errors.New("only the simulator can do that")

// breakable is what a Breaker needs of a System.
type breakable interface {
	systems.Dependent
	Active() (node.ID, error)
	Intercept(func(processes.Envelope) links.Fate) (remove func())
	TraceFile(name string) string
}

// Breaker does to processes what package sim does to its world, in the same words:
// faults of a sim.Fault's kinds, as far as processes, signals and proxies can have
// them.
//
// A fault that waits for a trace strikes before anything that the node sends after
// it reaches another node: each of its requests is held up while its trace is
// looked at.
type Breaker struct {
	system breakable
	note   func(histories.Event)
	start  time.Duration // from which the times of entries count, by tcp.Now

	ctx    context.Context
	cancel context.CancelFunc
	wait   sync.WaitGroup

	mu      sync.Mutex
	entries []sim.Entry
	errs    []error
}

// NewBreaker makes a breaker that notes what it does as nemesis events, and whose
// times count from start by tcp.Now.
func NewBreaker(s breakable, note func(histories.Event), start time.Duration) *Breaker {
	b := &Breaker{system: s, note: note, start: start}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	return b
}

// Entries gives what was done to nodes and messages so far, in the form of a
// simulator's trace.
func (b *Breaker) Entries() []sim.Entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.entries)
}

// Close undoes what lasts still, and gives every error there was.
func (b *Breaker) Close() error {
	b.cancel()
	b.wait.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	return errors.Join(b.errs...)
}

// Inject begins a fault now, or has it wait for its message or trace. The time at
// which the fault says that it begins is not looked at.
func (b *Breaker) Inject(f sim.Fault) error {
	if err := f.Validate(); err != nil {
		return fmt.Errorf("fault %q: %w", f.String(), err)
	}
	targets, err := b.resolve(f.Nodes)
	if err != nil {
		return fmt.Errorf("fault %q: %w", f.String(), err)
	}
	peers, err := b.resolve(f.Peers)
	if err != nil {
		return fmt.Errorf("fault %q: %w", f.String(), err)
	}
	if len(targets) == 0 {
		return nil // nobody has the role now
	}
	s := &strike{Fault: f, breaker: b, targets: targets, peers: peers}
	switch {
	case f.Message != "":
		b.onMessage(s)
		return nil
	case s.how() == nil || f.Effect != 0:
		return fmt.Errorf("fault %q: %w", f.String(), ErrOnlySimulated)
	case f.On != nil:
		return b.onTrace(s)
	}
	s.begin()
	return nil
}

// resolve gives the nodes behind names and roles. Servers of the store are s1, s2,
// … in faults, whatever they are called.
func (b *Breaker) resolve(ids []node.ID) (names []string, err error) {
	for _, id := range ids {
		name := string(id)
		switch {
		case name == "@controller":
			active, err := b.system.Active()
			if err != nil {
				return nil, err
			}
			name = string(active)
		case strings.HasPrefix(name, "s") && len(b.system.Dependencies()) > 0:
			name = "zk" + strings.TrimPrefix(name, "s")
		}
		names = append(names, name)
	}
	return names, nil
}

// onMessage waits for a message to strike.
func (b *Breaker) onMessage(s *strike) {
	seen := 0
	b.system.Intercept(func(e processes.Envelope) links.Fate {
		if seen >= s.Nth || b.ctx.Err() != nil || !slices.Contains(s.targets, string(e.From)) ||
			len(s.peers) > 0 && !slices.Contains(s.peers, string(e.To)) || e.Kind() != s.Message {
			return links.Fate{}
		}
		if seen++; seen < s.Nth {
			return links.Fate{}
		}
		names := []string{string(e.From), string(e.To)}
		for _, moment := range []string{"start-", "start-", "stop-", "stop-"} {
			b.nemesis(moment+s.Kind, names, s.String(), nil)
		}
		switch s.Kind {
		case "lose-message":
			b.enter(sim.Entry{Kind: sim.Lost, Node: e.From, To: e.To, Message: e.Message, Why: s.String()})
			return links.Fate{Lose: true}
		case "delay-message":
			return links.Fate{Delay: s.Amount}
		}
		return links.Fate{Double: true}
	})
}

// lookEvery is how often a trace is looked at for what a fault waits for.
const lookEvery = 2 * time.Millisecond

// onTrace waits for a node to trace something.
func (b *Breaker) onTrace(s *strike) error {
	who, err := b.resolve([]node.ID{s.On.Node})
	if err != nil || len(who) == 0 || who[0] == "" {
		return errors.Join(fmt.Errorf("fault %q: expected a node whose trace to look at", s.String()), err)
	}
	t := tail{path: b.system.TraceFile(who[0])}
	if _, err := t.read(); err != nil { // what is there already does not count
		return err
	}
	var (
		mu   sync.Mutex
		seen int
		done bool
	)
	// look begins the fault when its moment has come.
	look := func() bool {
		mu.Lock()
		defer mu.Unlock()
		if done || b.ctx.Err() != nil {
			return done
		}
		entries, err := t.read()
		b.failed(err)
		for i := range entries {
			e := &entries[i]
			if e.What != s.On.What || s.On.Key != "" && e.Key != s.On.Key {
				continue
			}
			if seen++; seen == s.On.Nth && !done {
				done = true
				s.begin()
			}
		}
		return done
	}
	b.system.Intercept(func(e processes.Envelope) links.Fate {
		if string(e.From) != who[0] || !look() || s.over.Load() {
			return links.Fate{}
		}
		switch s.Kind { // what a node that dies or stands still has not sent yet
		case "kill-node":
			b.enter(sim.Entry{Kind: sim.Lost, Node: e.From, To: e.To, Message: e.Message, Why: s.String()})
			return links.Fate{Lose: true}
		case "pause-node":
			return links.Fate{Delay: s.For}
		}
		return links.Fate{}
	})
	b.wait.Go(func() {
		ticks := time.NewTicker(lookEvery)
		defer ticks.Stop()
		for !look() {
			select {
			case <-ticks.C:
			case <-b.ctx.Done():
				return
			}
		}
	})
	return nil
}

func (b *Breaker) enter(e sim.Entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e.At = tcp.Now() - b.start
	b.entries = append(b.entries, e)
}

func (b *Breaker) failed(err error) {
	if err == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.errs = append(b.errs, err)
}

// nemesis notes one of the events that package nemesis documents.
func (b *Breaker) nemesis(f string, names []string, what string, err error) {
	targets := make([]histories.Value, len(names))
	for i, n := range names {
		targets[i] = histories.String(n)
	}
	e := histories.Event{
		Process: histories.Nemesis, Type: histories.Info, F: f, Value: histories.List(targets...),
		Extra: []histories.Field{{Name: "what", Value: histories.String(what)}},
	}
	if err != nil {
		e.Error = err.Error()
	}
	b.note(e)
}

// strike is one fault with its targets chosen.
type strike struct {
	sim.Fault
	breaker        *Breaker
	targets, peers []string
	over           atomic.Bool // it was undone
}

// action is how a kind of fault is done and undone.
type action struct{ do, undo func(context.Context) error }

// begin does it, and has it undone when its time is over.
func (s *strike) begin() {
	b, a := s.breaker, s.how()
	b.nemesis("start-"+s.Kind, s.targets, s.String(), nil)
	err := a.do(b.ctx)
	b.nemesis("start-"+s.Kind, s.targets, s.String(), err)
	b.failed(err)
	b.wait.Go(func() {
		if s.For > 0 {
			select {
			case <-time.After(s.For):
			case <-b.ctx.Done():
			}
		} else {
			<-b.ctx.Done()
		}
		if b.ctx.Err() != nil && s.Kind == "kill-node" {
			return // nobody waits for it to come back
		}
		b.nemesis("stop-"+s.Kind, s.targets, s.String(), nil)
		s.over.Store(true)
		err := a.undo(context.WithoutCancel(b.ctx))
		b.nemesis("stop-"+s.Kind, s.targets, s.String(), err)
		b.failed(err)
	})
}

// how gives what a kind does, nil where processes cannot have it.
func (s *strike) how() *action {
	cluster := s.breaker.system
	switch s.Kind {
	case "kill-node":
		return s.nodes(cluster.Kill, sim.Crashed, cluster.Start, sim.Booted)
	case "pause-node":
		return s.nodes(cluster.Pause, sim.Paused, cluster.Resume, sim.Resumed)
	case "isolate-node":
		return s.links(true, systems.Links.Cut)
	case "cut-one-way", "hold-link":
		// What is sent into a cut link is kept, by TCP, until it is whole again or
		// the sender gives up.
		return s.links(false, systems.Links.Cut)
	case "halves":
		return s.links(true, systems.Links.Cut)
	case "slow-link":
		return s.links(false, func(l systems.Links, from, to string) error { return l.Delay(from, to, s.Amount) })
	}
	return nil
}

func (s *strike) nodes(do func(context.Context, string) error, began sim.EntryKind, undo func(context.Context, string) error, ended sim.EntryKind) *action {
	each := func(do func(context.Context, string) error, kind sim.EntryKind) func(context.Context) error {
		return func(ctx context.Context) error {
			var errs []error
			for _, name := range s.targets {
				errs = append(errs, do(ctx, name))
				s.breaker.enter(sim.Entry{Kind: kind, Node: node.ID(name)})
			}
			return errors.Join(errs...)
		}
	}
	return &action{each(do, began), each(undo, ended)}
}

// links strikes the links from the targets to the peers, or to all nodes and
// servers where none is named.
func (s *strike) links(both bool, do func(systems.Links, string, string) error) *action {
	c := s.breaker.system
	peers := s.peers
	if len(peers) == 0 {
		peers = append(c.Nodes(), c.Dependencies()...)
	}
	each := func(do func(systems.Links, string, string) error) func(context.Context) error {
		return func(context.Context) error {
			var errs []error
			for _, from := range s.targets {
				for _, to := range peers {
					if from == to {
						continue
					}
					errs = append(errs, do(c.Links(), from, to))
					if both {
						errs = append(errs, do(c.Links(), to, from))
					}
				}
			}
			return errors.Join(errs...)
		}
	}
	return &action{each(do), each(systems.Links.Heal)}
}
