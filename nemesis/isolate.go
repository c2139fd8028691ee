package nemesis

import (
	"context"
	"math/rand/v2"

	"github.com/stalemate-io/stalemate/systems"
)

// isolate cuts one node off from all others and from what they depend on, in both
// directions. Clients still reach it, and a leader goes on answering them until
// it notices.
type isolate struct{ leaderOnly bool }

func (f isolate) Name() string { return named("isolate", f.leaderOnly) }

func (f isolate) Available(c systems.Cluster) error { return linksNeeded(2, c) }

func (f isolate) Plan(ctx context.Context, c systems.Cluster, rng *rand.Rand) (Disruption, error) {
	node, err := target(ctx, c, rng, f.leaderOnly)
	if err != nil {
		return Disruption{}, err
	}
	what := subject(node, f.leaderOnly) + " is cut off from all other nodes, not from its clients"
	return onLinks(c, between([]string{node}, append(others(c, node), dependencies(c)...)), []string{node}, what, cut), nil
}
