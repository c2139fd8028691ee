package raft

import (
	"errors"
	"math/bits"
	"slices"
	"time"

	"github.com/stalemate-io/stalemate/systems/kraft/epochlog"
	"github.com/stalemate-io/stalemate/systems/node"
)

// ErrNotLeader is the answer to what only the leader of the current epoch can do.
var ErrNotLeader = errors.New("not the leader of the metadata log")

// leadership is what a leader keeps for as long as it leads one epoch.
type leadership struct {
	start int64   // offset of the record with which the epoch began
	ends  []int64 // end offset that each voter has acknowledged
	heard []time.Duration
	// observers are how far those are that follow and do not vote. They are
	// forgotten with the epoch.
	observers map[node.ID]int64
	fetched   uint64 // voters that have fetched since a majority last had
	hwKnown   bool   // the high watermark is past start
	told      bool   // the state machine knows that it leads
	parked    []*parked
	reads     reads
}

// becomeLeader leads the epoch that we were elected for. Its first record is of
// the protocol's own: once that is committed, so is everything before.
func (r *Replica) becomeLeader() {
	r.enter(Leader)
	r.lost = 0
	q := r.quorum
	q.Leader = r.self
	r.setQuorum(q)
	r.lead = &leadership{
		start: r.log.End(),
		ends:  make([]int64, len(r.cfg.Voters)),
		heard: make([]time.Duration, len(r.cfg.Voters)),

		observers: map[node.ID]int64{},
	}
	for i := range r.lead.heard {
		r.lead.heard[i] = -r.cfg.FetchTimeout
	}
	if r.cfg.Guards.CheckQuorum && len(r.others) > 0 {
		r.timeout.set(r.cfg.checkQuorumTimeout())
	}
	r.env.Trace(node.Trace{What: "leading", Peer: r.self, Epoch: q.Epoch, Version: r.lead.start})
	r.append(&epochlog.Batch{Base: r.log.End(), Epoch: q.Epoch, Control: true, Records: [][]byte{[]byte(r.self)}})
	r.durably(r.inTerm(r.announce))
}

// Append adds records as one batch, which is committed as a whole or not at all,
// and gives the offset of the first. Only the leader of the given epoch may.
func (r *Replica) Append(epoch int32, records ...[]byte) (int64, error) {
	if r.err != nil || r.role != Leader || r.quorum.Epoch != epoch || !r.lead.told {
		return 0, ErrNotLeader
	}
	base := r.log.End()
	r.append(&epochlog.Batch{Base: base, Epoch: epoch, Records: records})
	return base, nil
}

// append adds a batch to the leader's log. Others may fetch it at once; it
// counts towards a majority only when it is durable here as well.
func (r *Replica) append(b *epochlog.Batch) {
	if err := r.log.Append(b); err != nil {
		r.fail(err)
		return
	}
	r.answerParked(func(p *parked) bool { return p.request.Offset < r.log.End() })
	if !r.cfg.Guards.FsyncBeforeAck {
		r.advanceHighWatermark()
		return
	}
	r.log.Sync(r.inTerm(r.advanceHighWatermark))
}

// advanceHighWatermark moves the high watermark to what a majority of the voters
// has, if that is past the start of our epoch. A record of an earlier epoch that
// a majority has is not committed by that alone: a leader whose log ends in a
// later epoch than it may still be elected and overwrite it (Raft, section 5.4.2).
func (r *Replica) advanceHighWatermark() {
	own := r.log.Durable()
	if !r.cfg.Guards.FsyncBeforeAck {
		own = r.log.End()
	}
	r.lead.ends[r.index(r.self)] = own
	sorted := slices.Sorted(slices.Values(r.lead.ends))
	hw := sorted[len(sorted)-r.majority()]
	if hw <= r.lead.start && r.cfg.Guards.OwnEpochCommit || hw <= r.hw && r.lead.hwKnown {
		return
	}
	r.lead.hwKnown = true
	r.setHighWatermark(hw)
	if r.lead != nil && r.cfg.EagerHighWatermark {
		r.answerParked(func(p *parked) bool { return p.request.HighWatermark < r.hw })
	}
}

// maybeLead tells the state machine that it leads, once it has applied the first
// record of our epoch.
func (r *Replica) maybeLead() {
	if r.role == Leader && !r.lead.told && r.applied > r.lead.start {
		r.lead.told = true
		r.sm.Lead(r.quorum.Epoch)
	}
}

// heardFrom notes that a voter fetched. When a majority has, the time until we
// resign begins anew.
func (r *Replica) heardFrom(voter int) {
	l := r.lead
	l.heard[voter] = r.env.Now()
	l.fetched |= 1 << voter
	if bits.OnesCount64(l.fetched)+1 >= r.majority() {
		l.fetched = 0
		if r.cfg.Guards.CheckQuorum {
			r.timeout.set(r.cfg.checkQuorumTimeout())
		}
	}
}

// endLeadership tells everybody who waits for something from this leader that
// there is none to come.
func (r *Replica) endLeadership(l *leadership) {
	for _, p := range l.parked {
		p.timer.Stop()
		p.reply(&FetchResponse{Error: r.leaderOnly(p.request.Epoch), Standing: r.Standing(), HighWatermark: -1})
	}
	if l.told {
		r.sm.Yield()
	}
	l.reads.abandon()
}
