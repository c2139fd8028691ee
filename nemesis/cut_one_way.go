package nemesis

import (
	"context"
	"math/rand/v2"

	"github.com/stalemate-io/stalemate/systems"
)

// cutOneWay makes one node deaf or dumb: all its links are cut in one direction,
// and whole in the other.
type cutOneWay struct{}

func (cutOneWay) Name() string { return "cut-one-way" }

func (cutOneWay) Available(c systems.Cluster) error { return linksNeeded(2, c) }

func (cutOneWay) Plan(ctx context.Context, c systems.Cluster, rng *rand.Rand) (Disruption, error) {
	node, err := target(ctx, c, rng, false)
	if err != nil {
		return Disruption{}, err
	}
	deaf := rng.IntN(2) == 0
	what := node + " is heard by no other node, but hears them"
	if deaf {
		what = node + " hears no other node, but is heard"
	}
	var links []link
	for _, other := range append(others(c, node), dependencies(c)...) {
		if deaf {
			links = append(links, link{other, node})
		} else {
			links = append(links, link{node, other})
		}
	}
	return onLinks(c, links, []string{node}, what, cut), nil
}
