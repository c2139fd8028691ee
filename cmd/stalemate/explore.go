package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/internal/explore"
	"github.com/stalemate-io/stalemate/internal/toys"
	"github.com/stalemate-io/stalemate/reports"
)

// exploreFlags are the settings of a search.
type exploreFlags struct {
	search  explore.Search
	require string
	shard   string
	out     string
}

// newExplore searches seeds for runs that fail.
func newExplore() *cobra.Command {
	f := exploreFlags{}
	c := &cobra.Command{
		Use:   "explore push|kraft",
		Short: "Search many seeds for runs that fail, and shrink them",
		Long: `explore simulates short runs of a system, each seed with faults and clients of its
own, on all cores. A run fails if a read path breaks what it is held to, or if an
invariant of the system breaks. Of all runs that fail alike, by anomaly and cause,
one is kept and shrunk: fewest operations, faults and nodes, and the shortest time.

A read path is held to what its system promises; the brokers of push, which promises
nothing, are held to ordered-lag. --require asks for another level of every path.

Clients move leaders and ask who leads; with --workload data they produce and fetch,
and fetches are held to ordered-lag.

What is found is written to --out as one text file a failure, which stalemate replay
repeats exactly, and summary.json. --shard 2/8 takes the third of eight parts of
the seeds (they count from 0), whose folders stalemate merge joins.

An interrupt ends the search and shrinks what was found; a second one keeps it as
it is. Exit codes: 0 nothing was found, 1 something was, 2 interrupted before
anything was, 3 the search failed.`,
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: toys.Systems(),
		RunE:      func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	s := &f.search
	fs := c.Flags()
	fs.IntVar(&s.Runs, "runs", 2000, "how many seeds to search, over all shards")
	fs.Uint64Var(&s.First, "seed", 1, "the first of them")
	fs.StringVar(&s.Workload, "workload", toys.Leadership, "what clients do: "+toys.Leadership+" or "+toys.Data)
	fs.StringSliceVar(&s.Off, "guards-off", nil, "guards to switch off")
	fs.StringSliceVar(&s.On, "guards-on", nil, "extra guards to switch on")
	fs.StringVar(&f.require, "require", "", "level to hold every read path to")
	fs.StringVar(&f.shard, "shard", "0/1", "part of the seeds to search, as i/n with i from 0 to n-1")
	fs.IntVar(&s.Controllers, "controllers", explore.DefaultControllers, "controllers")
	fs.IntVar(&s.Brokers, "brokers", explore.DefaultBrokers, "brokers")
	fs.IntVar(&s.Partitions, "partitions", explore.DefaultPartitions, "partitions")
	fs.IntVar(&s.Clients, "clients", explore.DefaultClients, "clients")
	fs.IntVar(&s.Workers, "workers", 0, "runs at the same time; 0 is one a core")
	fs.StringVar(&f.out, "out", "", "folder to write to (default: store/explore-SYSTEM)")
	return c
}

func (f *exploreFlags) run(c *cobra.Command, system string) (err error) {
	s := &f.search
	s.System = system
	if s.Shard, s.Shards, err = parseShard(f.shard); err != nil {
		return err
	}
	if s.Workload != toys.Leadership && s.Workload != toys.Data {
		return fmt.Errorf("--workload %s: expected %s or %s", s.Workload, toys.Leadership, toys.Data)
	}
	var level checker.Level
	if f.require != "" {
		if level, err = checker.ParseLevel(f.require); err != nil {
			return err
		}
	}
	for _, n := range []struct {
		flag         string
		value, least int
	}{
		{"runs", s.Runs, 1}, {"controllers", s.Controllers, 1}, {"brokers", s.Brokers, 1}, {"partitions", s.Partitions, 1}, {"clients", s.Clients, 1},
	} {
		if n.value < n.least {
			return fmt.Errorf("--%s %d: expected at least %d", n.flag, n.value, n.least)
		}
	}
	if _, err := toys.New(toys.Config{System: system, Controllers: 1, Brokers: 1, Partitions: 1, Off: s.Off, On: s.On}); err != nil {
		return err
	}
	s.Require = explore.Requirements(system, s.Workload, level)
	if f.out == "" {
		f.out = "store/explore-" + system
		if s.Workload == toys.Data {
			f.out += "-" + s.Workload
		}
	}
	summary, interrupted, err := f.find(c)
	if err == nil {
		err = summary.Write(f.out)
	}
	if err == nil {
		err = printFound(c.OutOrStdout(), summary, f.out)
	}
	switch {
	case err != nil:
		return &exitError{exitFailed, err}
	case len(summary.Found) > 0:
		return &exitError{code: exitViolated}
	case interrupted:
		return &exitError{exitUndecided, fmt.Errorf("interrupted after %d of %d runs; nothing was found in these", summary.Runs, s.Runs)}
	}
	return nil
}

// find searches and shrinks.
func (f *exploreFlags) find(c *cobra.Command) (*explore.Summary, bool, error) {
	defer collectLess()()
	p := newProgress(c.ErrOrStderr())
	start, last := time.Now(), time.Now()
	f.search.Progress = func(at explore.Progress) {
		if now := time.Now(); now.Sub(last) >= p.every() || at.Done == at.Of {
			last = now
			p.write("%d of %d runs  %.0f runs/s  %d failed, in %d ways so far", at.Done, at.Of,
				float64(at.Done)/now.Sub(start).Seconds(), at.Failed, at.Distinct)
		}
	}
	r, err := f.search.Run(c.Context())
	if err != nil {
		return nil, false, err
	}
	interrupted := c.Context().Err() != nil
	if interrupted {
		p.say("interrupted: shrinking what was found; interrupt again to keep it as it is")
	}
	// The first interrupt has ended the search alone.
	ctx, stop := signal.NotifyContext(context.WithoutCancel(c.Context()), os.Interrupt, syscall.SIGTERM)
	defer stop()
	found, err := f.search.Shrink(ctx, r, func(done, of int) { p.write("shrunk %d of %d", done, of) })
	if err != nil {
		return nil, interrupted, err
	}
	p.end()
	return f.search.Summary(r, found), interrupted, nil
}

// parseShard reads i/n.
func parseShard(text string) (shard, of int, err error) {
	i, n, ok := strings.Cut(text, "/")
	shard, err1 := strconv.Atoi(i)
	of, err2 := strconv.Atoi(n)
	if !ok || err1 != nil || err2 != nil || of < 1 || shard < 0 || shard >= of {
		return 0, 0, fmt.Errorf("--shard %s: expected i/n with i from 0 to n-1, such as 0/4", text)
	}
	return shard, of, nil
}

// printFound writes the table of a search's findings.
func printFound(w io.Writer, s *explore.Summary, dir string) error {
	if _, err := fmt.Fprintf(w, "%s: %d runs, %d failed\n", s, s.Runs, s.Failed); err != nil || len(s.Found) == 0 {
		return err
	}
	t := reports.NewTable("path", "anomaly", "cause", "seed", "faults", "ops", "nodes", "time", "guards on")
	for _, f := range s.Found {
		guards := "-"
		if len(s.Off) > 0 {
			guards = "as well"
		}
		if f.Guarded {
			guards = "prevented"
		}
		cause := f.Cause
		if cause == "" {
			cause = "-"
		}
		t.Row(f.Path, f.Kind, cause, strconv.FormatUint(f.Seed, 10), strconv.Itoa(f.Faults), strconv.Itoa(f.Operations), strconv.Itoa(f.Nodes),
			(time.Duration(f.DurationMS) * time.Millisecond).String(), guards)
	}
	_, err := fmt.Fprintf(w, "\n%s\nreplay one: stalemate replay %s/%s\n", t, dir, s.Found[0].File)
	return err
}
