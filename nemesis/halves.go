package nemesis

import (
	"context"
	"math/rand/v2"
	"strings"

	"github.com/stalemate-io/stalemate/systems"
)

// halves splits the nodes into a majority and a minority that do not reach each
// other. What the nodes depend on is on the majority's side. It is aimed at the
// minority.
type halves struct{}

func (halves) Name() string { return "halves" }

func (halves) Available(c systems.Cluster) error { return linksNeeded(2, c) }

func (halves) Plan(_ context.Context, c systems.Cluster, rng *rand.Rand) (Disruption, error) {
	nodes := shuffled(c.Nodes(), rng)
	minority, majority := nodes[:len(nodes)/2], nodes[len(nodes)/2:]
	what := strings.Join(minority, " and ") + " and the majority do not reach each other"
	return onLinks(c, between(minority, append(majority, dependencies(c)...)), minority, what, cut), nil
}

// shuffled gives a copy of nodes in random order.
func shuffled(nodes []string, rng *rand.Rand) []string {
	mixed := append([]string(nil), nodes...)
	rng.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	return mixed
}
