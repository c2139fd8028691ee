package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/internal/toys"
	"github.com/stalemate-io/stalemate/reports"
)

// newCompare holds the systems against each other under the same trouble.
func newCompare() *cobra.Command {
	s := toys.Survey{Systems: toys.Systems(), Warmup: 6 * time.Second}
	var only []string
	var asJSON bool
	var on string
	real := realComparison{}
	c := &cobra.Command{
		Use:   "compare",
		Short: "Hold the systems against each other under the same faults",
		Long: `compare simulates both control planes, the push-based controller and the KRaft
log, with the same clients under the same seeds and fault schedules, and judges
every read path of every run. The table counts runs by verdict:

  linear    every read saw the newest committed leader
  lag       old answers, but one order explains them all
  diverge   no single order explains what was seen, or a node stayed wrong
  never     runs in which a node was still wrong after everything had healed

stale is the share of reads that were; how late they were stands there in ms, the
median of the runs' 99th percentiles and the worst; behind is the worst in changes
of one partition, offsets in records of the metadata log, which push has not.
Below a line stand the anomalies, and how many runs had each. Same arguments, same table, on any machine.

With a policy (--policy, or stalemate.yaml in the working directory) every run is
held against it. Exit codes: 0 nothing is asked or all that is held, 1 a run violated
it, 2 one is undecided and none violated it, 3 a run failed, 254 bad usage or policy.

With --on local real processes of this machine are compared: zookeeper, an
ensemble of three servers, push, whose state is in another, kraft, and real Kafka
in both modes where its jars are. The same faults strike each at the same times of
its run; every run is kept in the store. With --on docker they run in containers,
real Kafka where an image of it is.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			defer collectLess()()
			switch on {
			case "sim":
			case "local", "docker":
				real.on, real.seeds, real.first = on, 1, int64(s.First)
				if cmd.Flags().Changed("seeds") {
					real.seeds = s.Seeds
				}
				if on == "docker" && !cmd.Flags().Changed("faults") {
					real.faults = comparedCuts
				}
				if real.systems = hereSystems(cmd.Context(), on); cmd.Flags().Changed("systems") {
					real.systems = s.Systems
				}
				return real.run(cmd, asJSON)
			default:
				return &exitError{exitUsage, fmt.Errorf("--on %s: expected sim, local or docker", on)}
			}
			families, err := familiesNamed(only)
			if err != nil {
				return err
			}
			s.Families = families
			if s.Seeds < 1 {
				return fmt.Errorf("--seeds %d: expected at least 1", s.Seeds)
			}
			for _, system := range s.Systems {
				if !slices.Contains(toys.Systems(), system) {
					return fmt.Errorf("no system %q in the simulator; expected push or kraft", system)
				}
			}
			asked, err := newCompared(cmd)
			if err != nil {
				return err
			}
			s.Judged = asked.add
			start := time.Now()
			r, err := s.Run(cmd.Context())
			if err != nil {
				return &exitError{exitFailed, err}
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "%.0f simulated seconds a second\n", r.Simulated/time.Since(start).Seconds())
			all := comparison{r, asked.ruling(r.Rows)}
			if err := printComparison(cmd.OutOrStdout(), all, families, asJSON); err != nil {
				return &exitError{exitFailed, err}
			}
			return all.finish(cmd, asJSON)
		},
	}
	f := c.Flags()
	f.StringVar(&on, "on", "sim", "where to run: sim, local for processes of this machine, or docker for containers")
	f.IntVar(&s.Seeds, "seeds", 20, "how many seeds each system runs under each kind of trouble; 1 by default for real")
	f.Uint64Var(&s.First, "first-seed", 1, "the first of them")
	f.StringSliceVar(&only, "trouble", nil, "only these kinds of trouble: "+familyNames())
	f.StringSliceVar(&s.Systems, "systems", s.Systems, "the systems; for real zookeeper, kafka-zk and kafka-kraft too, and by default all that can run here")
	f.DurationVar(&s.Load, "load", 20*time.Second, "simulated time under load and faults, per run")
	f.DurationVar(&s.Settle, "settle", 12*time.Second, "simulated time to settle before the final reads")
	f.IntVar(&s.Workers, "workers", 0, "runs at the same time; 0 is one a core")
	f.BoolVar(&asJSON, "json", false, "print the table as JSON")
	real.bind(f)
	return comparing(c)
}

func familyNames() (names string) {
	for i, f := range toys.Families() {
		if i > 0 {
			names += ", "
		}
		names += f.Name
	}
	return names
}

func familiesNamed(names []string) ([]toys.Family, error) {
	if len(names) == 0 {
		return toys.Families(), nil
	}
	var out []toys.Family
	for _, name := range names {
		n := len(out)
		for _, f := range toys.Families() {
			if f.Name == name {
				out = append(out, f)
			}
		}
		if len(out) == n {
			return nil, fmt.Errorf("no trouble %q; expected one of %s", name, familyNames())
		}
	}
	return out, nil
}

func printComparison(w io.Writer, r comparison, families []toys.Family, asJSON bool) error {
	if asJSON {
		return printJSON(w, r)
	}
	titles := map[string]string{}
	for _, f := range families {
		titles[f.Name] = f.Name + ": " + f.About
		for _, off := range f.Off {
			titles[f.Name] += " (push without " + off + ")"
		}
	}
	rows := comparedRows(r.Rows)
	for i := range rows {
		rows[i].Trouble = titles[rows[i].Trouble]
	}
	if err := reports.Compare(w, rows, textStyle(w)); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%d seeds from %d, %.0f simulated seconds.\n", r.Seeds, r.First, r.Simulated)
	for _, i := range r.Invariants {
		fmt.Fprintln(w, "invariant broken:", i)
	}
	return nil
}

// comparedRows gives rows as they are printed, with the family as the trouble.
func comparedRows(of []toys.Row) (rows []reports.CompareRow) {
	for _, x := range of {
		row := reports.CompareRow{
			Trouble: x.Family, System: x.System, Path: x.Path, Promise: promiseWord(x.Promise), Runs: x.Runs,
			Linearizable: x.Linearizable, OrderedLag: x.OrderedLag, Divergent: x.Divergent, Open: x.Undecided, Broken: x.Broken,
			LagP99MS: x.LagP99MS, LagWorstMS: x.LagWorstMS, BehindWorst: x.BehindMax, OffsetsBehind: x.OffsetsBehind, Anomalies: x.Anomalies, Never: x.NeverConverged,
		}
		if x.Reads > 0 {
			row.StalePercent = 100 * float64(x.StaleReads) / float64(x.Reads)
		}
		rows = append(rows, row)
	}
	return rows
}

func promiseWord(l checker.Level) string {
	if l == checker.OrderedLag {
		return "ordered lag"
	}
	return string(l)
}
