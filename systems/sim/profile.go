package sim

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
)

// Profile is what schedules are drawn from.
type Profile struct {
	// Kinds are the kinds of faults that may happen; none means all that the
	// rest of the profile gives a target.
	Kinds []string
	// Nodes are whom faults strike, Servers the store's servers.
	Nodes, Servers []node.ID
	// Messages are the kinds of messages of which single ones may be lost,
	// delayed or doubled.
	Messages []string
	// Notes are traces at which a node may be killed, paused or cut off.
	Notes []string
	// Faults begin between From and Until, every Every in the mean, and last
	// For in the mean.
	From, Until time.Duration
	Every, For  time.Duration
}

// Schedule draws the faults of one run. Each run uses a random half of the kinds
// (swarm testing; Groce et al., ISSTA 2012): a run with few kinds of faults goes
// deep where one with all of them would only ever be a muddle.
func (p Profile) Schedule(seed uint64) []Fault {
	r := stream(seed, "faults", 0)
	every, length := max(p.Every, time.Millisecond), max(p.For, time.Millisecond)
	swarm := p.swarm(r)
	if len(swarm) == 0 {
		return nil
	}
	var faults []Fault
	at := p.From
	for {
		at += round(Exponential(0, every).draw(r))
		if at >= p.Until {
			return faults
		}
		f := p.fault(r, swarm[r.IntN(len(swarm))])
		f.At = at
		if !kindNamed(f.Kind).Instant {
			f.For = max(time.Millisecond, round(Exponential(0, length).draw(r)))
		}
		faults = append(faults, f)
	}
}

// round keeps times short in print.
func round(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

// swarm picks the kinds of one run: each with even chance, at least one.
func (p Profile) swarm(r *rand.Rand) []*Kind {
	var able, chosen []*Kind
	for i := range kinds {
		k := &kinds[i]
		switch {
		case len(p.Kinds) > 0 && !slices.Contains(p.Kinds, k.Name):
		case k.Store && len(p.Servers) == 0, !k.Store && len(p.Nodes) == 0:
		case k.Message && len(p.Messages) == 0:
		case k.Name == "expire-session" && len(p.Servers) == 0:
		case k.Sides && len(p.Nodes) < 2:
		default:
			able = append(able, k)
		}
	}
	for _, k := range able {
		if r.IntN(2) == 0 {
			chosen = append(chosen, k)
		}
	}
	if len(chosen) == 0 && len(able) > 0 {
		chosen = append(chosen, able[r.IntN(len(able))])
	}
	return chosen
}

func (p Profile) fault(r *rand.Rand, k *Kind) Fault {
	f := Fault{Kind: k.Name}
	switch {
	case k.Store:
		f.Nodes = pick(r, p.Servers, 1)
	case k.Sides:
		sides := pick(r, slices.Concat(p.Nodes, p.Servers), -1)
		n := 1 + r.IntN(len(sides)-1)
		f.Nodes, f.Peers = sides[:n:n], sides[n:]
	case k.Links:
		f.Nodes = pick(r, p.Nodes, 1)
		others := slices.DeleteFunc(slices.Concat(p.Nodes, p.Servers), func(id node.ID) bool { return id == f.Nodes[0] })
		if len(others) > 0 && (k.Message || r.IntN(2) == 0) {
			f.Peers = pick(r, others, 1)
		}
	default:
		f.Nodes = pick(r, p.Nodes, 1)
	}
	if k.Amount {
		f.Amount = amounts[k.Name].draw(r).Round(100 * time.Microsecond)
		f.Amount = max(f.Amount, 100*time.Microsecond)
	}
	if k.PerMille {
		f.PerMille = 1 + r.IntN(300)
		if k.Name == "clock-drift" && r.IntN(2) == 0 {
			f.PerMille = -f.PerMille
		}
	}
	if k.Message {
		f.Message, f.Nth = p.Messages[r.IntN(len(p.Messages))], 1+r.IntN(3)
	}
	if k.Stops {
		switch n := r.IntN(4); {
		case n == 0 && len(p.Notes) > 0:
			f.On = &Trigger{Node: f.Nodes[0], What: p.Notes[r.IntN(len(p.Notes))], Nth: 1 + r.IntN(2)}
		case n == 1 && k.Name != "expire-session":
			f.Effect = 1 + r.IntN(100)
		}
	}
	return f
}

// amounts are how large the amounts of the kinds that have one are.
var amounts = map[string]Delay{
	"slow-link":     LogNormal(50*time.Millisecond, 1.2),
	"delay-message": LogNormal(2*time.Second, 1),
	"slow-node":     LogNormal(5*time.Millisecond, 1),
	"slow-disk":     LogNormal(100*time.Millisecond, 1.2),
	"clock-jump":    LogNormal(5*time.Second, 1),
	"store-lag":     LogNormal(500*time.Millisecond, 1),
}

// pick gives n of the nodes, or all where n is negative, in random order.
func pick(r *rand.Rand, nodes []node.ID, n int) []node.ID {
	nodes = slices.Clone(nodes)
	r.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	if n >= 0 {
		nodes = nodes[:min(n, len(nodes))]
	}
	return nodes
}
