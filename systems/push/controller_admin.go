package push

import (
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// electLeader makes a given replica the leader of a partition.
func (c *Controller) electLeader(r *protocol.ElectLeadersRequest, reply func(node.Message), done func()) {
	p := c.cluster.byID[r.Partition]
	if p == nil || !p.known {
		reply(c.answer(outcome{code: protocol.UnknownTopicOrPartition}))
		done()
		return
	}
	b := c.newBatch()
	c.change([]*partition{p}, "elect-leaders", c.targetElection(r.Target), b, func(out []outcome) {
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
