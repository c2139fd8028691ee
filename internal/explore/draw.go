package explore

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/stalemate-io/stalemate/internal/toys"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/sim"
)

// The shape of a run: the cluster has the warm-up to itself, then come clients
// and faults, then everything is healed and left to settle, and asked once more.
const (
	warmup = 6 * time.Second
	load   = 10 * time.Second
	settle = 12 * time.Second
	after  = 2 * time.Second
)

// dataSession is how long sessions last where values are at stake: short, for
// in-sync sets to shrink and their leaders to fall several times in a run.
const dataSession = 1500 * time.Millisecond

// What a run's cluster has by default. Small clusters find the most in a given
// time: few bugs need many nodes, and shrinking would only take them away.
const (
	DefaultControllers = 3
	DefaultBrokers     = 3
	DefaultPartitions  = 4
	DefaultClients     = 10
)

// draw makes the run of one seed: faults and operations left to chance. The plan
// that comes back with the outcome has them written down.
func (s *Search) draw(ctx context.Context, seed uint64, trace bool) (*Plan, *Outcome, error) {
	heal := warmup + load
	p := &Plan{
		System: s.System, Workload: s.Workload, Controllers: s.Controllers, Brokers: s.Brokers, Partitions: s.Partitions,
		Seed: seed, Off: s.Off, On: s.On, Require: s.Require,
		Heal: heal, Final: heal + settle, End: heal + settle + after,
	}
	r := rand.New(rand.NewPCG(seed, 0x6578706c6f7265))
	switch {
	case s.Workload == toys.Data:
		p.Session = dataSession
	case s.System == "kraft":
		p.Hurried = r.IntN(3) == 0
	}
	k, err := toys.New(p.config(trace))
	if err != nil {
		return nil, nil, err
	}
	clients, err := s.drawn(k, p)
	if err != nil {
		return nil, nil, err
	}
	p.Faults = faults(k, r)
	out, err := p.play(ctx, k, clients)
	return p, out, err
}

// What there is to strike in each system.
var targets = map[string]struct{ messages, notes []string }{
	"push": {
		[]string{"UpdateMetadata", "LeaderAndIsr", "StopReplica", "AlterPartition"},
		[]string{"store-write", "push-queued", "elected", "push-applied"},
	},
	"kraft": {
		[]string{"Vote", "BeginQuorumEpoch", "Fetch", "FetchSnapshot", "BrokerHeartbeat", "BrokerRegistration", "AlterPartition", "ReplicaFetch"},
		[]string{"appended", "committed", "applied"},
	},
}

// faults draws a schedule: one run in three has trouble of a family that is known
// to be rewarding, the others anything out of all kinds of faults, among them
// such as strike whoever is in charge at the moment. Where elections are quick,
// so are the faults of those who elect.
func faults(k *toys.Cluster, r *rand.Rand) []sim.Fault {
	seed := k.Config.Seed
	if k.Config.Hurried {
		return elections(k, r)
	}
	if r.IntN(3) == 0 {
		return family(k, r)
	}
	t := targets[k.Config.System]
	p := sim.Profile{
		Nodes:    slices.Concat(k.Controllers, k.Brokers, []node.ID{"@controller", "@controller"}),
		Messages: t.messages, Notes: t.notes, From: warmup, Until: warmup + load,
		Every: time.Duration(300+r.IntN(1500)) * time.Millisecond,
		For:   time.Duration(500+r.IntN(6000)) * time.Millisecond,
	}
	if k.Config.System == "push" {
		p.Servers = k.Store().Servers()
	}
	return p.Schedule(seed)
}

// family draws the faults of one family. Families count on longer runs than ours,
// so they may begin before the load does, and what comes too late is left out.
func family(k *toys.Cluster, r *rand.Rand) []sim.Fault {
	all := toys.Families()
	drawn := all[r.IntN(len(all))].Schedule(k, warmup/3, warmup+2*load)
	return slices.DeleteFunc(drawn, func(f sim.Fault) bool { return f.At >= warmup+load })
}

// elections draws faults of those who elect, many and short; in every other run
// they only crash, which is hardest on what they must not forget.
func elections(k *toys.Cluster, r *rand.Rand) []sim.Fault {
	p := sim.Profile{
		Kinds: []string{"kill-node"}, Nodes: k.Controllers, Notes: []string{"candidate", "voted", "leading", "appended", "truncated"},
		From: warmup, Until: warmup + load,
		Every: time.Duration(50+r.IntN(100)) * time.Millisecond, For: time.Duration(100+r.IntN(200)) * time.Millisecond,
	}
	if r.IntN(2) == 0 {
		p.Kinds = append(p.Kinds, "pause-node", "isolate-node", "cut-one-way")
		p.For *= 3
	}
	drawn := p.Schedule(k.Config.Seed)
	for _, id := range k.Controllers {
		drawn = append(drawn,
			sim.Fault{At: warmup, For: load, Kind: "lose", Nodes: []node.ID{id}, PerMille: 5},
			sim.Fault{At: warmup, For: load, Kind: "duplicate", Nodes: []node.ID{id}, PerMille: 20})
	}
	return drawn
}
