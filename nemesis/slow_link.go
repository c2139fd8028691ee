package nemesis

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/stalemate-io/stalemate/systems"
)

// slowLink holds back what the leader sends to one follower. Nothing breaks and
// nobody notices; the follower is merely late. It is aimed at the follower.
type slowLink struct{ delay time.Duration }

func (slowLink) Name() string { return "slow-link" }

func (slowLink) Available(c systems.Cluster) error {
	if _, ok := c.Links().(systems.CutOnly); ok {
		return errors.New("the links of this deployment can be cut, not slowed; --on local can")
	}
	return linksNeeded(2, c)
}

func (f slowLink) Plan(ctx context.Context, c systems.Cluster, rng *rand.Rand) (Disruption, error) {
	from, err := leader(ctx, c)
	if err != nil {
		return Disruption{}, err
	}
	followers := others(c, from)
	to := followers[rng.IntN(len(followers))]
	what := fmt.Sprintf("what leader %s sends to %s takes %v longer", from, to, f.delay)
	return onLinks(c, []link{{from, to}}, []string{to}, what, func(links systems.Links, l link) error {
		return links.Delay(l.from, l.to, f.delay)
	}), nil
}
