package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/internal/live"
	"github.com/stalemate-io/stalemate/internal/toys"
	"github.com/stalemate-io/stalemate/nemesis"
	"github.com/stalemate-io/stalemate/systems/processes"
	"github.com/stalemate-io/stalemate/workloads"
)

// localHealthy is how long a cluster of processes is left alone around a fault.
const localHealthy = time.Second

// stopTimeout bounds how long the nodes may take to leave after a run.
const stopTimeout = 10 * time.Second

// localRun is a run of a toy system as processes of this machine.
type localRun struct {
	flags   *simFlags
	name    string // of the run
	windows []nemesis.Window
	report  *progress
	run     *histories.Run
	start   time.Duration    // of the history, by tcp.Now
	behind  map[string]int64 // what toys.OffsetsBehind gives of the run
}

// settings are those of the cluster.
func (f *simFlags) settings() processes.Settings {
	t := &f.trial
	return processes.Settings{
		System: t.System, Controllers: t.Controllers, Brokers: t.Brokers, Partitions: t.Partitions,
		SessionTimeout: t.SessionTimeout, Off: t.Off, On: t.On,
	}
}

// runLocal is the whole of stalemate run push|kraft --on local.
func (f *simFlags) runLocal(c *cobra.Command) error {
	l := &localRun{flags: f, name: f.trial.System + "-" + f.on, report: newProgress(c.ErrOrStderr())}
	faults, err := nemesis.Parse(f.faults, nemesis.Settings{})
	if err == nil {
		err = l.plan(faults)
	}
	if err != nil {
		return &exitError{exitUsage, err}
	}
	verdict, err := l.do(c.Context())
	if err != nil {
		return &exitError{exitFailed, err}
	}
	return announce(c, l.run, verdict, f.json)
}

// plan checks the settings and draws when the faults are to come.
func (l *localRun) plan(faults []nemesis.Fault) (err error) {
	f := l.flags
	if err := f.settings().Check(); err != nil {
		return err
	}
	schedule := nemesis.Schedule{Total: f.trial.Load, Every: f.faultEvery, For: f.faultFor, Healthy: localHealthy}
	if schedule.Every == 0 {
		schedule.Every = f.faultFor + 2*localHealthy
	}
	l.windows, err = schedule.Windows(faults, workloads.Rand(f.trial.Seed, "fault times"))
	return err
}

// do records the run and judges it.
func (l *localRun) do(ctx context.Context) (v *checker.Verdict, err error) {
	if l.run, err = l.create(); err != nil {
		return nil, err
	}
	l.report.say("run %s, seed %d", l.run.Dir, l.flags.trial.Seed)
	if err := end(ctx, l.run, l.drive(ctx)); err != nil {
		return nil, fmt.Errorf("%w\n(what there is of the run is in %s)", err, l.run.Dir)
	}
	return checkRun(context.WithoutCancel(ctx), l.run, checker.Options{})
}

// create makes the folder of the run.
func (l *localRun) create() (*histories.Run, error) {
	f, t := l.flags, &l.flags.trial
	promises := map[string]string{}
	for path, level := range toys.Promises(t.System) {
		promises[path] = string(level)
	}
	return histories.CreateRun(f.store, histories.RunInfo{
		Name: l.name, System: t.System, Deployment: f.on, Seed: int64(t.Seed), Model: "leadership", Promises: promises,
		Settings: map[string]string{
			"faults": f.faults, "fault-for": f.faultFor.String(), "fault-every": f.faultEvery.String(),
			"controllers": fmt.Sprint(t.Controllers), "brokers": fmt.Sprint(t.Brokers),
			"partitions": fmt.Sprint(t.Partitions), "clients": fmt.Sprint(t.Clients), "time": t.Load.String(),
			"settle": t.Settle.String(), "guards-off": strings.Join(t.Off, ","), "guards-on": strings.Join(t.On, ","),
		},
		Versions: map[string]string{"stalemate": version(), "go": runtime.Version()}, Command: commandLine(),
	})
}

// drive launches the cluster, does the experiment, stops the cluster and writes
// the history. It leaves nothing running.
func (l *localRun) drive(ctx context.Context) (err error) {
	guard := newGuard(l.report)
	defer guard.release()
	s := l.flags.settings()
	with := ""
	if s.System == "push" {
		with = ", and ZooKeeper for their state"
	}
	l.report.say("starting %d controllers and %d brokers%s", s.Controllers, s.Brokers, with)
	cluster, err := live.Start(ctx, live.Options{
		Settings: s, Dir: l.run.Path(live.NodesDir), Containers: l.flags.on == "docker", Image: l.flags.image,
	})
	if err != nil {
		return err
	}
	guard.holds(cluster)
	defer func() { err = errors.Join(err, cluster.Close()) }()
	saw, err := live.CreateClients(l.run)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, saw.Close()) }()
	if err := l.record(ctx, cluster, saw); err != nil {
		return err
	}
	l.report.say("stopping the nodes and reading what they committed")
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := cluster.Stop(stopping); err != nil {
		return err
	}
	return l.complete(cluster)
}

// record does the experiment.
func (l *localRun) record(ctx context.Context, cluster *live.System, saw io.Writer) error {
	s := cluster.Options().Settings
	w := live.Leadership{Brokers: s.BrokerIDs(), Controllers: s.ControllerIDs(), Partitions: s.Topic(), Paths: s.Paths()}
	return l.experiment(ctx, cluster, w, live.Beginning{Toy: &s}, saw)
}

// experiment has clients work on a cluster.
func (l *localRun) experiment(ctx context.Context, cluster live.Cluster, w live.Leadership, b live.Beginning, saw io.Writer) (err error) {
	t := &l.flags.trial
	w.Clients, w.Think = t.Clients, t.Think
	x := &live.Experiment{
		Cluster: cluster, Workload: w,
		Load: t.Load, Settle: t.Settle, Windows: l.windows, Healthy: localHealthy, Seed: t.Seed, Watch: l.report.fault,
		Began: func(start live.Moment) error {
			b.Start = start
			return b.Keep(l.run)
		},
	}
	watching := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		l.report.follow(watching, t.Load+t.Settle, x.Counts, func() {})
	}()
	l.start, err = x.Record(ctx, saw)
	close(watching)
	<-watched
	return err
}

// complete merges what the nodes committed into what the clients saw.
func (l *localRun) complete(cluster *live.System) error {
	truth, _, err := cluster.Truth(l.start)
	if err != nil {
		return err
	}
	events, err := live.CompleteRun(l.run, truth)
	l.behind = toys.OffsetsBehind(events, truth)
	return err
}
