package push

import (
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// role is what a broker does for a partition.
type role uint8

const (
	noRole role = iota
	leads
	follows
)

// noEpoch is the leader epoch of a replica that has been told nothing yet.
const noEpoch int32 = -1

// replica is a broker's part in one partition: what LeaderAndIsr told it, and
// its log.
type replica struct {
	id              protocol.Partition
	key             string
	role            role
	leader          int32
	leaderEpoch     int32
	controllerEpoch int32
	version         int32
	assigned        []int32
	isr             []int32
	log             *partitionLog
	// highWatermark is the offset up to which all in-sync replicas are known
	// to have the log.
	highWatermark int64

	// As leader:
	epochStart int64      // end of the log when leadership began
	followers  []follower // the other replicas, in the order of the assignment
	wanted     []int32    // the in-sync set asked for and not yet granted; nil if none
	refused    bool       // the controller knows better; nothing to do but wait
	producers  []producer // waiting for the high watermark, by offset
	// As follower:
	retryAt time.Duration // not to be fetched before
}

// follower is what a leader knows of another replica.
type follower struct {
	id         int32
	end        int64         // of its log, as its last fetch said; -1 before the first
	caughtUpAt time.Duration // when it last had all there was
	fetchedAt  time.Duration
	leaderEnd  int64 // end of the leader's log at that fetch
}

type producer struct {
	offset int64
	reply  func(*protocol.ProduceResponse)
}

// replica gives the broker's replica of a partition, made where missing.
func (b *Broker) replica(id protocol.Partition) *replica {
	r := b.byID[id]
	if r == nil {
		key := id.String()
		r = &replica{
			id: id, key: key, leader: protocol.NoLeader, leaderEpoch: noEpoch, version: -1,
			log: openLog(b.env.Disk(), key),
		}
		b.byID[id] = r
		b.replicas = append(b.replicas, r)
	}
	return r
}

// Role gives what the broker itself does for a partition: whether it acts as
// leader, whom it takes for the leader, and in which epoch.
func (b *Broker) Role(p protocol.Partition) (leading bool, leader, leaderEpoch int32) {
	r := b.byID[p]
	if r == nil {
		return false, protocol.NoLeader, noEpoch
	}
	return r.role == leads, r.leader, r.leaderEpoch
}

// leaderAndISR takes over roles. A partition whose leader epoch is not above
// the broker's own is ignored.
func (b *Broker) leaderAndISR(from node.ID, r *LeaderAndISRRequest) *LeaderAndISRResponse {
	if code := b.gate(from, &r.Header, kindLeaderAndISR); code != protocol.None {
		return &LeaderAndISRResponse{Error: code}
	}
	answer := &LeaderAndISRResponse{Partitions: make([]protocol.Code, len(r.Partitions))}
	for i := range r.Partitions {
		s := &r.Partitions[i]
		p := b.replica(s.Partition)
		if why := b.ignores(p, s); why != "" {
			b.traceState(TracePushRefused, from, &r.Header, p.key, s, kindLeaderAndISR+": "+why)
			answer.Partitions[i] = protocol.StaleControllerEpoch
			continue
		}
		if s.Leader != b.id && !contains(b.cache.alive, s.Leader) {
			// The role stays as it was, and the controller is none the wiser.
			b.traceState(TracePushRefused, from, &r.Header, p.key, s, kindLeaderAndISR+": "+WhyLeaderNotAlive)
			continue
		}
		p.leader, p.leaderEpoch, p.version = s.Leader, s.LeaderEpoch, s.Version
		p.controllerEpoch, p.assigned, p.isr = s.ControllerEpoch, s.Replicas, s.ISR
		if s.Leader == b.id {
			b.becomeLeader(p)
		} else {
			b.becomeFollower(p)
		}
		b.traceState(TracePushApplied, from, &r.Header, p.key, s, kindLeaderAndISR)
	}
	b.runFetchers()
	return answer
}

// ignores says why a role is not taken over; empty if it is.
func (b *Broker) ignores(p *replica, s *PartitionState) string {
	switch {
	case !b.cfg.Guards.LeaderEpochCheck:
		return ""
	case s.LeaderEpoch < p.leaderEpoch:
		return WhyStaleLeaderEpoch
	case s.LeaderEpoch == p.leaderEpoch:
		return WhySameLeaderEpoch
	case s.Version < p.version:
		return WhyStalePartitionEpoch
	}
	return ""
}

func (b *Broker) becomeLeader(p *replica) {
	b.unfollow(p)
	p.role, p.wanted, p.refused = leads, nil, false
	p.epochStart = p.log.end()
	p.log.beginEpoch(p.leaderEpoch)
	p.followers = p.followers[:0]
	now := b.env.Now()
	for _, id := range p.assigned {
		if id != b.id {
			p.followers = append(p.followers, follower{id: id, end: -1, caughtUpAt: now, fetchedAt: now})
		}
	}
	b.advance(p)
}

func (b *Broker) becomeFollower(p *replica) {
	b.stepDown(p)
	b.unfollow(p)
	p.role = follows
	if !b.cfg.Guards.EpochTruncation {
		b.truncate(p, p.highWatermark)
	}
	b.follow(p)
}

// stepDown ends leadership: whoever waits for the high watermark is told, and
// fetches that are held back are answered so that followers look elsewhere.
func (b *Broker) stepDown(p *replica) {
	if p.role != leads {
		return
	}
	p.role, p.wanted, p.followers = noRole, nil, p.followers[:0]
	waiting := p.producers
	p.producers = nil
	for _, w := range waiting {
		w.reply(&protocol.ProduceResponse{Error: protocol.NotLeaderOrFollower, Offset: -1, LeaderEpoch: p.leaderEpoch})
	}
	b.wake(p)
}

// stopReplica gives up replicas, unless the request is older than the role.
func (b *Broker) stopReplica(from node.ID, r *StopReplicaRequest) *StopReplicaResponse {
	if code := b.gate(from, &r.Header, kindStopReplica); code != protocol.None {
		return &StopReplicaResponse{Error: code}
	}
	answer := &StopReplicaResponse{Partitions: make([]protocol.Code, len(r.Partitions))}
	for i, s := range r.Partitions {
		p := b.byID[s.Partition]
		if p == nil {
			continue
		}
		t := PartitionState{Leader: protocol.NoLeader, LeaderEpoch: s.LeaderEpoch, Version: -1}
		if b.cfg.Guards.LeaderEpochCheck && s.LeaderEpoch >= 0 && s.LeaderEpoch < p.leaderEpoch {
			b.traceState(TracePushRefused, from, &r.Header, p.key, &t, kindStopReplica+": "+WhyStaleLeaderEpoch)
			answer.Partitions[i] = protocol.FencedLeaderEpoch
			continue
		}
		b.stepDown(p)
		b.unfollow(p)
		p.role, p.leader = noRole, protocol.NoLeader
		if s.Delete {
			p.log.truncate(0)
			p.highWatermark, p.leaderEpoch, p.version = 0, noEpoch, -1
			b.sync()
		}
		b.traceState(TracePushApplied, from, &r.Header, p.key, &t, kindStopReplica)
	}
	return answer
}

// truncate cuts a replica's log, and says so.
func (b *Broker) truncate(p *replica, end int64) {
	if end >= p.log.end() {
		return
	}
	p.log.truncate(end)
	p.highWatermark = min(p.highWatermark, p.log.end())
	b.sync()
	b.env.Trace(node.Trace{
		What: TraceTruncated, Key: p.key, Leader: p.leader, Epoch: p.leaderEpoch, Version: p.log.end(),
	})
}
