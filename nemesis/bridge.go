package nemesis

import (
	"context"
	"math/rand/v2"
	"strings"

	"github.com/stalemate-io/stalemate/systems"
)

// bridge splits the nodes into two sides that reach each other through one node
// only, which both sides can talk to. It is aimed at both sides.
type bridge struct{}

func (bridge) Name() string { return "bridge" }

func (bridge) Available(c systems.Cluster) error { return linksNeeded(3, c) }

func (bridge) Plan(_ context.Context, c systems.Cluster, rng *rand.Rand) (Disruption, error) {
	nodes := shuffled(c.Nodes(), rng)
	middle, rest := nodes[0], nodes[1:]
	left, right := rest[:len(rest)/2], rest[len(rest)/2:]
	what := strings.Join(left, " and ") + " and " + strings.Join(right, " and ") +
		" do not reach each other; " + middle + " reaches both"
	return onLinks(c, between(left, right), rest, what, cut), nil
}
