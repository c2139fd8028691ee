package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/internal/toys"
	"github.com/stalemate-io/stalemate/nemesis"
	"github.com/stalemate-io/stalemate/reports"
	"github.com/stalemate-io/stalemate/systems/docker"
	"github.com/stalemate-io/stalemate/systems/kafka"
	"github.com/stalemate-io/stalemate/systems/processes"
	"github.com/stalemate-io/stalemate/systems/zookeeper"
	"github.com/stalemate-io/stalemate/workloads"
)

// realSystems lists the systems that run as processes or in containers.
func realSystems() []string {
	return slices.Concat([]string{"zookeeper"}, processes.Systems(), []string{string(kafka.ZooKeeper), string(kafka.KRaft)})
}

// hereSystems lists those of them that need nothing which is not on this machine:
// the jars of real Kafka may not be, or its images.
func hereSystems(ctx context.Context, on string) []string {
	return slices.DeleteFunc(realSystems(), func(system string) bool {
		return isKafka(system) && !kafkaIsHere(ctx, on, kafka.Mode(system))
	})
}

func kafkaIsHere(ctx context.Context, on string, mode kafka.Mode) bool {
	if on == "local" {
		_, err := kafka.Find(ctx, mode, "", "")
		return err == nil
	}
	engine, err := docker.Connect(ctx)
	if err != nil {
		return false // which the first run says better
	}
	defer engine.Close()
	image, err := mode.ChooseImage(ctx, engine)
	if err != nil {
		return false
	}
	has, err := engine.HasImage(ctx, image)
	return err == nil && has
}

func isKafka(system string) bool {
	return system == string(kafka.ZooKeeper) || system == string(kafka.KRaft)
}

// What is the same for all systems of a comparison: a fault lasts longer than any
// of them bears with silence, and each is left alone for as long around it.
const (
	comparedPatience = 3 * time.Second // a session, of a client of ZooKeeper or of a broker of kraft
	comparedTick     = time.Second     // of ZooKeeper's servers, who bear with each other for two
	comparedFor      = 4500 * time.Millisecond
	comparedHealthy  = 1500 * time.Millisecond
	comparedSettle   = 8 * time.Second
)

// The faults of a comparison. Links between containers are cut, and no more.
const (
	comparedCuts   = "pause-leader,kill-leader,isolate-leader"
	comparedFaults = comparedCuts + ",slow-link"
)

// realComparison runs systems as processes or in containers, one after the other,
// under the same faults at the same times.
type realComparison struct {
	on      string
	systems []string
	first   int64 // seed
	seeds   int
	faults  string
	store   string

	asked   *compared
	report  *progress
	windows []nemesis.Window
	length  time.Duration // of the load
}

func (l *realComparison) bind(f *pflag.FlagSet) {
	f.StringVar(&l.faults, "faults", comparedFaults, "not in the simulator, what to break, one after the other: "+strings.Join(nemesis.Names(), ", ")+"; slow-link not in containers")
	f.StringVar(&l.store, "store", "store", "not in the simulator, the folder that runs are kept in")
}

func (l *realComparison) run(c *cobra.Command, asJSON bool) error {
	faults, err := nemesis.Parse(l.faults, nemesis.Settings{})
	switch {
	case err != nil:
	case len(faults) == 0:
		err = errors.New("--faults: expected one at least; without a fault there is nothing to compare")
	case l.seeds < 1:
		err = fmt.Errorf("--seeds %d: expected at least 1", l.seeds)
	}
	for _, system := range l.systems {
		if !slices.Contains(realSystems(), system) {
			err = fmt.Errorf("no system %q --on %s: expected %s", system, l.on, strings.Join(realSystems(), ", "))
		}
	}
	if err != nil {
		return &exitError{exitUsage, err}
	}
	if l.asked, err = newCompared(c); err != nil {
		return err
	}
	began := time.Now()
	l.report = newProgress(c.ErrOrStderr())
	l.length = time.Duration(len(faults)) * (comparedFor + 2*comparedHealthy)
	result := &toys.Result{Seeds: l.seeds, First: uint64(l.first)}
	if result.Rows, err = l.survey(c.Context(), faults); err != nil {
		return &exitError{exitFailed, err}
	}
	all := comparison{result, l.asked.ruling(result.Rows)}
	if err := l.print(c.OutOrStdout(), all, time.Since(began), asJSON); err != nil {
		return &exitError{exitFailed, err}
	}
	return all.finish(c, asJSON)
}

// survey runs every system with every seed, and gives a row for each read path.
func (l *realComparison) survey(ctx context.Context, faults []nemesis.Fault) ([]toys.Row, error) {
	rows := make([][]toys.Row, len(l.systems))
	for seed := l.first; seed < l.first+int64(l.seeds); seed++ {
		schedule := nemesis.Schedule{Total: l.length, Every: l.length / time.Duration(len(faults)), For: comparedFor, Healthy: comparedHealthy}
		var err error
		if l.windows, err = schedule.Windows(faults, workloads.Rand(uint64(seed), "fault times")); err != nil {
			return nil, err
		}
		for i, system := range l.systems {
			v, behind, err := l.one(ctx, system, seed)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return nil, fmt.Errorf("%s, seed %d: %w", system, seed, err)
			}
			l.asked.add(l.faults, system, uint64(seed), v)
			rows[i] = l.add(rows[i], system, seed, v, behind)
		}
	}
	return slices.Concat(rows...), nil
}

// add adds a run to the rows of its system; behind are the offsets of its answers.
func (l *realComparison) add(rows []toys.Row, system string, seed int64, v *checker.Verdict, behind map[string]int64) []toys.Row {
	paths := comparedPaths(system)
	for _, path := range paths {
		p := comparedVerdict(v, path, len(paths) == 1)
		if p == nil {
			continue
		}
		i := slices.IndexFunc(rows, func(r toys.Row) bool { return r.Path == path })
		if i < 0 {
			i = len(rows)
			rows = append(rows, toys.Row{Family: l.faults, System: system, Path: path, Promise: p.Promise})
		}
		rows[i].Add(uint64(seed), p)
		rows[i].AddOffsets(behind)
	}
	return rows
}

// comparedPaths lists a system's read paths in the order of the table.
func comparedPaths(system string) (names []string) {
	if system == "zookeeper" {
		for _, p := range zookeeper.Paths() {
			names = append(names, p.Name)
		}
		return names
	}
	paths := processes.Settings{System: system}.Paths()
	if isKafka(system) {
		paths = kafka.Paths()
	}
	for _, p := range paths {
		names = append(names, string(p))
	}
	return names
}

// comparedVerdict is the verdict on a path that counts, nil where there is none. What
// is undecided by what clients saw may be decided by the system's own log. A verdict
// on one path alone does not tell it apart.
func comparedVerdict(v *checker.Verdict, path string, alone bool) *checker.Verdict {
	of := func(v *checker.Verdict) *checker.Verdict {
		if alone {
			return v
		}
		return v.Paths[path]
	}
	p := of(v)
	if p == nil || p.Verdict != checker.ClassUndecided || v.WithLog == nil || v.WithLog.Judgement == nil {
		return p
	}
	return cmp.Or(of(v.WithLog.Judgement), p)
}

// one runs one system, judges the run, and tells how far its answers were behind, where
// they say at which offset of a log they were given.
func (l *realComparison) one(ctx context.Context, system string, seed int64) (v *checker.Verdict, behind map[string]int64, err error) {
	if system == "zookeeper" {
		v, err = l.zookeeper(ctx, seed)
		return v, nil, err
	}
	if isKafka(system) {
		f := &kafkaFlags{
			on: l.on, options: kafka.Options{Mode: kafka.Mode(system), Brokers: 3, Partitions: 6, SessionTimeout: comparedPatience},
			name: "compare-" + system, store: l.store, seed: uint64(seed), workload: toys.Leadership,
			faults: l.faults, faultFor: comparedFor, load: l.length, settle: comparedSettle, think: 50 * time.Millisecond, clients: 15,
		}
		_, v, err = f.do(ctx, l.report, l.windows)
		return v, f.behind, err
	}
	f := &simFlags{on: l.on, store: l.store, faults: l.faults, faultFor: comparedFor}
	f.trial = toys.Trial{
		Config: toys.Config{
			System: system, Controllers: 3, Brokers: 5, Partitions: 12, Seed: uint64(seed), SessionTimeout: comparedPatience,
		},
		Clients: 20, Load: l.length, Settle: comparedSettle,
	}
	r := &localRun{flags: f, name: "compare-" + system, report: l.report, windows: l.windows}
	v, err = r.do(ctx)
	return v, r.behind, err
}

// zookeeper runs a ZooKeeper ensemble with all its read paths.
func (l *realComparison) zookeeper(ctx context.Context, seed int64) (v *checker.Verdict, err error) {
	var s zookeeperSettings
	flags := pflag.NewFlagSet("run zookeeper", pflag.ContinueOnError)
	s.bind(flags)
	arguments := []string{
		"--on=" + l.on, "--name=compare-zookeeper", "--store=" + l.store, "--seed=" + strconv.FormatInt(seed, 10), "--faults=" + l.faults,
		"--tick-time=" + comparedTick.String(), "--sync-limit=2", "--time=" + l.length.String(),
		"--fault-for=" + comparedFor.String(), "--fault-every=" + (comparedFor + 2*comparedHealthy).String(),
	}
	if err := flags.Parse(arguments); err != nil {
		return nil, err
	}
	p, err := s.plan()
	if err != nil {
		return nil, err
	}
	p.windows = l.windows
	run, err := p.createRun(append([]string{"stalemate", "run", "zookeeper"}, arguments...), flags)
	if err != nil {
		return nil, err
	}
	l.report.say("run %s, seed %d", run.Dir, seed)
	guard := newGuard(l.report)
	defer guard.release()
	e, err := p.start(ctx, run.Path("nodes"), guard, l.report)
	if err == nil {
		err = errors.Join(p.record(ctx, e, run, l.report), e.Close())
	}
	if err == nil {
		err = keepLog(e, run)
	}
	if err := end(ctx, run, err); err != nil {
		return nil, fmt.Errorf("%w\n(what there is of the run is in %s)", err, run.Dir)
	}
	return verdictOf(ctx, run, p.settings.timeout)
}

func (l *realComparison) print(w io.Writer, r comparison, took time.Duration, asJSON bool) error {
	if asJSON {
		return printJSON(w, r)
	}
	rows := comparedRows(r.Rows)
	for i := range rows {
		rows[i].Trouble = strings.ReplaceAll(l.faults, ",", ", ") + ": each for " + comparedFor.String() + ", at the same times for all"
	}
	if err := reports.Compare(w, rows, textStyle(w)); err != nil {
		return err
	}
	times := "one run"
	if r.Seeds > 1 {
		times = fmt.Sprint(r.Seeds, " runs")
	}
	as := "as processes of this machine"
	if l.on == "docker" {
		as = "in containers"
	}
	_, err := fmt.Fprintf(w, "\n%s of each system %s, seeds from %d, in %v; kept in %s/compare-*.\n",
		times, as, r.First, took.Round(time.Second), l.store)
	return err
}
