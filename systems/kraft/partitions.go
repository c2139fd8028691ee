package kraft

import (
	"slices"

	"github.com/stalemate-io/stalemate/systems/kraft/metadata"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

func (a *active) refuseAdmin(reply func(node.Message), code protocol.Code) {
	reply(&protocol.AdminResponse{Error: code, Controller: string(a.c.env.Self())})
}

// electLeaders makes a broker that is in sync the leader.
func (a *active) electLeaders(m *protocol.ElectLeadersRequest, reply func(node.Message)) {
	s := a.image.Partition(m.Partition)
	if s == nil {
		a.refuseAdmin(reply, protocol.UnknownTopicOrPartition)
		return
	}
	leader := m.Target
	if leader == protocol.NoLeader {
		leader = s.Replicas[0]
	}
	switch {
	case s.Leader == leader:
		a.refuseAdmin(reply, protocol.ElectionNotNeeded)
	case !slices.Contains(s.ISR, leader) || !a.image.Active(leader):
		a.refuseAdmin(reply, protocol.EligibleLeadersNotAvail)
	default:
		a.change(s, &metadata.PartitionChange{Leader: &leader}, reply)
	}
}

// change writes a change to a partition for a client, and answers with the
// partition's state once that is committed. A controller that is deposed
// meanwhile cannot tell what becomes of the change: the outcome is unknown.
func (a *active) change(s *metadata.PartitionState, c *metadata.PartitionChange, reply func(node.Message)) {
	p := s.Partition
	c.Topic, c.Index = s.TopicID, p.Index
	a.write([]metadata.Record{c}, func(committed bool) {
		if !committed {
			reply(&protocol.AdminResponse{Error: protocol.RequestTimedOut, Controller: a.c.leader()})
			return
		}
		s := a.c.image.Partition(p) // just now this change's
		reply(&protocol.AdminResponse{
			Leader: s.Leader, LeaderEpoch: s.LeaderEpoch, Version: s.Offset, Controller: string(a.c.env.Self()),
		})
	})
}

// reassign begins to move a partition to other brokers, and completes it at once
// where they are all in sync already. Otherwise the leader's AlterPartition that
// brings the last of them in sync completes it.
func (a *active) reassign(m *protocol.AlterReassignmentRequest, reply func(node.Message)) {
	s := a.image.Partition(m.Partition)
	if s == nil {
		a.refuseAdmin(reply, protocol.UnknownTopicOrPartition)
		return
	}
	for i, r := range m.Replicas {
		if a.image.Broker(r) == nil || slices.Contains(m.Replicas[:i], r) {
			a.refuseAdmin(reply, InvalidReplicaAssignment)
			return
		}
	}
	if len(m.Replicas) == 0 {
		a.refuseAdmin(reply, InvalidReplicaAssignment)
		return
	}
	c := &metadata.PartitionChange{Replicas: slices.Clone(s.Replicas), Target: slices.Clone(m.Replicas)}
	for _, r := range m.Replicas {
		if !slices.Contains(c.Replicas, r) {
			c.Replicas = append(c.Replicas, r)
		}
	}
	a.complete(s, c, s.ISR)
	a.change(s, c, reply)
}

// complete ends a reassignment with a change after which all its targets are in
// sync: the others go, and the first target that can leads.
func (a *active) complete(s *metadata.PartitionState, c *metadata.PartitionChange, isr []int32) {
	target := s.Target
	if c.Target != nil {
		target = c.Target
	}
	if len(target) == 0 {
		return
	}
	for _, r := range target {
		if !slices.Contains(isr, r) {
			return
		}
	}
	c.Replicas, c.Target = target, []int32{}
	c.ISR = []int32{}
	for _, r := range isr {
		if slices.Contains(target, r) {
			c.ISR = append(c.ISR, r)
		}
	}
	leader := a.choose(target, c.ISR, metadata.NoLeader)
	removed := slices.ContainsFunc(s.Replicas, func(r int32) bool { return !slices.Contains(target, r) })
	if leader != s.Leader || removed {
		// A new leader epoch even for the same leader: a replica that goes
		// deletes its log, and until it has heard of that it must not be
		// taken for one that is in sync, should it be given back meanwhile.
		c.Leader = &leader
	}
}

// alterPartition changes the in-sync replicas for a partition's leader. What the
// leader knows must be what the controller has: its own incarnation, the leader
// epoch, the partition epoch, and the incarnations it believes in sync.
func (a *active) alterPartition(m *AlterPartitionRequest, reply func(node.Message)) {
	s := a.image.Partition(m.Partition)
	if code := a.checkAlter(m, s); code != protocol.None {
		a.c.env.Trace(node.Trace{What: "alter-refused", Key: m.Partition.String(), Peer: BrokerNode(m.Broker), Epoch: m.LeaderEpoch, Why: string(code)})
		reply(&AlterPartitionResponse{Error: code})
		return
	}
	isr := make([]int32, len(m.ISR))
	for i, r := range m.ISR {
		isr[i] = r.Broker
	}
	c := &metadata.PartitionChange{Topic: s.TopicID, Index: m.Partition.Index, ISR: isr}
	a.complete(s, c, isr)
	a.write([]metadata.Record{c}, func(committed bool) {
		if !committed {
			reply(&AlterPartitionResponse{Error: protocol.NotController})
			return
		}
		s := a.c.image.Partition(m.Partition)
		reply(&AlterPartitionResponse{Leader: s.Leader, LeaderEpoch: s.LeaderEpoch, PartitionEpoch: s.PartitionEpoch, ISR: s.ISR})
	})
}

// checkAlter is the order of checks of ReplicationControlManager.
func (a *active) checkAlter(m *AlterPartitionRequest, s *metadata.PartitionState) protocol.Code {
	byEpoch := a.c.cfg.Guards.BrokerEpoch
	b := a.image.Broker(m.Broker)
	switch {
	case b == nil || byEpoch && b.Epoch != m.BrokerEpoch:
		return protocol.StaleBrokerEpoch
	case s == nil:
		return protocol.UnknownTopicOrPartition
	case m.LeaderEpoch > s.LeaderEpoch || m.PartitionEpoch > s.PartitionEpoch:
		return protocol.NotController // the leader knows more than we do
	case m.LeaderEpoch < s.LeaderEpoch:
		return protocol.FencedLeaderEpoch
	case m.PartitionEpoch < s.PartitionEpoch:
		return protocol.InvalidUpdateVersion
	case m.Broker != s.Leader:
		return protocol.NotLeaderOrFollower
	}
	for _, r := range m.ISR {
		member := a.image.Broker(r.Broker)
		switch {
		case member == nil || member.Fenced || !slices.Contains(s.Replicas, r.Broker):
			return IneligibleReplica
		case byEpoch && r.BrokerEpoch >= 0 && r.BrokerEpoch != member.Epoch:
			return IneligibleReplica
		}
	}
	if !slices.ContainsFunc(m.ISR, func(r InSync) bool { return r.Broker == m.Broker }) {
		return IneligibleReplica
	}
	return protocol.None
}
