package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems/zookeeper"
)

func newDemo() *cobra.Command {
	var (
		store string
		seed  int64
	)
	c := &cobra.Command{
		Use:   "demo",
		Short: "Show on a real ZooKeeper which reads are stale, in three scenes",
		Long: `demo starts a ZooKeeper ensemble of three servers on this machine and takes it
through three scenes, each with all read paths at once: a follower that the
leader reaches slowly, a leader that is paused and wakes, and a leader that is
cut off from its followers. It prints a table for each.

Each scene is a run in the store, and can be checked again:
stalemate check store/demo-paused-leader/latest`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			d := demo{c: c, store: store, seed: seed, report: newProgress(c.ErrOrStderr())}
			return d.run(c.Context())
		},
	}
	c.Flags().StringVar(&store, "store", "store", "folder in which runs are kept")
	c.Flags().Int64Var(&seed, "seed", 1, "decides operations, keys, fault times and targets")
	return c
}

// demo is one showing.
type demo struct {
	c      *cobra.Command
	store  string
	seed   int64
	report *progress

	guard    *guard
	ensemble ensemble
	nodes    string // the folder of the servers' data and logs
	missing  []string
}

// run plays all scenes on one ensemble. It fails if they did not show what they
// are there to show.
func (d *demo) run(ctx context.Context) (err error) {
	d.guard = newGuard(d.report)
	defer d.guard.release()
	defer func() {
		if d.ensemble == nil {
			return
		}
		if closed := d.ensemble.Close(); closed != nil && err == nil {
			err = &exitError{exitFailed, closed}
		}
	}()
	for i, s := range scenes() {
		if err := d.play(ctx, i+1, s); err != nil {
			return &exitError{exitFailed, fmt.Errorf("scene %q: %w", s.title, err)}
		}
	}
	if len(d.missing) > 0 {
		return &exitError{exitViolated, errors.New("the experiment did not show what it should: " + strings.Join(d.missing, "; "))}
	}
	d.print("\nSync is not a quorum operation: through a leader that does not know that it\n" +
		"was deposed it returns at once, and the get after it is stale. A write or a\n" +
		"version check before the get is ordered by a quorum, and was never stale.\n")
	return nil
}

// play shows a scene, again where it did not show what it should and a fresh
// leader gives it another chance.
func (d *demo) play(ctx context.Context, number int, s scene) error {
	for round := 1; ; round++ {
		run, v, err := d.record(ctx, s, round)
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
		if round == 1 {
			d.print("\nScene %d, %s\n", number, s.title)
		} else {
			d.print("\nScene %d, %s, round %d\n", number, s.title, round)
		}
		d.print("%s\n\n%s\n%s\n  run: %s\n", s.text, table(v), s.told(v), run.Dir)
		missing := s.missing(v)
		if len(missing) == 0 {
			return nil
		}
		if round == s.rounds {
			for _, m := range missing {
				d.missing = append(d.missing, s.title+": "+m)
			}
			return nil
		}
		d.print("  %s: once more, on a fresh leader\n", strings.Join(missing, "; "))
	}
}

// record runs one round of a scene and judges it.
func (d *demo) record(ctx context.Context, s scene, round int) (*histories.Run, *checker.Verdict, error) {
	var settings zookeeperSettings
	flags := pflag.NewFlagSet("run zookeeper", pflag.ContinueOnError)
	settings.bind(flags)
	arguments := append(strings.Fields(s.flags),
		"--tick-time=1s", "--sync-limit=2", "--keys=1", "--rate=600", "--name="+s.name, "--store="+d.store,
		"--seed="+strconv.FormatInt(d.seed+int64(round)-1, 10))
	if err := flags.Parse(arguments); err != nil {
		return nil, nil, err
	}
	p, err := settings.plan()
	if err != nil {
		return nil, nil, err
	}
	run, err := p.createRun(append([]string{"stalemate", "run", "zookeeper"}, arguments...), flags)
	if err != nil {
		return nil, nil, err
	}
	if err := end(ctx, run, d.onEnsemble(ctx, p, run)); err != nil {
		return nil, nil, err
	}
	v, err := verdictOf(ctx, run, p.settings.timeout)
	return run, v, err
}

// onEnsemble records a run on the one ensemble of all scenes, which the first
// starts. Its logs are in the folder of the first run and linked from the others.
func (d *demo) onEnsemble(ctx context.Context, p plan, run *histories.Run) error {
	if d.ensemble == nil {
		e, err := p.start(ctx, run.Path("nodes"), d.guard, d.report)
		if err != nil {
			return err
		}
		d.ensemble, d.nodes = e, run.Path("nodes")
	} else {
		target, err := filepath.Rel(run.Dir, d.nodes)
		if err != nil {
			return err
		}
		if err := os.Symlink(target, run.Path("nodes")); err != nil {
			return err
		}
	}
	return p.record(ctx, d.ensemble, run, d.report)
}

func (d *demo) print(format string, a ...any) { fmt.Fprintf(d.c.OutOrStdout(), format, a...) }

// table gives a row for each read path.
func table(v *checker.Verdict) string {
	var b strings.Builder
	row := func(path, promise, verdict, held, stale, lag string) {
		fmt.Fprintf(&b, "  %-6s %-13s %-13s %-6s %13s  %s\n", path, promise, verdict, held, stale, lag)
	}
	row("path", "promise", "verdict", "held", "stale / reads", "worst lag")
	for _, path := range zookeeper.Paths() {
		p := v.Paths[path.Name]
		if p == nil {
			continue
		}
		held, lag := string(p.Holds), "-"
		switch p.Holds {
		case checker.Holds:
			held = "yes"
		case checker.Violated:
			held = "NO"
		}
		if p.StaleReads > 0 {
			lag = fmt.Sprintf("%.0f ms, %.0f versions", p.StalenessMS.Max, p.VersionsBehind.Max)
		}
		row(path.Name, words(path.Promise), words(string(p.Verdict)), held,
			fmt.Sprintf("%d / %d", p.StaleReads, p.Reads), lag)
	}
	return b.String()
}

// words writes a level or class for people: ordered-lag is ordered lag.
func words(s string) string { return strings.ReplaceAll(s, "-", " ") }
