package explore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/internal/toys"
)

// Search is a search of one system over a range of seeds.
type Search struct {
	// System is push or kraft.
	System string
	// Workload is toys.Leadership, the default, or toys.Data.
	Workload                                  string
	Controllers, Brokers, Partitions, Clients int
	// Off and On switch guards.
	Off, On []string
	// Require is what each read path is held to; by default that of
	// Requirements without a level.
	Require map[string]checker.Level
	// First is the first of Runs seeds. Of these, shard number Shard (from 0)
	// of Shards takes every Shards-th.
	First         uint64
	Runs          int
	Shard, Shards int
	// Workers is how many run at the same time, by default one a core. It
	// changes nothing in what is found.
	Workers int
	// Progress is told, from one goroutine at a time, how far it is.
	Progress func(Progress)
}

// Progress is how far a search is.
type Progress struct {
	Done, Of int
	// Failed counts the runs that failed, Distinct the read paths and kinds
	// of anomaly among them.
	Failed, Distinct int
}

// Sighting is a failure and where it was seen.
type Sighting struct {
	Failure
	// Plans are the runs that showed it, those of the least seeds, in order.
	Plans []*Plan
}

// Result is what a search found.
type Result struct {
	// Runs is how many were done, Failed how many of them failed.
	Runs, Failed int
	// Seen counts the runs that showed each kind of anomaly over each path.
	Seen      map[Failure]int
	Sightings []Sighting
}

// traced is of how many runs at most, per kind of anomaly and read path, the
// cause is looked for: a trace makes a run twice as slow. The least seeds are taken.
const traced = 24

// plansKept is how many runs are kept of each failure, for one may shrink where
// another does not.
const plansKept = 3

// withDefaults fills in what was left out.
func (s *Search) withDefaults() *Search {
	d := *s
	for _, n := range []struct {
		at    *int
		value int
	}{
		{&d.Controllers, DefaultControllers}, {&d.Brokers, DefaultBrokers}, {&d.Partitions, DefaultPartitions},
		{&d.Clients, DefaultClients}, {&d.Workers, runtime.GOMAXPROCS(0)}, {&d.Shards, 1},
	} {
		if *n.at <= 0 {
			*n.at = n.value
		}
	}
	if d.Workload == "" {
		d.Workload = toys.Leadership
	}
	if d.Require == nil {
		d.Require = Requirements(d.System, d.Workload, "")
	}
	return &d
}

// Requirements is what each read path of a system is held to: level where it is
// given, else what the system promises, and ordered lag over the brokers of one
// that promises nothing.
func Requirements(system, workload string, level checker.Level) map[string]checker.Level {
	out := map[string]checker.Level{}
	trial := toys.Trial{Config: toys.Config{System: system}, Workload: workload}
	for path, promise := range trial.Options().Promises {
		switch {
		case level != "":
			promise = level
		case promise == checker.None && path == "broker":
			promise = checker.OrderedLag
		}
		out[path] = promise
	}
	return out
}

// one is what the run of one seed came to.
type one struct {
	seed     uint64
	failures []Failure
	plan     *Plan
	err      error
}

// Run searches. When ctx is over, what was found until then is returned; an error
// is a run that could not be made or judged.
func (s *Search) Run(ctx context.Context) (*Result, error) {
	d := s.withDefaults()
	if d.Shard < 0 || d.Shard >= d.Shards {
		return nil, fmt.Errorf("shard %d of %d; expected one from 0 to %d", d.Shard, d.Shards, d.Shards-1)
	}
	mine := max(0, (d.Runs-d.Shard+d.Shards-1)/d.Shards)
	seed := func(i int) uint64 { return d.First + uint64(i*d.Shards+d.Shard) }
	r := &Result{Seen: map[Failure]int{}}
	all := d.each(ctx, mine, seed, false, func(done int, o one) {
		if len(o.failures) > 0 {
			r.Failed++
		}
		for _, f := range o.failures {
			r.Seen[f]++
		}
		if d.Progress != nil {
			d.Progress(Progress{Done: done, Of: mine, Failed: r.Failed, Distinct: len(r.Seen)})
		}
	})
	if err := firstError(all); err != nil {
		return nil, err
	}
	r.Runs = len(all)
	// What was found is explained even if the search was interrupted.
	seeds := worth(all)
	explained := d.each(context.WithoutCancel(ctx), len(seeds), func(i int) uint64 { return seeds[i] }, true, nil)
	if err := firstError(explained); err != nil {
		return nil, err
	}
	seen := map[Failure][]*Plan{}
	for _, o := range explained {
		for _, f := range o.failures {
			seen[f] = append(seen[f], o.plan)
		}
	}
	for _, f := range slices.SortedFunc(maps.Keys(seen), Failure.Compare) {
		r.Sightings = append(r.Sightings, Sighting{f, seen[f][:min(len(seen[f]), plansKept)]})
	}
	return r, nil
}

// worth gives the seeds whose runs are worth a trace.
func worth(all []one) []uint64 {
	var seeds []uint64
	count := map[Failure]int{}
	for _, o := range all {
		take := false
		for _, f := range o.failures {
			take = take || count[f] < traced
			count[f]++
		}
		if take {
			seeds = append(seeds, o.seed)
		}
	}
	return seeds
}

func firstError(all []one) error {
	for _, o := range all {
		if o.err != nil {
			return o.err
		}
	}
	return nil
}

// each makes the runs of n seeds on all workers, and gives them in the order of
// their seeds. done is told each as it ends.
func (s *Search) each(ctx context.Context, n int, seed func(int) uint64, trace bool, done func(int, one)) []one {
	todo, results := make(chan uint64), make(chan one)
	var workers sync.WaitGroup
	for range s.Workers {
		workers.Go(func() {
			for seed := range todo {
				p, o, err := s.draw(context.WithoutCancel(ctx), seed, trace)
				r := one{seed: seed, err: err}
				if err == nil {
					r.failures = o.Failures
				}
				if trace {
					r.plan = p
				}
				results <- r
			}
		})
	}
	go func() {
		defer close(results)
		defer workers.Wait()
		defer close(todo)
		for i := range n {
			select {
			case todo <- seed(i):
			case <-ctx.Done():
				return
			}
		}
	}()
	var all []one
	for o := range results {
		all = append(all, o)
		if done != nil {
			done(len(all), o)
		}
	}
	slices.SortFunc(all, func(a, b one) int { return cmp.Compare(a.seed, b.seed) })
	return all
}
