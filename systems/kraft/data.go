package kraft

import (
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// lead finds a partition that this broker leads, as far as its role store knows,
// in the leader epoch that a client believes in (KIP-320).
func (b *Broker) lead(name protocol.Partition, epoch int32) (*partition, protocol.Code) {
	p := b.roles.byName[name]
	switch {
	case !b.Serving():
		return nil, BrokerNotAvailable
	case p == nil:
		if b.image.Partition(name) == nil {
			return nil, protocol.UnknownTopicOrPartition
		}
		return nil, protocol.NotLeaderOrFollower
	case epoch >= 0 && epoch < p.state.LeaderEpoch:
		return p, protocol.FencedLeaderEpoch
	case epoch > p.state.LeaderEpoch:
		return p, protocol.UnknownLeaderEpoch
	case !p.leads():
		return p, protocol.NotLeaderOrFollower
	}
	return p, protocol.None
}

// produce appends a value. With acks=all the answer waits for the high watermark;
// RequestTimedOut says that the value was appended and its fate is not known.
func (b *Broker) produce(m *protocol.ProduceRequest, reply func(node.Message)) {
	p, code := b.lead(m.Partition, m.LeaderEpoch)
	if code == protocol.None && m.AcksAll && len(p.state.ISR) < b.cfg.MinISR {
		code = protocol.NotEnoughReplicas
	}
	if code != protocol.None {
		reply(&protocol.ProduceResponse{Error: code, Offset: -1, LeaderEpoch: p.leaderEpoch()})
		return
	}
	offset, err := p.append(m.Value)
	if err != nil {
		b.err = err
		return
	}
	if m.AcksAll {
		p.waiting = append(p.waiting, produced{offset, p.state.LeaderEpoch, reply})
	} else {
		reply(&protocol.ProduceResponse{Offset: offset, LeaderEpoch: p.state.LeaderEpoch})
	}
	p.advance()
}

// fetch serves a client what is below the high watermark. A leader that was
// deposed and does not know it serves what it has.
func (b *Broker) fetch(m *protocol.FetchRequest, reply func(node.Message)) {
	p, code := b.lead(m.Partition, m.LeaderEpoch)
	if code != protocol.None {
		reply(&protocol.FetchResponse{Error: code, HighWatermark: -1, LeaderEpoch: p.leaderEpoch()})
		return
	}
	from := m.Offset
	if from == protocol.LatestOffset {
		if p.hw < p.start {
			reply(&protocol.FetchResponse{Error: protocol.OffsetNotAvailable, HighWatermark: -1, LeaderEpoch: p.state.LeaderEpoch})
			return
		}
		from = p.hw - 1
	}
	reply(&protocol.FetchResponse{Values: p.values(from), HighWatermark: p.hw, LeaderEpoch: p.state.LeaderEpoch})
}

// leaderEpoch is the leader epoch in the role store, -1 where there is no such
// partition.
func (p *partition) leaderEpoch() int32 {
	if p == nil {
		return -1
	}
	return p.state.LeaderEpoch
}
