package register

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems"
	"github.com/stalemate-io/stalemate/workloads"
)

// System is what the workload needs of a system that has registers.
type System interface {
	// Nodes lists the names of the nodes.
	Nodes() []string
	// Create makes a register with its first value.
	Create(ctx context.Context, key string, value histories.Value) systems.Outcome
	// Open gives a client of node for reads along path, or for writes where
	// path is empty, once it is ready.
	Open(ctx context.Context, node, path string) (systems.Client, error)
}

// Workload is one run of the registers on one system. Its methods are the
// phases of a run: Setup, Load, Settle, Final, Close.
type Workload struct {
	system  System
	options Options
	load    workloads.Load
	tally   workloads.Tally
	value   atomic.Int64

	agents []workloads.Agent
	// finals read each node at the end. They are open from the start, so that
	// settling asks nothing of the system that only a healthy one can do, such
	// as opening a session.
	finals []final
}

// final is a client for the last reads.
type final struct {
	node, path string
	client     systems.Client
}

// New makes a workload that records into rec.
func New(system System, rec *histories.Recorder, o Options) (*Workload, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	w := &Workload{system: system, options: o}
	w.load = workloads.Load{
		Recorder: rec,
		Rate:     o.Rate,
		Seed:     o.Seed,
		Timeout:  o.Timeout,
		Values:   func() histories.Value { return histories.Int(w.value.Add(1) - 1) },
		Tally:    &w.tally,
	}
	return w, nil
}

// Counts tells how far the run is.
func (w *Workload) Counts() workloads.Counts { return w.tally.Counts() }

// Setup creates the registers, opens every client, and asks until all nodes tell
// the same. It fails if the system cannot do that while nothing is broken.
func (w *Workload) Setup(ctx context.Context) error {
	if err := w.create(ctx); err != nil {
		return err
	}
	if err := w.open(ctx); err != nil {
		return err
	}
	if err := w.Settle(ctx); err != nil {
		return fmt.Errorf("the nodes do not agree before anything was broken: %w", err)
	}
	return nil
}

// create makes the registers and records that as the first writes, by a client
// that does nothing else. A creation whose outcome is unknown ends the run:
// what the registers hold at first must be known.
func (w *Workload) create(ctx context.Context) error {
	creator := w.load.Sender(creating{w.system}, w.system.Nodes()[0])
	for i := range w.options.Keys {
		o := creator.Send(ctx, systems.Op{F: "write", Key: KeyName(i)})
		if o.Type != histories.OK {
			return fmt.Errorf("creating register %s: %w", KeyName(i), o.Err)
		}
	}
	return nil
}

// open makes all clients, side by side.
func (w *Workload) open(ctx context.Context) error {
	var (
		wait   sync.WaitGroup
		mu     sync.Mutex
		failed error
		paths  = w.finalPaths()
		nodes  = w.system.Nodes()
		kinds  = append([]string{""}, w.options.Paths...)
		agents = make([]workloads.Agent, len(nodes)*len(kinds)*w.options.Clients)
		finals = make([]final, len(nodes)*len(paths))
	)
	open := func(node, path string, use func(systems.Client)) {
		wait.Go(func() {
			client, err := w.system.Open(ctx, node, path)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = errors.Join(failed, fmt.Errorf("client of %s: %w", node, err))
				return
			}
			use(client)
		})
	}
	for i := range agents {
		a := &agents[i]
		kind := kinds[i/w.options.Clients%len(kinds)]
		a.Node = nodes[i/w.options.Clients/len(kinds)]
		if kind == "" {
			a.Name = fmt.Sprintf("writer %s %d", a.Node, i%w.options.Clients)
			a.Weight = w.options.Writes
			a.Next = w.options.nextWrite
		} else {
			a.Name = fmt.Sprintf("%s reader %s %d", kind, a.Node, i%w.options.Clients)
			a.Weight = (1 - w.options.Writes) / float64(len(w.options.Paths))
			a.Next = w.options.nextRead(kind)
		}
		open(a.Node, kind, func(c systems.Client) { a.Client = c })
	}
	for i := range finals {
		f := &finals[i]
		f.node, f.path = nodes[i/len(paths)], paths[i%len(paths)]
		open(f.node, f.path, func(c systems.Client) { f.client = c })
	}
	wait.Wait()
	w.agents, w.finals = agents, finals
	return failed
}

// finalPaths lists the paths of the final reads.
func (w *Workload) finalPaths() []string {
	paths := []string{w.options.Final}
	for _, p := range w.options.Caches {
		if p != w.options.Final && slices.Contains(w.options.Paths, p) {
			paths = append(paths, p)
		}
	}
	return paths
}

// Load sends operations until stop is closed. When ctx is over it abandons what
// is under way.
func (w *Workload) Load(ctx context.Context, stop <-chan struct{}) {
	w.load.Run(ctx, stop, w.agents)
}

// askAgain is how long settling waits between two rounds of questions.
const askAgain = 50 * time.Millisecond

// Settle asks every node for every register until all give the same version,
// and says what still differed when the time was up.
func (w *Workload) Settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, w.options.Settle)
	defer cancel()
	for {
		err := w.agree(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-time.After(askAgain):
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return fmt.Errorf("called off before all nodes told the same: %w", err)
			}
			return fmt.Errorf("not settled after %v: %w", w.options.Settle, err)
		}
	}
}

// agree asks every node once and says what differs.
func (w *Workload) agree(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, w.options.Timeout)
	defer cancel()
	seen := make([]map[string]histories.Version, len(w.finals))
	errs := make([]error, len(w.finals))
	var wait sync.WaitGroup
	for i, f := range w.finals {
		wait.Go(func() {
			seen[i] = map[string]histories.Version{}
			for k := range w.options.Keys {
				o := f.client.Invoke(ctx, systems.Op{F: "read", Key: KeyName(k), Path: f.path})
				if o.Type != histories.OK {
					errs[i] = fmt.Errorf("%s of %s on %s: %w", f.path, KeyName(k), f.node, o.Err)
					return
				}
				seen[i][KeyName(k)] = o.Version
			}
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for i, f := range w.finals[1:] {
		for k := range w.options.Keys {
			key, first := KeyName(k), w.finals[0]
			if a, b := seen[0][key], seen[i+1][key]; a != b {
				return fmt.Errorf("%s of %s is at version %v on %s, %s at %v on %s",
					first.path, key, a, first.node, f.path, b, f.node)
			}
		}
	}
	return nil
}

// Final reads every register on every node and records these as the run's last
// operations. settled says whether Settle succeeded.
func (w *Workload) Final(ctx context.Context, settled bool) {
	w.load.Recorder.Note(histories.Event{
		Process: histories.Nemesis,
		Type:    histories.Info,
		F:       "final-reads",
		Extra:   []histories.Field{{Name: "settled", Value: histories.Bool(settled)}},
	})
	mark := histories.Field{Name: "final", Value: histories.Bool(true)}
	var wait sync.WaitGroup
	for _, f := range w.finals {
		wait.Go(func() {
			sender := w.load.Sender(f.client, f.node)
			for k := range w.options.Keys {
				sender.Send(ctx, systems.Op{F: "read", Key: KeyName(k), Path: f.path}, mark)
			}
		})
	}
	wait.Wait()
}

// Close ends every client.
func (w *Workload) Close() error {
	var (
		wait sync.WaitGroup
		mu   sync.Mutex
		all  error
	)
	end := func(c systems.Client) {
		if c == nil {
			return
		}
		wait.Go(func() {
			err := c.Close()
			mu.Lock()
			defer mu.Unlock()
			all = errors.Join(all, err)
		})
	}
	for _, a := range w.agents {
		end(a.Client)
	}
	for _, f := range w.finals {
		end(f.client)
	}
	wait.Wait()
	return all
}

// creating is a client whose writes make registers.
type creating struct{ system System }

func (c creating) Prepare(context.Context, *systems.Op) error { return nil }

func (c creating) Invoke(ctx context.Context, op systems.Op) systems.Outcome {
	return c.system.Create(ctx, op.Key, op.Value)
}

func (c creating) Identity() string { return "" }

func (c creating) Close() error { return nil }
