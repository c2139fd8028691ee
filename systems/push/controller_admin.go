package push

import (
	"slices"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// electLeader makes a given replica, or the preferred one, the leader of a partition.
func (c *Controller) electLeader(r *protocol.ElectLeadersRequest, reply func(node.Message), done func()) {
	p := c.cluster.byID[r.Partition]
	if p == nil || !p.known {
		reply(c.answer(outcome{code: protocol.UnknownTopicOrPartition}))
		done()
		return
	}
	choose := c.targetElection(r.Target)
	if r.Target == protocol.NoLeader {
		choose = c.preferredElection
	}
	b := c.newBatch()
	c.change([]*partition{p}, "elect-leaders", choose, b, func(out []outcome) {
		b.send()
		reply(c.answer(out[0]))
		done()
	})
}

// answer turns what became of a change into an answer for its client.
func (c *Controller) answer(o outcome) *protocol.AdminResponse {
	a := &protocol.AdminResponse{
		Error: o.code, Leader: protocol.NoLeader, LeaderEpoch: -1, Version: -1, Controller: string(c.env.Self()),
	}
	if o.code == protocol.None {
		a.Leader, a.LeaderEpoch, a.Version = o.state.Leader, o.state.LeaderEpoch, int64(o.version)
	}
	return a
}

// metadata answers from the controller's own memory, unchecked: a controller
// that was deposed and has not noticed answers too.
func (c *Controller) metadata(r *protocol.MetadataRequest) *protocol.MetadataResponse {
	a := &protocol.MetadataResponse{
		Leader: protocol.NoLeader, LeaderEpoch: -1, Offset: protocol.NoOffset, Controller: string(nodeOf(c.activeID)),
	}
	switch {
	case r.Path == protocol.ReadQuorum:
		a.Error = protocol.UnsupportedVersion
	case !c.active:
		a.Error = protocol.NotController
	default:
		p := c.cluster.byID[r.Partition]
		if p == nil || !p.known {
			a.Error = protocol.UnknownTopicOrPartition
			break
		}
		a.Leader, a.LeaderEpoch, a.ISR = p.state.Leader, p.state.LeaderEpoch, p.state.ISR
		if a.Leader == protocol.NoLeader {
			a.Error = protocol.LeaderNotAvailable
		}
	}
	return a
}

// describe answers from the controller's own memory, unchecked as well.
func (c *Controller) describe(r *protocol.ClusterRequest) *protocol.ClusterResponse {
	a := &protocol.ClusterResponse{Offset: protocol.NoOffset, Controller: string(nodeOf(c.activeID))}
	if !c.active {
		a.Error = protocol.NotController
		return a
	}
	a.Brokers = c.cluster.live
	for _, p := range c.cluster.partitions {
		if !p.known || !r.Wants(p.id.Topic) {
			continue
		}
		b := protocol.Belief{
			Partition: p.id, Leader: p.state.Leader, LeaderEpoch: p.state.LeaderEpoch, Replicas: p.replicas, ISR: p.state.ISR,
		}
		if b.Leader == protocol.NoLeader {
			b.Error = protocol.LeaderNotAvailable
		}
		a.Partitions = append(a.Partitions, b)
	}
	slices.SortFunc(a.Partitions, func(x, y protocol.Belief) int { return x.Partition.Compare(y.Partition) })
	return a
}
