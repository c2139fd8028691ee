package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/nemesis"
	"github.com/stalemate-io/stalemate/systems"
	"github.com/stalemate-io/stalemate/workloads"
	"github.com/stalemate-io/stalemate/workloads/register"
)

// errNothingCompleted is a run that says nothing about the system.
var errNothingCompleted = errors.New("not one operation completed: the system never answered, so there is nothing to judge")

// experiment is one workload on one running cluster, under planned faults.
type experiment struct {
	cluster systems.Cluster
	system  register.System
	options register.Options
	length  time.Duration
	windows []nemesis.Window
	healthy time.Duration
	report  *progress
}

// record does the experiment and writes its history into run's folder. When ctx
// is over, it heals, ends the history in order and returns without an error if
// something was recorded.
func (x experiment) record(ctx context.Context, run *histories.Run) (err error) {
	file, err := run.CreateHistory()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	rec := histories.NewRecorder(file)
	defer func() { err = errors.Join(err, rec.Close()) }()
	w, err := register.New(x.system, rec, x.options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	x.report.say("opening clients and creating the registers")
	if err := w.Setup(ctx); err != nil {
		return err
	}
	before := w.Counts().Completed()
	if err := x.load(ctx, w, rec); err != nil {
		return err
	}
	if w.Counts().Completed() == before {
		return errNothingCompleted
	}
	if ctx.Err() != nil {
		x.report.say("everything is healed; the history ends here")
		return nil
	}
	x.report.say("settling")
	settled := w.Settle(ctx)
	if settled != nil && ctx.Err() == nil {
		x.report.say("%v", settled)
	}
	if ctx.Err() == nil {
		w.Final(ctx, settled == nil)
	}
	return nil
}

// load lets clients and nemesis work until the time is up, ctx is over or the
// history can no longer be written.
func (x experiment) load(ctx context.Context, w *register.Workload, rec *histories.Recorder) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := make(chan struct{})
	timer := time.AfterFunc(x.length, func() { close(stop) })
	defer timer.Stop()
	// A disruption that began late must not outlast the clients.
	breaking, heal := context.WithCancel(ctx)
	defer heal()
	watching := make(chan struct{})
	n := &nemesis.Nemesis{
		Cluster: x.cluster,
		Windows: x.windows,
		Healthy: x.healthy,
		Rand:    workloads.Rand(x.options.Seed, "fault targets"),
		Note:    rec.Note,
		Watch:   x.report.fault,
	}
	var (
		wait   sync.WaitGroup
		broken error
	)
	wait.Go(func() { broken = n.Run(breaking) })
	wait.Go(func() {
		x.report.follow(watching, x.length, w.Counts, func() {
			if err := rec.Err(); err != nil {
				cancel(err)
			}
		})
	})
	w.Load(ctx, stop)
	heal()
	close(watching)
	wait.Wait()
	if err := rec.Err(); err != nil {
		return err
	}
	if broken != nil {
		return fmt.Errorf("the nemesis could not do its work: %w", broken)
	}
	return nil
}

// commandLine is the command as it was given.
func commandLine() []string { return append([]string(nil), os.Args...) }
