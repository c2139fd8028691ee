package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/nemesis"
	"github.com/stalemate-io/stalemate/systems"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/tcp"
	"github.com/stalemate-io/stalemate/workloads"
	"github.com/stalemate-io/stalemate/workloads/leadership"
)

// Cluster is what an experiment needs of a running system.
type Cluster interface {
	systems.Cluster
	// Client runs a client of the cluster in this process.
	Client(id node.ID, new node.New, seed uint64) (*tcp.Node, error)
	// Died says which nodes ended by themselves.
	Died() error
}

// Experiment is one run of a workload on a running cluster.
type Experiment struct {
	Cluster Cluster
	// Workload makes the clients.
	Workload Workload
	// Load is how long clients and faults go on, Settle how long the healed
	// cluster is left alone before the final reads.
	Load, Settle time.Duration
	// Windows are the planned faults, Healthy the least time between two.
	Windows []nemesis.Window
	Healthy time.Duration
	// Seed decides what clients ask for and whom faults strike.
	Seed uint64
	// Began, if not nil, is told when the history begins, before anything is
	// recorded; where it gives an error nothing is.
	Began func(Moment) error
	// Watch, if not nil, is told what fault is in force.
	Watch func(what string)

	tally tally
}

// finishWithin bounds how long clients may take to end what they have begun.
const finishWithin = 30 * time.Second

// Counts is how many operations came to which end so far.
func (x *Experiment) Counts() workloads.Counts { return x.tally.counts() }

// Record does the experiment and writes what the clients saw to w, as it happens,
// in the form of histories. Times count from when Record began, which is start by
// tcp.Now. When ctx is over it heals and ends the history; that is no error.
func (x *Experiment) Record(ctx context.Context, w io.Writer) (start time.Duration, err error) {
	for _, w := range x.Windows {
		if err := w.Fault.Available(x.Cluster); err != nil {
			return 0, fmt.Errorf("%s: %w", w.Fault.Name(), err)
		}
	}
	now := Now()
	start = now.Mono
	if x.Began != nil {
		if err := x.Began(now); err != nil {
			return start, err
		}
	}
	rec := histories.NewRecorderAt(w, func() int64 { return int64(tcp.Now() - start) })
	defer func() { err = errors.Join(err, rec.Close()) }()
	if err := x.load(ctx, rec); err != nil {
		return start, err
	}
	if err := x.Cluster.Died(); err != nil {
		return start, err
	}
	if x.Counts().OK == 0 {
		return start, errors.New("not one operation succeeded: there is nothing to judge")
	}
	select {
	case <-ctx.Done():
	case <-time.After(x.Settle):
	}
	if ctx.Err() != nil {
		return start, nil
	}
	rec.Note(leadership.FinalReads())
	err = x.run(ctx, finishWithin, func(ended func()) ([]leadership.Client, error) {
		return x.Workload.Finish(ended, x.record(rec)), nil
	})
	return start, errors.Join(err, rec.Err())
}

func (x *Experiment) record(rec *histories.Recorder) func() leadership.Recording {
	return func() leadership.Recording { return &recording{client: rec.Client(), tally: &x.tally} }
}

// load lets clients and nemesis work.
func (x *Experiment) load(ctx context.Context, rec *histories.Recorder) error {
	// A disruption that began late must not outlast the clients.
	breaking, heal := context.WithCancel(ctx)
	defer heal()
	n := &nemesis.Nemesis{
		Cluster: x.Cluster, Windows: x.Windows, Healthy: x.Healthy,
		Rand: workloads.Rand(x.Seed, "fault targets"), Note: rec.Note, Watch: x.Watch,
	}
	broken := make(chan error, 1)
	go func() { broken <- n.Run(breaking) }()
	err := x.run(ctx, x.Load+finishWithin, func(ended func()) ([]leadership.Client, error) {
		return x.Workload.Begin(x.Load, ended, x.record(rec))
	})
	heal()
	if failed := <-broken; failed != nil {
		err = errors.Join(err, fmt.Errorf("the nemesis could not do its work: %w", failed))
	}
	return errors.Join(err, rec.Err())
}

// run runs clients until each has ended, or ctx is over. What they have open then
// stays open.
func (x *Experiment) run(ctx context.Context, limit time.Duration, clientsFor func(ended func()) ([]leadership.Client, error)) (err error) {
	var working atomic.Int64
	done := make(chan struct{})
	clients, err := clientsFor(func() {
		if working.Add(-1) == 0 {
			close(done)
		}
	})
	if err != nil {
		return err
	}
	working.Store(int64(len(clients)))
	var nodes []*tcp.Node
	defer func() {
		for _, n := range nodes {
			err = errors.Join(err, n.Close())
		}
	}()
	for i, c := range clients {
		n, err := x.Cluster.Client(c.ID, c.New, x.Seed+uint64(i)+1)
		if err != nil {
			return err
		}
		nodes = append(nodes, n)
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return nil
	case <-time.After(limit):
		return fmt.Errorf("clients did not end within %v", limit)
	}
}
