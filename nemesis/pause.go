package nemesis

import (
	"context"
	"math/rand/v2"

	"github.com/stalemate-io/stalemate/systems"
)

// pause stops one node's execution and later lets it go on, as if nothing had
// happened in between: a long garbage collection, a suspended virtual machine.
// The others only notice if it lasts longer than their patience.
type pause struct{ leaderOnly bool }

func (f pause) Name() string { return named("pause", f.leaderOnly) }

func (f pause) Available(c systems.Cluster) error { return atLeast(1, c) }

func (f pause) Plan(ctx context.Context, c systems.Cluster, rng *rand.Rand) (Disruption, error) {
	node, err := target(ctx, c, rng, f.leaderOnly)
	if err != nil {
		return Disruption{}, err
	}
	return Disruption{
		Targets: []string{node},
		What:    subject(node, f.leaderOnly) + " is paused",
		Begin:   func(ctx context.Context) error { return c.Pause(ctx, node) },
		End:     func(ctx context.Context) error { return c.Resume(ctx, node) },
	}, nil
}
