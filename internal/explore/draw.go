package explore

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/stalemate-io/stalemate/internal/toys"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/sim"
	"github.com/stalemate-io/stalemate/workloads/leadership"
)

// The shape of a run: the cluster has the warm-up to itself, then come clients
// and faults, then everything is healed and left to settle, and asked once more.
const (
	warmup = 6 * time.Second
	load   = 10 * time.Second
	settle = 12 * time.Second
	after  = 2 * time.Second
)

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
		System: s.System, Controllers: s.Controllers, Brokers: s.Brokers, Partitions: s.Partitions,
		Seed: seed, Off: s.Off, On: s.On, Require: s.Require,
		Heal: heal, Final: heal + settle, End: heal + settle + after,
	}
	k, err := toys.New(p.config(trace))
	if err != nil {
		return nil, nil, err
	}
	o := leadership.Options{
		Brokers: k.Brokers, Controllers: k.Controllers, Partitions: k.Partitions, Paths: k.Paths,
		Clients: s.Clients, From: warmup, Until: heal, Final: p.Final,
		Issued: func(op leadership.Op) { p.Ops = append(p.Ops, op) },
	}
	record := func() leadership.Recording { return k.Recording() }
	clients, err := leadership.NewClients(o, record)
	if err != nil {
		return nil, nil, err
	}
	clients = append(clients, leadership.NewFinalClients(o, record)...)
	p.Faults = faults(k, seed)
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
// such as strike whoever is in charge at the moment.
func faults(k *toys.Cluster, seed uint64) []sim.Fault {
	const from, until = warmup, warmup + load
	r := rand.New(rand.NewPCG(seed, 0x6578706c6f7265))
	if r.IntN(3) == 0 {
		families := toys.Families()
		return families[r.IntN(len(families))].Schedule(k, from, until)
	}
	t := targets[k.Config.System]
	p := sim.Profile{
		Nodes:    slices.Concat(k.Controllers, k.Brokers, []node.ID{"@controller", "@controller"}),
		Messages: t.messages, Notes: t.notes, From: from, Until: until,
		Every: time.Duration(300+r.IntN(1500)) * time.Millisecond,
		For:   time.Duration(500+r.IntN(6000)) * time.Millisecond,
	}
	if k.Config.System == "push" {
		p.Servers = k.Store().Servers()
	}
	return p.Schedule(seed)
}
