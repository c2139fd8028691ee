package kraft

import (
	"time"

	"github.com/stalemate-io/stalemate/systems/kraft/epochlog"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// replicaBackoff is the pause after a fetch from a partition leader that failed,
// and replicaTimeout how long beyond FetchMaxWait one may take.
const (
	replicaBackoff = 100 * time.Millisecond
	replicaTimeout = 500 * time.Millisecond
)

// fetchFrom fetches everything that this broker follows at one leader, again and
// again for as long as there is anything.
func (r *roles) fetchFrom(leader int32) {
	request := &ReplicaFetchRequest{Broker: r.b.id, BrokerEpoch: r.b.epoch}
	for _, p := range r.hosted {
		if p.state.Leader == leader {
			request.Partitions = append(request.Partitions, ReplicaPosition{
				Partition: p.state.Partition, LeaderEpoch: p.state.LeaderEpoch,
				Offset: p.log.End(), LastEpoch: p.log.LastEpoch(),
			})
		}
	}
	if len(request.Partitions) == 0 || r.b.err != nil {
		delete(r.fetchers, leader)
		return
	}
	again := func() { r.fetchFrom(leader) }
	later := func() { r.b.env.After(replicaBackoff, again) }
	r.b.env.Call(BrokerNode(leader), request, r.b.cfg.FetchMaxWait+replicaTimeout, func(m node.Message, err error) {
		a, ok := m.(*ReplicaFetchResponse)
		if err != nil || !ok || a.Error != protocol.None {
			later()
			return
		}
		refused := false
		for i := range a.Partitions {
			if r.take(leader, &a.Partitions[i]) != protocol.None {
				refused = true
			}
		}
		switch {
		case refused:
			later()
		case r.b.cfg.Guards.DataFlush && len(a.Partitions) > 0:
			r.b.env.Disk().Sync(again)
		default:
			again()
		}
	})
}

// take appends what a leader sent for one partition, or truncates.
func (r *roles) take(leader int32, d *ReplicaData) protocol.Code {
	p := r.byName[d.Partition]
	if p == nil || p.state.Leader != leader || p.state.LeaderEpoch != d.LeaderEpoch || p.log.End() != d.Offset {
		// The role has changed since the fetch, or the partition was taken
		// away and given back, with an empty log.
		return protocol.None
	}
	if d.Error != protocol.None {
		return d.Error
	}
	if d.Diverging != nil {
		p.log.Truncate(p.log.TruncationPoint(*d.Diverging))
		p.hw = min(p.hw, p.log.End())
		return protocol.None
	}
	for _, b := range d.Batches {
		if err := p.log.Append(b); err != nil {
			r.b.err = err
			return protocol.None
		}
	}
	p.hw = max(p.hw, min(d.HighWatermark, p.log.End()))
	return protocol.None
}

// parkedFetch is a follower's fetch that found nothing and waits.
type parkedFetch struct {
	request *ReplicaFetchRequest
	reply   func(node.Message)
	timer   node.Timer
}

// replicaFetch serves a follower, and takes the offsets that it fetches from for
// its acknowledgement of everything before.
func (b *Broker) replicaFetch(m *ReplicaFetchRequest, reply func(node.Message)) {
	r := &b.roles
	r.unpark(func(w *parkedFetch) bool { return w.request.Broker == m.Broker })
	if a := r.serve(m, true); len(a.Partitions) > 0 {
		reply(a)
		return
	}
	w := &parkedFetch{request: m, reply: reply}
	w.timer = b.env.After(b.cfg.FetchMaxWait, func() {
		r.unpark(func(o *parkedFetch) bool { return o == w })
	})
	r.parked = append(r.parked, w)
}

// serve collects what there is to say on a fetch. With patience it says nothing
// of partitions that have nothing new.
func (r *roles) serve(m *ReplicaFetchRequest, patience bool) *ReplicaFetchResponse {
	a := &ReplicaFetchResponse{}
	for i := range m.Partitions {
		q := &m.Partitions[i]
		d := ReplicaData{Partition: q.Partition, LeaderEpoch: q.LeaderEpoch, Offset: q.Offset}
		p, code := r.b.lead(q.Partition, q.LeaderEpoch)
		if code != protocol.None {
			d.Error = code
			a.Partitions = append(a.Partitions, d)
			continue
		}
		if match, at := p.log.Match(q.Offset, q.LastEpoch); match == epochlog.Diverges {
			d.Diverging = &at
			a.Partitions = append(a.Partitions, d)
			continue
		}
		if patience {
			p.acknowledge(m.Broker, m.BrokerEpoch, q.Offset)
		}
		if q.Offset < p.log.End() {
			d.Batches = p.log.From(q.Offset, maxFetch)
		} else if patience {
			continue
		}
		d.HighWatermark = p.hw
		a.Partitions = append(a.Partitions, d)
	}
	return a
}

// wake answers the fetches that wait for a partition.
func (r *roles) wake(name protocol.Partition) {
	r.unpark(func(w *parkedFetch) bool {
		for i := range w.request.Partitions {
			if w.request.Partitions[i].Partition == name {
				return true
			}
		}
		return false
	})
}

// unpark answers the waiting fetches that are due.
func (r *roles) unpark(due func(*parkedFetch) bool) {
	var ready []*parkedFetch
	waiting := r.parked[:0]
	for _, w := range r.parked {
		if due(w) {
			ready = append(ready, w)
		} else {
			waiting = append(waiting, w)
		}
	}
	r.parked = waiting
	for _, w := range ready {
		w.timer.Stop()
		w.reply(r.serve(w.request, false))
	}
}
