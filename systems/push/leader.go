package push

import (
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// maxRecords bounds the records of one answer.
const maxRecords = 512

// compareEpoch compares the leader epoch that a request names with the
// replica's own (KIP-320). A negative one asks for no comparison.
func (b *Broker) compareEpoch(p *replica, epoch int32) protocol.Code {
	switch {
	case epoch < 0 || epoch == p.leaderEpoch:
		return protocol.None
	case !b.cfg.Guards.FetchLeaderEpoch:
		b.env.Trace(node.Trace{
			What: TraceEpochMismatch, Key: p.key, Leader: b.id, Epoch: p.leaderEpoch, Version: int64(epoch),
		})
		return protocol.None
	case epoch < p.leaderEpoch:
		return protocol.FencedLeaderEpoch
	}
	return protocol.UnknownLeaderEpoch
}

// leading gives the replica of a partition that the broker leads, as far as it
// knows. It asks nobody: a leader that was deposed and has not heard of it
// serves on.
func (b *Broker) leading(id protocol.Partition, epoch int32) (*replica, protocol.Code) {
	p := b.byID[id]
	if p == nil || p.role != leads {
		return p, protocol.NotLeaderOrFollower
	}
	return p, b.compareEpoch(p, epoch)
}

// produce appends a value. With acks=1 the leader's own append is enough; with
// acks=all the answer waits until all in-sync replicas have it.
func (b *Broker) produce(r *protocol.ProduceRequest, reply func(*protocol.ProduceResponse)) {
	p, code := b.leading(r.Partition, r.LeaderEpoch)
	if code == protocol.None && r.AcksAll && len(p.isr) < b.cfg.MinInsyncReplicas {
		code = protocol.NotEnoughReplicas
	}
	if code != protocol.None {
		a := &protocol.ProduceResponse{Error: code, Offset: -1, LeaderEpoch: noEpoch}
		if p != nil {
			a.LeaderEpoch = p.leaderEpoch
		}
		reply(a)
		return
	}
	offset := p.log.end()
	p.log.append(Record{Epoch: p.leaderEpoch, Value: r.Value})
	b.sync()
	if r.AcksAll {
		p.producers = append(p.producers, producer{offset, reply})
	} else {
		reply(&protocol.ProduceResponse{Offset: offset, LeaderEpoch: p.leaderEpoch})
	}
	b.advance(p)
	b.wake(p)
}

// fetch reads up to the high watermark.
func (b *Broker) fetch(r *protocol.FetchRequest) *protocol.FetchResponse {
	p, code := b.leading(r.Partition, r.LeaderEpoch)
	if code != protocol.None {
		a := &protocol.FetchResponse{Error: code, HighWatermark: -1, LeaderEpoch: noEpoch}
		if p != nil {
			a.LeaderEpoch = p.leaderEpoch
		}
		return a
	}
	a := &protocol.FetchResponse{HighWatermark: p.highWatermark, LeaderEpoch: p.leaderEpoch}
	from := max(r.Offset, 0)
	if r.Offset == protocol.LatestOffset {
		if p.highWatermark < p.epochStart {
			return &protocol.FetchResponse{Error: protocol.OffsetNotAvailable, HighWatermark: -1, LeaderEpoch: p.leaderEpoch}
		}
		from = max(p.highWatermark-1, 0)
	}
	end := min(p.highWatermark, from+maxRecords)
	for o := from; o < end; o++ {
		a.Values = append(a.Values, p.log.records[o].Value)
	}
	return a
}

// advance raises the high watermark to what all in-sync replicas have, where
// those count that are asked for and not yet granted too, and answers the
// producers that waited for it.
func (b *Broker) advance(p *replica) {
	if p.role != leads {
		return
	}
	all := p.log.end()
	for i := range p.followers {
		f := &p.followers[i]
		if contains(p.isr, f.id) || contains(p.wanted, f.id) {
			all = min(all, f.end)
		}
	}
	if all <= p.highWatermark {
		return
	}
	p.highWatermark = all
	n := 0
	for n < len(p.producers) && p.producers[n].offset < all {
		n++
	}
	ready := p.producers[:n]
	p.producers = p.producers[n:]
	for _, w := range ready {
		w.reply(&protocol.ProduceResponse{Offset: w.offset, LeaderEpoch: p.leaderEpoch})
	}
}

// parkedFetch is a follower's fetch held back until there is something to say.
type parkedFetch struct {
	request *ReplicaFetchRequest
	reply   func(node.Message)
	timer   node.Timer
}

// replicaFetch answers a follower. The offset it fetches from acknowledges all
// that it has.
func (b *Broker) replicaFetch(r *ReplicaFetchRequest, reply func(node.Message)) {
	for i, held := range b.parked {
		if held.request.Replica == r.Replica { // its successor is here
			b.parked = append(b.parked[:i], b.parked[i+1:]...)
			held.timer.Stop()
			held.reply(&ReplicaFetchResponse{})
			break
		}
	}
	for i := range r.Partitions {
		b.acknowledge(r.Replica, &r.Partitions[i])
	}
	if a := b.fetchAnswer(r); len(a.Partitions) > 0 {
		reply(a)
		return
	}
	held := &parkedFetch{request: r, reply: reply}
	held.timer = b.env.After(b.cfg.FetchMaxWait, func() { b.release(held) })
	b.parked = append(b.parked, held)
}

// acknowledge notes how far a follower has come.
func (b *Broker) acknowledge(id int32, f *ReplicaFetch) {
	p, code := b.leading(f.Partition, f.LeaderEpoch)
	if code != protocol.None || b.diverges(p, f) {
		return
	}
	for i := range p.followers {
		s := &p.followers[i]
		if s.id != id {
			continue
		}
		now := b.env.Now()
		switch {
		case f.Offset >= p.log.end():
			s.caughtUpAt = now
		case f.Offset >= s.leaderEnd:
			s.caughtUpAt = max(s.caughtUpAt, s.fetchedAt)
		}
		s.end, s.fetchedAt, s.leaderEnd = f.Offset, now, p.log.end()
		b.advance(p)
		b.considerExpansion(p, s)
		return
	}
}

// diverges tells whether a follower's log has records that the leader's has
// not.
func (b *Broker) diverges(p *replica, f *ReplicaFetch) bool {
	if f.Offset < 0 || f.Offset > p.log.end() {
		return true
	}
	if !b.cfg.Guards.EpochTruncation || f.LastFetchedEpoch < 0 {
		return false
	}
	epoch, end := p.log.endOf(f.LastFetchedEpoch)
	return epoch != f.LastFetchedEpoch || end < f.Offset
}

// fetchAnswer gathers what there is to say on the partitions of a fetch.
func (b *Broker) fetchAnswer(r *ReplicaFetchRequest) *ReplicaFetchResponse {
	a := &ReplicaFetchResponse{}
	for i := range r.Partitions {
		f := &r.Partitions[i]
		p, code := b.leading(f.Partition, f.LeaderEpoch)
		if code == protocol.None && !contains(p.assigned, r.Replica) {
			code = protocol.NotLeaderOrFollower
		}
		result := ReplicaFetchResult{Partition: f.Partition, Error: code}
		switch {
		case code != protocol.None:
		case b.diverges(p, f):
			result.Diverging = true
			result.DivergingEpoch, result.DivergingEnd = p.log.endOf(f.LastFetchedEpoch)
			if !b.cfg.Guards.EpochTruncation {
				result.DivergingEpoch, result.DivergingEnd = f.LastFetchedEpoch, p.log.end()
			}
		case f.Offset < p.log.end():
			end := min(p.log.end(), f.Offset+maxRecords)
			result.Records = p.log.records[f.Offset:end:end]
		default:
			continue
		}
		if p != nil {
			result.HighWatermark = p.highWatermark
		}
		a.Partitions = append(a.Partitions, result)
	}
	return a
}

// wake answers the fetches held back that ask for a partition.
func (b *Broker) wake(p *replica) {
	for i := 0; i < len(b.parked); {
		held := b.parked[i]
		if !held.asksFor(p.id) {
			i++
			continue
		}
		b.parked = append(b.parked[:i], b.parked[i+1:]...)
		held.timer.Stop()
		held.reply(b.fetchAnswer(held.request))
	}
}

func (h *parkedFetch) asksFor(id protocol.Partition) bool {
	for i := range h.request.Partitions {
		if h.request.Partitions[i].Partition == id {
			return true
		}
	}
	return false
}

// release answers a fetch whose wait is over. Followers learn the high
// watermark from it.
func (b *Broker) release(held *parkedFetch) {
	for i, h := range b.parked {
		if h != held {
			continue
		}
		b.parked = append(b.parked[:i], b.parked[i+1:]...)
		a := &ReplicaFetchResponse{}
		for j := range held.request.Partitions {
			if p, code := b.leading(held.request.Partitions[j].Partition, -1); code == protocol.None {
				a.Partitions = append(a.Partitions, ReplicaFetchResult{Partition: p.id, HighWatermark: p.highWatermark})
			}
		}
		held.reply(a)
		return
	}
}
