package nemesis

import (
	"context"
	"math/rand/v2"

	"github.com/stalemate-io/stalemate/systems"
)

// kill ends one node without warning and later starts it again on what its disk
// holds.
type kill struct{ leaderOnly bool }

func (f kill) Name() string { return named("kill", f.leaderOnly) }

func (f kill) Available(c systems.Cluster) error { return atLeast(1, c) }

func (f kill) Plan(ctx context.Context, c systems.Cluster, rng *rand.Rand) (Disruption, error) {
	node, err := target(ctx, c, rng, f.leaderOnly)
	if err != nil {
		return Disruption{}, err
	}
	return Disruption{
		Targets: []string{node},
		What:    subject(node, f.leaderOnly) + " is killed, to be started again",
		Begin:   func(ctx context.Context) error { return c.Kill(ctx, node) },
		End:     func(ctx context.Context) error { return c.Start(ctx, node) },
	}, nil
}
