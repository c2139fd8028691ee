package nemesis

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/stalemate-io/stalemate/systems"
)

// How long, and how often, a cluster is asked who leads before a fault that
// needs a leader is given up.
const (
	leaderWait = 10 * time.Second
	leaderPoll = 50 * time.Millisecond
)

// target chooses a node: the leader, or any.
func target(ctx context.Context, c systems.Cluster, rng *rand.Rand, leaderOnly bool) (string, error) {
	if leaderOnly {
		return leader(ctx, c)
	}
	nodes := c.Nodes()
	if len(nodes) == 0 {
		return "", fmt.Errorf("the cluster has no nodes")
	}
	return nodes[rng.IntN(len(nodes))], nil
}

// leader asks who leads, again while an election is going on.
func leader(ctx context.Context, c systems.Cluster) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, leaderWait)
	defer cancel()
	for {
		name, err := c.Leader(ctx)
		if err == nil {
			return name, nil
		}
		select {
		case <-time.After(leaderPoll):
		case <-ctx.Done():
			return "", fmt.Errorf("no leader to aim at: %w", err)
		}
	}
}

// others lists the nodes but node.
func others(c systems.Cluster, node string) []string {
	var rest []string
	for _, n := range c.Nodes() {
		if n != node {
			rest = append(rest, n)
		}
	}
	return rest
}

// dependencies lists the servers beside the nodes that the nodes depend on.
func dependencies(c systems.Cluster) []string {
	if d, ok := c.(systems.Dependent); ok {
		return d.Dependencies()
	}
	return nil
}

// atLeast says that a fault needs more nodes, if it does.
func atLeast(n int, c systems.Cluster) error {
	if have := len(c.Nodes()); have < n {
		return fmt.Errorf("needs at least %d nodes, the cluster has %d", n, have)
	}
	return nil
}

// named puts a fault's two forms into names: pause-leader, pause-node.
func named(verb string, leaderOnly bool) string {
	if leaderOnly {
		return verb + "-leader"
	}
	return verb + "-node"
}

// subject begins a sentence about a target.
func subject(node string, leaderOnly bool) string {
	if leaderOnly {
		return "leader " + node
	}
	return node
}
