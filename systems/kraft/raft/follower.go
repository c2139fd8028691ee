package raft

import (
	"fmt"

	"github.com/stalemate-io/stalemate/systems/kraft/epochlog"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// following is what a follower or an observer keeps while it fetches.
type following struct {
	fetched  bool  // a fetch has succeeded in this epoch
	leaderHW int64 // the high watermark that the leader last told; -1 unknown
	// The snapshot that is being fetched, and what there is of it.
	snapshot *SnapshotID
	bytes    []byte
}

// becomeFollower follows the leader of an epoch.
func (r *Replica) becomeFollower(epoch int32, leader node.ID) {
	q := r.quorum
	if epoch > q.Epoch {
		q = quorumState{Epoch: epoch}
	}
	q.Leader = leader
	r.enter(Follower)
	r.setQuorum(q)
	r.lost = 0
	r.timeout.set(r.cfg.FetchTimeout)
	r.env.Trace(node.Trace{What: "following", Peer: leader, Epoch: epoch})
	r.durably(r.inTerm(r.fetch))
}

// fetch asks the leader for what follows our log. An observer that knows no
// leader asks any voter, whose answer will name it.
func (r *Replica) fetch() {
	to := r.quorum.Leader
	if r.role != Follower {
		to = r.cfg.Voters[r.env.Rand().IntN(len(r.cfg.Voters))]
	}
	request := &FetchRequest{
		Replica: r.self, Epoch: r.quorum.Epoch,
		Offset: r.log.End(), LastEpoch: r.log.LastEpoch(), HighWatermark: r.hw,
	}
	call(r, to, request, func(a *FetchResponse, err error) {
		if err != nil || a.Error != protocol.None || r.role != Follower {
			r.retry(r.fetch)
			return
		}
		r.follow.fetched = true
		r.timeout.set(r.cfg.FetchTimeout)
		switch {
		case a.Diverging != nil:
			r.truncate(*a.Diverging)
		case a.Snapshot != nil:
			r.follow.snapshot, r.follow.bytes = a.Snapshot, nil
			r.fetchSnapshot()
		default:
			r.take(a)
		}
	})
}

// retry does something again after the back-off, in the same role.
func (r *Replica) retry(f func()) { r.env.After(r.cfg.RetryBackoff, r.inTerm(f)) }

// take appends what the leader sent. The next fetch acknowledges it, and so
// waits for the disk; an observer's fetch acknowledges nothing.
func (r *Replica) take(a *FetchResponse) {
	for _, b := range a.Batches {
		if err := r.log.Append(b); err != nil {
			r.fail(fmt.Errorf("from leader %s: %w", r.quorum.Leader, err))
			return
		}
	}
	r.follow.leaderHW = a.HighWatermark
	r.setHighWatermark(min(a.HighWatermark, r.log.End()))
	if r.voter && r.cfg.Guards.FsyncBeforeAck && r.log.Durable() < r.log.End() {
		r.log.Sync(r.inTerm(r.fetch))
		return
	}
	r.fetch()
}

// truncate drops what the leader's log does not have. A committed record is
// never among that.
func (r *Replica) truncate(leader epochlog.EpochEnd) {
	to := r.log.TruncationPoint(leader)
	if to < r.hw {
		r.fail(fmt.Errorf("leader %s says to truncate to offset %d, below the high watermark %d", r.quorum.Leader, to, r.hw))
		return
	}
	r.env.Trace(node.Trace{What: "truncated", Peer: r.quorum.Leader, Epoch: r.quorum.Epoch, Version: to})
	r.log.Truncate(to)
	if r.voter && r.cfg.Guards.FsyncBeforeAck {
		r.log.Sync(r.inTerm(r.fetch))
		return
	}
	r.fetch()
}
