package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/internal/live"
	"github.com/stalemate-io/stalemate/systems/processes"
)

// connectAbout says what a run on a cluster of somebody else's can tell.
const connectAbout = "a leader counts from when a client was first told of it, since nobody says what the system committed: " +
	"each lag is the least it can have been, and a change that no client was told of is not judged"

// runConnect is the whole of stalemate run push|kraft --on connect.
func (f *simFlags) runConnect(c *cobra.Command) error {
	addresses, err := processes.ParseNodes(f.nodes)
	if err != nil {
		return &exitError{exitUsage, fmt.Errorf("--nodes: %w", err)}
	}
	if c.Flags().Changed("faults") && f.faults != "none" {
		return &exitError{exitUsage, errors.New("--faults: the cluster is run by somebody else, who breaks it if anybody does; expected none")}
	}
	f.faults = "none"
	cluster, err := processes.Connect(c.Context(), f.trial.System, addresses)
	if err != nil {
		return &exitError{exitFailed, fmt.Errorf("--nodes: %w", err)}
	}
	f.trial.Controllers, f.trial.Brokers = len(cluster.ControllerIDs()), len(cluster.BrokerIDs())
	l := &localRun{flags: f, name: f.trial.System + "-connect", report: newProgress(c.ErrOrStderr())}
	if l.run, err = l.create(); err != nil {
		return &exitError{exitFailed, err}
	}
	l.report.say("run %s, seed %d", l.run.Dir, f.trial.Seed)
	if err := end(c.Context(), l.run, l.visit(c.Context(), cluster)); err != nil {
		return &exitError{exitFailed, fmt.Errorf("%w\n(what there is of the run is in %s)", err, l.run.Dir)}
	}
	verdict, err := checkRun(context.WithoutCancel(c.Context()), l.run, checker.Options{})
	if err != nil {
		return &exitError{exitFailed, err}
	}
	return announce(c, l.run, verdict, f.json)
}

// visit has clients work on a cluster of somebody else's and writes the history.
func (l *localRun) visit(ctx context.Context, cluster *processes.Remote) (err error) {
	saw, err := live.CreateClients(l.run)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, saw.Close()) }()
	w := live.Leadership{
		Brokers: cluster.BrokerIDs(), Controllers: cluster.ControllerIDs(),
		Partitions: l.flags.settings().Topic(), Paths: cluster.Paths(),
	}
	if err := l.experiment(ctx, cluster, w, live.Beginning{Remote: true}, saw); err != nil {
		return err
	}
	changes, err := live.Observed(l.run)
	if err == nil {
		_, err = live.CompleteRun(l.run, changes)
	}
	return err
}
