package toys

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/systems/sim"
)

// Survey runs every family on every system over a range of seeds.
type Survey struct {
	Systems  []string
	Families []Family
	First    uint64 // seed
	Seeds    int
	// Workers is how many run at the same time, by default one a core. It
	// changes nothing in the result.
	Workers int
	// Judged, if not nil, is told of each run's verdict, with all that it says,
	// from one goroutine at a time and in no order.
	Judged func(family, system string, seed uint64, v *checker.Verdict)
	// Progress is told, from one goroutine at a time, how many runs are done.
	Progress             func(done, of int)
	Warmup, Load, Settle time.Duration
}

// Row is what one read path of one system showed under one family.
type Row struct {
	Family  string        `json:"family"`
	System  string        `json:"system"`
	Path    string        `json:"path"`
	Off     []string      `json:"guards_off,omitempty"`
	Promise checker.Level `json:"promise"`
	Runs    int           `json:"runs"`
	// How many runs had which verdict, and broke the promise.
	Linearizable int `json:"linearizable"`
	OrderedLag   int `json:"ordered_lag"`
	Divergent    int `json:"divergent"`
	Undecided    int `json:"undecided"`
	Broken       int `json:"promise_broken"`
	// Reads and StaleReads over all runs.
	Reads      int `json:"reads"`
	StaleReads int `json:"stale_reads"`
	// The lag of stale reads: the median over the runs of their 99th
	// percentile, and the worst of all.
	LagP99MS   float64 `json:"lag_p99_ms"`
	LagWorstMS float64 `json:"lag_worst_ms"`
	BehindP99  float64 `json:"versions_behind_p99"`
	BehindMax  float64 `json:"versions_behind_worst"`
	// OffsetsBehind is the same in records of the metadata log, the worst of all:
	// how far whoever answered was from the newest change of any partition.
	// Systems without one log have none.
	OffsetsBehind *int64 `json:"offsets_behind_worst,omitempty"`
	// Anomalies counts the runs that had each kind of anomaly, beyond staleness,
	// and NeverConverged those in which a node was stuck.
	Anomalies      map[string]int `json:"anomalies,omitempty"`
	NeverConverged int            `json:"never_converged"`
	// FirstDivergent is the least seed that was divergent, for who wants to see
	// it again.
	FirstDivergent *uint64 `json:"first_divergent_seed,omitempty"`
	p99, behind    []float64
}

// Result is what a survey found.
type Result struct {
	Seeds int    `json:"seeds"`
	First uint64 `json:"first_seed"`
	Rows  []Row  `json:"rows"`
	// Invariants lists the runs in which a system broke one of its own.
	Invariants []string `json:"broken_invariants,omitempty"`
	Simulated  float64  `json:"simulated_seconds"`
}

type task struct {
	family, system int
	seed           uint64
}

type finding struct {
	task
	verdict   *checker.Verdict
	broken    error
	offsets   map[string]int64
	simulated time.Duration
	err       error
}

// Run runs the survey. The same survey gives the same result, whatever the
// machine.
func (s Survey) Run(ctx context.Context) (*Result, error) {
	if s.Workers <= 0 {
		s.Workers = runtime.GOMAXPROCS(0)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	tasks, found := make(chan task), make(chan finding)
	var workers sync.WaitGroup
	for range s.Workers {
		workers.Go(func() {
			for t := range tasks {
				found <- s.one(ctx, t)
			}
		})
	}
	go func() {
		defer close(found)
		defer workers.Wait()
		defer close(tasks)
		for seed := range uint64(s.Seeds) {
			for f := range s.Families {
				for y := range s.Systems {
					select {
					case tasks <- task{f, y, s.First + seed}:
					case <-ctx.Done():
						return
					}
				}
			}
		}
	}()
	return s.gather(ctx, found, cancel)
}

func (s Survey) one(ctx context.Context, t task) finding {
	family := s.Families[t.family]
	r := Trial{
		Config: Config{System: s.Systems[t.system], Controllers: 3, Brokers: 5, Partitions: 12, Seed: t.seed},
		Warmup: s.Warmup, Load: s.Load, Settle: s.Settle,
		Schedule: func(k *Cluster) []sim.Fault { return family.Schedule(k, s.Warmup, s.Warmup+s.Load) },
	}
	if r.System == "push" {
		r.Off = family.Off
	}
	o, err := r.Run(ctx)
	if err != nil {
		return finding{task: t, err: err}
	}
	return finding{task: t, verdict: o.Verdict, broken: o.Broken, offsets: OffsetsBehind(o.Events, o.Truth), simulated: o.Simulated}
}

// counts leaves of a verdict what rows are made of: a survey of many thousands of
// runs would not hold their anomalies.
func counts(v *checker.Verdict) *checker.Verdict {
	of := &checker.Verdict{Paths: make(map[string]*checker.Verdict, len(v.Paths))}
	for path, p := range v.Paths {
		of.Paths[path] = &checker.Verdict{
			Verdict: p.Verdict, Holds: p.Holds, Reads: p.Reads, StaleReads: p.StaleReads,
			StalenessMS: p.StalenessMS, VersionsBehind: p.VersionsBehind, AnomalyCounts: p.AnomalyCounts,
		}
	}
	return of
}

func (s Survey) gather(ctx context.Context, found <-chan finding, cancel func()) (*Result, error) {
	var all []finding
	var failed error
	for f := range found {
		if f.err != nil && failed == nil {
			failed = f.err
			cancel()
		}
		if f.err == nil {
			if s.Judged != nil {
				s.Judged(s.Families[f.family].Name, s.Systems[f.system], f.seed, f.verdict)
			}
			f.verdict = counts(f.verdict)
		}
		all = append(all, f)
		if s.Progress != nil {
			s.Progress(len(all), s.Seeds*len(s.Families)*len(s.Systems))
		}
	}
	if failed != nil {
		return nil, failed
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.family, b.family), cmp.Compare(a.system, b.system), cmp.Compare(a.seed, b.seed))
	})
	r := s.result(all)
	r.addOffsets(s, all)
	return r, nil
}
