package raft

import "math/bits"

// reads are the quorum reads that wait for the leader to be confirmed. A round
// of confirmation asks every voter; reads that arrive while one is under way
// wait for the next, because an answer to a question asked before a read says
// nothing about the time after it.
type reads struct {
	round   int
	asking  []read // those that the round under way is for
	waiting []read // those for the next
	index   int64  // high watermark when the round began
	acks    uint64 // voters that have confirmed the round
}

type read func(index int64, err error)

func (q *reads) abandon() {
	for _, rs := range [][]read{q.asking, q.waiting} {
		for _, f := range rs {
			f(0, ErrNotLeader)
		}
	}
}

// ReadIndex calls done when the state machine has applied everything that was
// committed, anywhere, when ReadIndex was called, and gives the offset up to
// which it had. The leader must have committed in its own epoch, for else it may
// not know what its predecessors had committed, and a majority must confirm that
// it still leads. Without the guard it takes that for granted. The error is
// ErrNotLeader; while no majority answers, done waits.
func (r *Replica) ReadIndex(done func(index int64, err error)) {
	switch {
	case r.err != nil || r.role != Leader || !r.lead.told:
		done(0, ErrNotLeader)
	case !r.cfg.Guards.QuorumConfirm:
		done(r.applied, nil)
	default:
		r.lead.reads.waiting = append(r.lead.reads.waiting, done)
		if len(r.lead.reads.asking) == 0 {
			r.confirm()
		}
	}
}

// confirm begins a round for the reads that wait, and one more after it for
// those that arrive meanwhile.
func (r *Replica) confirm() {
	q := &r.lead.reads
	q.asking, q.waiting = q.waiting, nil
	q.round++
	q.acks = 0
	q.index = r.hw
	switch {
	case len(q.asking) == 0:
	case r.majority() == 1:
		r.confirmed()
	default:
		r.ask(q.round)
	}
}

// ask sends the questions of a round, and again for as long as it is open.
func (r *Replica) ask(round int) {
	if r.lead.reads.round != round || len(r.lead.reads.asking) == 0 {
		return
	}
	for i, v := range r.cfg.Voters {
		if v == r.self {
			continue
		}
		r.beginQuorumEpoch(v, func() {
			q := &r.lead.reads
			if q.round != round || len(q.asking) == 0 {
				return
			}
			q.acks |= 1 << i
			if bits.OnesCount64(q.acks)+1 >= r.majority() {
				r.confirmed()
			}
		})
	}
	r.env.After(r.cfg.RequestTimeout, r.inTerm(func() { r.ask(round) }))
}

// confirmed answers the reads of the round. The leader applies what it commits
// at once, so its state is no older than the index.
func (r *Replica) confirmed() {
	q := &r.lead.reads
	done, index := q.asking, max(q.index, r.applied)
	q.asking = nil
	for _, f := range done {
		f(index, nil)
	}
	if r.lead != nil && len(r.lead.reads.asking) == 0 {
		r.confirm()
	}
}
