package kraft

import (
	"slices"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// acknowledge notes where a follower's copy ends, and asks for it to be in sync
// once it has everything up to the high watermark and to the leader's start.
func (p *partition) acknowledge(id int32, brokerEpoch, offset int64) {
	f := p.follower(id)
	if f == nil {
		return
	}
	now, end := p.b.env.Now(), p.log.End()
	switch {
	case offset >= end:
		f.caughtUp = now
	case offset >= f.leaderEnd:
		f.caughtUp = max(f.caughtUp, f.fetchedAt)
	}
	f.brokerEpoch, f.end, f.fetchedAt, f.leaderEnd = brokerEpoch, offset, now, end
	p.advance()
	if p.pending == nil && !slices.Contains(p.state.ISR, id) && offset >= max(p.hw, p.start) && p.b.knows(id, brokerEpoch) {
		p.alter(append(p.inSync(nil), InSync{id, brokerEpoch}))
	}
}

// knows reports whether a broker is registered in this incarnation and not fenced,
// to this one's knowledge.
func (b *Broker) knows(id int32, epoch int64) bool {
	r := b.image.Broker(id)
	return r != nil && !r.Fenced && (r.Epoch == epoch || !b.cfg.Guards.BrokerEpoch)
}

// inSync lists the in-sync replicas but for those to leave out, in the
// incarnations that this leader knows.
func (p *partition) inSync(out []int32) []InSync {
	var list []InSync
	for _, id := range p.state.ISR {
		if slices.Contains(out, id) {
			continue
		}
		epoch := p.b.epoch
		if id != p.b.id {
			epoch = -1
			if f := p.follower(id); f != nil {
				epoch = f.brokerEpoch
			}
		}
		list = append(list, InSync{id, epoch})
	}
	return list
}

// shrink asks for the followers that are behind to be taken out.
func (p *partition) shrink() {
	if p.pending != nil {
		return
	}
	now := p.b.env.Now()
	var out []int32
	for _, f := range p.followers {
		behind := now-f.caughtUp > p.b.cfg.ReplicaLagTime && f.end < p.log.End()
		if behind && slices.Contains(p.state.ISR, f.id) {
			out = append(out, f.id)
		}
	}
	if out != nil {
		p.alter(p.inSync(out))
	}
}

// alter asks the active controller for other in-sync replicas, until it answers
// or the partition changes.
func (p *partition) alter(isr []InSync) {
	p.pending = isr
	s := p.state
	current := func() bool { return p.state == s && p.pending != nil && p.b.err == nil }
	var ask func()
	again := func() { p.b.env.After(p.b.cfg.retryInterval(), ask) }
	ask = func() {
		if !current() {
			return
		}
		to := p.b.replica.Standing().Leader
		if to == "" {
			again()
			return
		}
		request := &AlterPartitionRequest{
			Broker: p.b.id, BrokerEpoch: p.b.epoch, Partition: s.Partition,
			LeaderEpoch: s.LeaderEpoch, PartitionEpoch: s.PartitionEpoch, ISR: isr,
		}
		p.b.env.Call(to, request, p.b.cfg.SessionTimeout/2, func(m node.Message, err error) {
			a, ok := m.(*AlterPartitionResponse)
			switch {
			case !current():
			case err != nil || !ok || a.Error == protocol.NotController:
				again()
			case a.Error == IneligibleReplica:
				p.pending = nil // certainly not granted
				p.advance()
			case a.Error != protocol.None:
				// The log will say what has changed. It may be that an
				// earlier copy of this request was granted (KAFKA-14144), so
				// those asked for count until then.
			case a.LeaderEpoch == s.LeaderEpoch:
				granted := *s
				granted.PartitionEpoch, granted.ISR = a.PartitionEpoch, a.ISR
				p.become(&granted)
			}
		})
	}
	ask()
}
