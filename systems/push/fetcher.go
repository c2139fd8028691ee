package push

import (
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// fetcher follows one leader for all partitions that it leads and this broker
// follows, one fetch at a time.
type fetcher struct {
	leader   int32
	replicas []*replica
	// turn counts the fetches sent; the answer to any but the last is void.
	turn uint64
	// dirty asks for a new fetch although one is under way, since partitions
	// were added.
	dirty bool
	idle  bool
	timer node.Timer
}

func (b *Broker) follow(p *replica) {
	p.retryAt = 0
	for _, f := range b.fetchers {
		if f.leader == p.leader {
			f.replicas = append(f.replicas, p)
			f.dirty = true
			return
		}
	}
	b.fetchers = append(b.fetchers, &fetcher{leader: p.leader, replicas: []*replica{p}, dirty: true, idle: true})
}

func (b *Broker) unfollow(p *replica) {
	for _, f := range b.fetchers {
		for i, q := range f.replicas {
			if q == p {
				f.replicas = append(f.replicas[:i], f.replicas[i+1:]...)
				break
			}
		}
	}
}

// runFetchers sends fetches where partitions were added.
func (b *Broker) runFetchers() {
	for _, f := range b.fetchers {
		if f.dirty {
			b.sendFetch(f)
		}
	}
}

func (b *Broker) sendFetch(f *fetcher) {
	f.dirty, f.idle = false, false
	f.turn++
	if f.timer != nil {
		f.timer.Stop()
		f.timer = nil
	}
	now := b.env.Now()
	r := &ReplicaFetchRequest{Replica: b.id, BrokerEpoch: b.epoch}
	for _, p := range f.replicas {
		if p.retryAt <= now {
			r.Partitions = append(r.Partitions, ReplicaFetch{
				Partition: p.id, Offset: p.log.end(), LeaderEpoch: p.leaderEpoch, LastFetchedEpoch: p.log.lastEpoch(),
			})
		}
	}
	if len(r.Partitions) == 0 {
		if f.idle = len(f.replicas) == 0; !f.idle {
			b.fetchLater(f)
		}
		return
	}
	turn := f.turn
	b.env.Call(nodeOf(f.leader), r, b.cfg.FetchTimeout, func(m node.Message, err error) {
		if f.turn != turn {
			return
		}
		answer, ok := m.(*ReplicaFetchResponse)
		if err != nil || !ok {
			b.fetchLater(f)
			return
		}
		for i := range answer.Partitions {
			b.takeFetched(f, r, &answer.Partitions[i])
		}
		b.sendFetch(f)
	})
}

// fetchLater fetches after the back-off.
func (b *Broker) fetchLater(f *fetcher) {
	f.timer = b.env.After(b.cfg.FetchBackoff, func() { b.sendFetch(f) })
}

// takeFetched applies a leader's answer on one partition, unless the replica
// has got another role since it asked.
func (b *Broker) takeFetched(f *fetcher, r *ReplicaFetchRequest, a *ReplicaFetchResult) {
	p := b.byID[a.Partition]
	if p == nil || p.role != follows || p.leader != f.leader {
		return
	}
	for i := range r.Partitions {
		q := &r.Partitions[i]
		if q.Partition == a.Partition && (q.LeaderEpoch != p.leaderEpoch || q.Offset != p.log.end()) {
			return
		}
	}
	switch {
	case a.Error != protocol.None:
		p.retryAt = b.env.Now() + b.cfg.FetchBackoff
		return
	case a.Diverging:
		b.truncateTo(p, a)
		return
	}
	if len(a.Records) > 0 {
		p.log.append(a.Records...)
		b.sync()
	}
	p.highWatermark = max(p.highWatermark, min(a.HighWatermark, p.log.end()))
}

// truncateTo cuts a follower's log where the leader says that the two diverge:
// at the end of the epoch both have, whichever of the two ends is the lower.
func (b *Broker) truncateTo(p *replica, a *ReplicaFetchResult) {
	end := a.DivergingEnd
	if b.cfg.Guards.EpochTruncation {
		epoch, own := p.log.endOf(a.DivergingEpoch)
		if epoch == a.DivergingEpoch {
			end = min(end, own)
		} else {
			end = own
		}
	}
	b.truncate(p, end)
}
