package toys

import (
	"context"
	"fmt"
	"time"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/systems/sim"
)

// Earned is a guard and what clients see without it: under a family of faults,
// reads over a path break a level that they keep with every guard on. The guards
// that clients cannot see at work are tested inside their systems.
type Earned struct {
	System, Guard, Workload, Family, Path string
	// Broken is the level that falls.
	Broken checker.Level
}

// EarnedGuards lists them. The last two are extras, off unless switched on.
func EarnedGuards() []Earned {
	return []Earned{
		{"push", "controller-epoch-gate", Leadership, "zombie-controller", "broker", checker.OrderedLag},
		{"push", "controller-epoch-check", Leadership, "failover-skew", "broker", checker.OrderedLag},
		{"push", "resend-on-failover", Leadership, "write-then-crash", "broker", checker.OrderedLag},
		{"push", "resend-until-answered", Leadership, "lost-push", "broker", checker.OrderedLag},
		{"kraft", "quorum-confirm", Leadership, "cut-off-leader", "quorum", checker.Linearizable},
		{"kraft", "self-fencing", Data, "cut-off-leader", "fetch", checker.Linearizable},
		{"kraft", "data-flush", Data, "storm", "fetch", checker.OrderedLag},
	}
}

// Worth is what a search found of one guard.
type Worth struct {
	Earned
	// Without is the first seed that broke the level with the guard off, and
	// Tried how many seeds that took; Found is false if none did.
	Found   bool
	Without uint64
	Tried   int
	// With counts the seeds that broke it with every guard on, of Runs.
	With, Runs int
}

// Weigh searches seeds from first on: at most off of them for one that shows
// what the guard is for, and on of them with every guard on.
func (e Earned) Weigh(ctx context.Context, first uint64, off, on int) (Worth, error) {
	w := Worth{Earned: e}
	for ; w.Tried < off && !w.Found; w.Tried++ {
		broken, err := e.breaks(ctx, first+uint64(w.Tried), false)
		if err != nil {
			return w, err
		}
		if broken {
			w.Found, w.Without = true, first+uint64(w.Tried)
		}
	}
	count := func(seed uint64) error {
		broken, err := e.breaks(ctx, seed, true)
		if broken {
			w.With++
		}
		w.Runs++
		return err
	}
	// Where it was seen first, it would be seen again.
	if w.Found && w.Without >= first+uint64(on) {
		if err := count(w.Without); err != nil {
			return w, err
		}
	}
	for seed := range uint64(on) {
		if err := count(first + seed); err != nil {
			return w, err
		}
	}
	return w, nil
}

// breaks runs one seed with the guard on or off, and all others as they are by
// default.
func (e Earned) breaks(ctx context.Context, seed uint64, guarded bool) (bool, error) {
	t := Trial{
		Config:   Config{System: e.System, Controllers: 3, Brokers: 5, Partitions: 12, Seed: seed},
		Workload: e.Workload, Warmup: 6 * time.Second, Load: 20 * time.Second, Settle: 12 * time.Second,
	}
	if guarded {
		t.On = []string{e.Guard}
	} else {
		t.Off = []string{e.Guard}
	}
	for _, f := range Families() {
		if f.Name == e.Family {
			t.Schedule = func(k *Cluster) []sim.Fault { return f.Schedule(k, t.Warmup, t.Warmup+t.Load) }
		}
	}
	if t.Schedule == nil {
		return false, fmt.Errorf("no family %q", e.Family)
	}
	o, err := t.Run(ctx)
	if err != nil {
		return false, err
	}
	v := o.Verdict
	if len(v.Paths) > 0 {
		v = v.Paths[e.Path]
	}
	return v != nil && v.Levels[e.Broken] == checker.Violated, nil
}
