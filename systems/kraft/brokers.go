package kraft

import (
	"slices"

	"github.com/stalemate-io/stalemate/systems/kraft/metadata"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// register gives a broker an epoch. Another incarnation of a broker whose
// session is still valid is refused, for the earlier one may still be running.
func (a *active) register(m *BrokerRegistrationRequest, reply func(node.Message)) {
	b := a.image.Broker(m.Broker)
	answer := func(epoch int64) func(bool) {
		return func(committed bool) {
			if !committed {
				reply(&BrokerRegistrationResponse{Error: protocol.NotController})
				return
			}
			reply(&BrokerRegistrationResponse{Epoch: epoch})
		}
	}
	if b != nil && b.Incarnation == m.Incarnation {
		a.touch(m.Broker)
		a.whenCommitted(b.Epoch+1, answer(b.Epoch))
		return
	}
	if b != nil && a.c.env.Now()-a.sessions[m.Broker] < a.c.cfg.SessionTimeout {
		reply(&BrokerRegistrationResponse{Error: DuplicateBrokerRegistration})
		return
	}
	if b != nil && !b.Fenced {
		a.fence(b.ID)
	}
	if a.over() {
		return
	}
	a.touch(m.Broker)
	epoch := a.image.Offset
	a.write([]metadata.Record{&metadata.RegisterBroker{Broker: m.Broker, Incarnation: m.Incarnation}}, answer(epoch))
	a.c.env.Trace(node.Trace{What: "registered", Peer: BrokerNode(m.Broker), Version: epoch})
}

// heartbeat keeps a session alive and unfences a broker that has applied the log
// up to its own registration. Kafka asks for no more, so a broker that was fenced
// and comes back serves again before it has heard that others lead now. With
// self-fencing that would undo what it waited for, so there the broker has to have
// applied its own fencing too.
func (a *active) heartbeat(m *BrokerHeartbeatRequest, reply func(node.Message)) {
	b := a.image.Broker(m.Broker)
	if b == nil || b.Epoch != m.Epoch && a.c.cfg.Guards.BrokerEpoch {
		reply(&BrokerHeartbeatResponse{Error: protocol.StaleBrokerEpoch})
		return
	}
	a.touch(m.Broker)
	caughtUp := m.Applied > b.Epoch
	if a.c.cfg.Guards.SelfFencing {
		caughtUp = caughtUp && m.Applied >= a.fencedAt[b.ID]
	}
	if !b.Fenced || !caughtUp || m.WantFence {
		reply(&BrokerHeartbeatResponse{CaughtUp: caughtUp, Fenced: b.Fenced})
		return
	}
	a.c.env.Trace(node.Trace{What: "unfenced", Peer: BrokerNode(m.Broker), Version: a.image.Offset})
	a.unfence(b, func(committed bool) {
		if !committed {
			reply(&BrokerHeartbeatResponse{Error: protocol.NotController})
			return
		}
		reply(&BrokerHeartbeatResponse{CaughtUp: true})
	})
}

func (a *active) touch(broker int32) { a.sessions[broker] = a.c.env.Now() }

// unfence lets a broker lead and be in sync again, and gives the partitions that
// nobody leads and that it is in sync with to it.
func (a *active) unfence(b *metadata.Broker, done func(bool)) {
	records := []metadata.Record{&metadata.BrokerChange{Broker: b.ID, Epoch: b.Epoch, Fenced: false}}
	for _, p := range a.image.Partitions() {
		s := a.image.Partition(p)
		if s.Leader == metadata.NoLeader && slices.Contains(s.ISR, b.ID) {
			leader := b.ID
			records = append(records, &metadata.PartitionChange{Topic: s.TopicID, Index: p.Index, Leader: &leader})
		}
	}
	a.write(records, done)
}

// fence takes a broker out of the in-sync replicas, has others lead what it led,
// and marks it. The last in-sync replica stays one: only it can have everything.
func (a *active) fence(id int32) {
	b := a.image.Broker(id)
	var records []metadata.Record
	for _, p := range a.image.Partitions() {
		s := a.image.Partition(p)
		if s.Leader != id && !slices.Contains(s.ISR, id) {
			continue
		}
		change := &metadata.PartitionChange{Topic: s.TopicID, Index: p.Index}
		isr := without(s.ISR, id)
		if len(isr) > 0 && len(isr) < len(s.ISR) {
			change.ISR = isr
		}
		if s.Leader == id {
			leader := a.choose(s.Replicas, isr, id)
			change.Leader = &leader
		}
		if change.ISR != nil || change.Leader != nil {
			records = append(records, change)
		}
	}
	records = append(records, &metadata.BrokerChange{Broker: id, Epoch: b.Epoch, Fenced: true})
	a.c.env.Trace(node.Trace{What: "fenced", Peer: BrokerNode(id), Version: a.image.Offset})
	a.write(records, nil)
	a.fencedAt[id] = a.image.Offset
}

// choose picks the first replica in assignment order that is in sync and not
// fenced, other than one that is about to be.
func (a *active) choose(replicas, isr []int32, not int32) int32 {
	for _, r := range replicas {
		if r != not && slices.Contains(isr, r) && a.image.Active(r) {
			return r
		}
	}
	return metadata.NoLeader
}

// expireSessions fences the brokers that have not been heard from.
func (a *active) expireSessions() {
	now := a.c.env.Now()
	var expired []int32
	for _, b := range a.image.Brokers() {
		if !b.Fenced && now-a.sessions[b.ID] >= a.c.cfg.SessionTimeout {
			expired = append(expired, b.ID)
		}
	}
	for _, id := range expired {
		if !a.over() {
			a.fence(id)
		}
	}
}

// createTopics creates the configured topics that do not exist, spread over the
// brokers that are active, once all are or enough have been waited for.
func (a *active) createTopics() {
	if len(a.image.Topics()) >= len(a.c.cfg.Topics) {
		return
	}
	var alive []int32
	for _, id := range a.c.cfg.Brokers {
		if a.image.Active(id) {
			alive = append(alive, id)
		}
	}
	all := len(alive) == len(a.c.cfg.Brokers)
	if !all && a.c.env.Now()-a.since < a.c.cfg.TopicWait {
		return
	}
	for len(a.image.Topics()) < len(a.c.cfg.Topics) {
		t := a.c.cfg.Topics[len(a.image.Topics())]
		if len(alive) < t.Replication || a.over() {
			return
		}
		id := uint32(len(a.image.Topics()))
		records := []metadata.Record{&metadata.Topic{ID: id, Name: t.Name}}
		for i := range t.Partitions {
			replicas := make([]int32, t.Replication)
			for j := range replicas {
				replicas[j] = alive[(i+j)%len(alive)]
			}
			records = append(records, &metadata.Partition{
				Topic: id, Index: int32(i), Replicas: replicas, ISR: replicas, Leader: replicas[0],
			})
		}
		a.write(records, nil)
	}
}

// without gives a list of brokers without one of them.
func without(ids []int32, id int32) []int32 {
	out := make([]int32, 0, len(ids))
	for _, i := range ids {
		if i != id {
			out = append(out, i)
		}
	}
	return out
}
