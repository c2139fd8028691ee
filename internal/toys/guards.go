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
	System, Guard, Family, Path string
	// Broken is the level that falls.
	Broken checker.Level
}

// EarnedGuards lists them.
func EarnedGuards() []Earned {
	return []Earned{
		{"push", "controller-epoch-gate", "zombie-controller", "broker", checker.OrderedLag},
		{"push", "controller-epoch-check", "failover-skew", "broker", checker.OrderedLag},
		{"push", "resend-on-failover", "write-then-crash", "broker", checker.OrderedLag},
		{"push", "resend-until-answered", "lost-push", "broker", checker.OrderedLag},
		{"kraft", "quorum-confirm", "cut-off-leader", "quorum", checker.Linearizable},
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
		broken, err := e.breaks(ctx, first+uint64(w.Tried), e.Guard)
		if err != nil {
			return w, err
		}
		if broken {
			w.Found, w.Without = true, first+uint64(w.Tried)
		}
	}
	for ; w.Runs < on; w.Runs++ {
		broken, err := e.breaks(ctx, first+uint64(w.Runs))
		if err != nil {
			return w, err
		}
		if broken {
			w.With++
		}
	}
	return w, nil
}

func (e Earned) breaks(ctx context.Context, seed uint64, off ...string) (bool, error) {
	t := Trial{
		Config: Config{System: e.System, Controllers: 3, Brokers: 5, Partitions: 12, Seed: seed, Off: off},
		Warmup: 6 * time.Second, Load: 20 * time.Second, Settle: 12 * time.Second,
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
	v := o.Verdict.Paths[e.Path]
	return v != nil && v.Levels[e.Broken] == checker.Violated, nil
}
