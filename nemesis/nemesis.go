package nemesis

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems"
)

// healTime bounds how long undoing a disruption may take, also after the run was
// called off. Starting a killed server again is the longest.
const healTime = 30 * time.Second

// Nemesis carries out windows on a cluster.
type Nemesis struct {
	Cluster systems.Cluster
	// Windows in order of time. They must not overlap.
	Windows []Window
	// Healthy is how long the cluster is left alone between two faults even
	// where healing took so long that the next one would be due.
	Healthy time.Duration
	// Rand chooses targets.
	Rand *rand.Rand
	// Note records an event.
	Note func(histories.Event)
	// Watch, if not nil, is told what is in force; "" when nothing is.
	Watch func(what string)
}

// Run carries out the windows, counted from now, and returns once everything is
// healed. When ctx is over, it heals at once. The error says which faults could
// not be begun or undone; the rest went on nevertheless.
func (n *Nemesis) Run(ctx context.Context) error {
	var (
		start = time.Now()
		free  time.Time // when the next fault may begin
		errs  []error
	)
	for _, w := range n.Windows {
		due := start.Add(w.Start)
		if due.Before(free) {
			due = free
		}
		if !sleepUntil(ctx, due) {
			break
		}
		if err := n.disrupt(ctx, w); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", w.Fault.Name(), err))
		}
		free = time.Now().Add(n.Healthy)
	}
	return errors.Join(errs...)
}

// disrupt carries out one window.
func (n *Nemesis) disrupt(ctx context.Context, w Window) error {
	d, err := w.Fault.Plan(ctx, n.Cluster, n.Rand)
	if err != nil {
		if ctx.Err() != nil {
			return nil // called off while looking for a target: nothing was done
		}
		n.note("start-"+w.Fault.Name(), Disruption{What: "no target found"}, err)
		return err
	}
	n.note("start-"+w.Fault.Name(), d, nil)
	n.watch(d.What)
	begun := d.Begin(ctx)
	n.note("start-"+w.Fault.Name(), d, begun)
	if begun == nil {
		sleepUntil(ctx, time.Now().Add(w.End-w.Start))
	}
	n.note("stop-"+w.Fault.Name(), d, nil)
	healing, cancel := context.WithTimeout(context.WithoutCancel(ctx), healTime)
	defer cancel()
	ended := d.End(healing)
	n.note("stop-"+w.Fault.Name(), d, ended)
	n.watch("")
	return errors.Join(begun, ended)
}

func (n *Nemesis) watch(what string) {
	if n.Watch != nil {
		n.Watch(what)
	}
}

// note records one of the events that the package's documentation describes.
func (n *Nemesis) note(f string, d Disruption, err error) {
	targets := make([]histories.Value, len(d.Targets))
	for i, t := range d.Targets {
		targets[i] = histories.String(t)
	}
	e := histories.Event{
		Process: histories.Nemesis,
		Type:    histories.Info,
		F:       f,
		Value:   histories.List(targets...),
		Extra:   []histories.Field{{Name: "what", Value: histories.String(d.What)}},
	}
	if err != nil {
		e.Error = err.Error()
	}
	n.Note(e)
}

// sleepUntil waits for t and reports whether it came before ctx was over.
func sleepUntil(ctx context.Context, t time.Time) bool {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
