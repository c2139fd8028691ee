package nemesis

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/stalemate-io/stalemate/systems"
)

// lose cuts one node off, in both directions, from one half of what isolate cuts it
// off from: from the servers on which the nodes depend, or from the other nodes. The
// one takes a leader's office and leaves it everybody's ear, the other leaves it the
// office and nobody who hears of it.
type lose struct {
	store      bool
	leaderOnly bool
}

func (f lose) Name() string {
	if f.store {
		return named("lose-store", f.leaderOnly)
	}
	return named("lose-peers", f.leaderOnly)
}

func (f lose) Available(c systems.Cluster) error {
	if len(dependencies(c)) == 0 {
		return errors.New("there are no servers beside the nodes on which they depend: isolate does what there is to do")
	}
	return linksNeeded(2, c)
}

func (f lose) Plan(ctx context.Context, c systems.Cluster, rng *rand.Rand) (Disruption, error) {
	node, err := target(ctx, c, rng, f.leaderOnly)
	if err != nil {
		return Disruption{}, err
	}
	from, what := others(c, node), "all other nodes, not from the servers they depend on"
	if f.store {
		from, what = dependencies(c), "the servers that the nodes depend on, not from other nodes"
	}
	return onLinks(c, between([]string{node}, from), []string{node}, subject(node, f.leaderOnly)+" is cut off from "+what, cut), nil
}
