package nemesis

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/stalemate-io/stalemate/systems"
)

// latePush holds back one push of the leader to another node. When the leader has
// given up waiting for the answer it sends the push again, and then what it decided
// since; the first copy arrives last.
type latePush struct{ hold time.Duration }

func (latePush) Name() string { return "late-push" }

func (latePush) Available(c systems.Cluster) error {
	if p, ok := c.(systems.Pushing); !ok || len(p.Pushed()) < 2 {
		return errors.New("no node pushes to others here, or not over links on which a push can be held back")
	}
	return nil
}

func (f latePush) Plan(ctx context.Context, c systems.Cluster, rng *rand.Rand) (Disruption, error) {
	p, ok := c.(systems.Pushing)
	if !ok {
		return Disruption{}, f.Available(c)
	}
	from, err := leader(ctx, c)
	if err != nil {
		return Disruption{}, err
	}
	nodes := slices.DeleteFunc(p.Pushed(), func(n string) bool { return n == from })
	to := nodes[rng.IntN(len(nodes))]
	return Disruption{
		Targets: []string{to},
		What:    fmt.Sprintf("the next push of %s to %s arrives %v late", from, to, f.hold),
		Begin:   func(context.Context) error { return p.HoldPush(to, f.hold) },
		End:     func(context.Context) error { return p.HoldPush(to, 0) },
	}, nil
}
