package raft

import (
	"fmt"
	"slices"
	"time"

	"github.com/stalemate-io/stalemate/systems/kraft/epochlog"
	"github.com/stalemate-io/stalemate/systems/node"
)

// Watch asserts Raft's safety properties (Raft, figure 3) over a quorum and its
// observers, step by step: it is told of every change and keeps what may never
// change again.
//
//   - election safety: at most one leader in an epoch;
//   - log matching: two logs that hold a batch of the same offset and epoch are
//     the same up to it;
//   - leader completeness: a leader's log holds every record committed before;
//   - state-machine safety: nobody takes another record for committed at an
//     offset, so that what is committed is never lost;
//   - the high watermark never goes back while a replica runs.
//
// Looking at a replica that has not changed costs a few comparisons.
type Watch struct {
	leaders   map[int32]elected
	newest    int32 // highest epoch that had a leader
	known     map[batchID]*watched
	committed []Committed
	replicas  map[node.ID]*seen
}

// Committed is a batch of the log that is committed, and when the watch first
// saw it in any log and first saw it committed.
type Committed struct {
	Batch       *epochlog.Batch
	Appended    time.Duration
	CommittedAt time.Duration
}

type elected struct {
	leader node.ID
	at     time.Duration
}

// batchID is what may only ever name one batch after one predecessor: with that
// alone, log matching follows by induction.
type batchID struct {
	base  int64
	epoch int32
}

type watched struct {
	batch    *epochlog.Batch
	previous batchID
	appended time.Duration
}

// seen is how far one replica, in one boot, has been looked at.
type seen struct {
	replica *Replica
	hw, end int64
	cuts    int
	leader  int32 // epoch of which it was checked as the leader
}

// NewWatch begins to watch a quorum that has not run yet.
func NewWatch() *Watch {
	return &Watch{
		leaders: map[int32]elected{}, known: map[batchID]*watched{}, replicas: map[node.ID]*seen{},
	}
}

// Elections counts the leaders that were elected so far.
func (w *Watch) Elections() int { return len(w.leaders) }

// Committed gives what was seen committed so far, from the start of the log on
// whatever snapshots were taken since. The caller changes nothing.
func (w *Watch) Committed() []Committed { return w.committed }

// Observe looks at one replica and says which property it breaks, if any.
func (w *Watch) Observe(now time.Duration, r *Replica) error {
	s := w.replicas[r.self]
	if s == nil || s.replica != r {
		s = &seen{replica: r, leader: -1, hw: r.snapshot.id.End}
		w.replicas[r.self] = s
	}
	if r.err != nil {
		return fmt.Errorf("replica halted: %w", r.err)
	}
	if r.log.End() != s.end || r.log.Cuts() != s.cuts {
		if err := w.logMatching(now, r, s); err != nil {
			return err
		}
	}
	if r.hw != s.hw {
		if err := w.stateMachineSafety(now, r, s); err != nil {
			return err
		}
	}
	if r.role == Leader && r.quorum.Epoch != s.leader {
		s.leader = r.quorum.Epoch
		if err := w.electionSafety(now, r); err != nil {
			return err
		}
		return w.leaderCompleteness(r)
	}
	return nil
}

func (w *Watch) electionSafety(now time.Duration, r *Replica) error {
	epoch := r.quorum.Epoch
	if e, ok := w.leaders[epoch]; ok && e.leader != r.self {
		return fmt.Errorf("election safety: epoch %d has two leaders, %s and %s", epoch, e.leader, r.self)
	}
	w.leaders[epoch] = elected{r.self, now}
	w.newest = max(w.newest, epoch)
	return nil
}

func (w *Watch) logMatching(now time.Duration, r *Replica, s *seen) error {
	from := max(s.end, r.log.Start())
	if r.log.Cuts() != s.cuts {
		from = r.log.Start()
	}
	previous := batchID{-1, epochlog.NoEpoch}
	if from > r.log.Start() {
		previous = idBefore(r.log, from)
	}
	for b := r.log.At(from); b != nil; b = r.log.At(b.End()) {
		id := batchID{b.Base, b.Epoch}
		k := w.known[id]
		switch {
		case k == nil:
			w.known[id] = &watched{b, previous, now}
		case !k.batch.Equal(b):
			return fmt.Errorf("log matching: %s holds another batch at offset %d of epoch %d than others", r.self, b.Base, b.Epoch)
		case previous.base >= 0 && k.previous.base >= 0 && k.previous != previous:
			return fmt.Errorf("log matching: at %s the batch at offset %d of epoch %d follows one of epoch %d, elsewhere one of epoch %d",
				r.self, b.Base, b.Epoch, previous.epoch, k.previous.epoch)
		case k.previous.base < 0:
			k.previous = previous
		}
		previous = id
	}
	s.end, s.cuts = r.log.End(), r.log.Cuts()
	return nil
}

// idBefore names the batch that ends at the offset, if the log has it.
func idBefore(l *epochlog.Log, offset int64) batchID {
	if b := l.Before(offset); b != nil {
		return batchID{b.Base, b.Epoch}
	}
	return batchID{-1, epochlog.NoEpoch}
}

func (w *Watch) stateMachineSafety(now time.Duration, r *Replica, s *seen) error {
	if r.hw < s.hw {
		return fmt.Errorf("high watermark of %s went back from %d to %d", r.self, s.hw, r.hw)
	}
	for at := max(s.hw, r.log.Start()); at < r.hw; {
		b := r.log.At(at)
		if b == nil {
			return fmt.Errorf("high watermark of %s is %d, and its log has no batch at offset %d", r.self, r.hw, at)
		}
		if err := w.commit(now, r, b); err != nil {
			return err
		}
		at = b.End()
	}
	s.hw = r.hw
	return nil
}

// commit compares a batch with what is committed, or adds it at the end.
func (w *Watch) commit(now time.Duration, r *Replica, b *epochlog.Batch) error {
	switch end := w.end(); {
	case b.Base > end:
		return w.catchUp(now, r, b)
	case b.Base == end:
		w.add(now, b)
		return nil
	}
	if c := w.at(b.Base); c == nil || !c.Equal(b) {
		return fmt.Errorf("state-machine safety: %s takes offset %d of epoch %d for committed, where another batch was", r.self, b.Base, b.Epoch)
	}
	return nil
}

func (w *Watch) add(now time.Duration, b *epochlog.Batch) {
	appended := now
	if k := w.known[batchID{b.Base, b.Epoch}]; k != nil {
		appended = k.appended
	}
	w.committed = append(w.committed, Committed{b, appended, now})
}

// catchUp adds a batch and those between it and the end of what is committed,
// which a replica has committed and dropped in favour of a snapshot in one step.
func (w *Watch) catchUp(now time.Duration, r *Replica, b *epochlog.Batch) error {
	chain := []*epochlog.Batch{b}
	for first := b; first.Base > w.end(); {
		k := w.known[batchID{first.Base, first.Epoch}]
		if k == nil || w.known[k.previous] == nil {
			return fmt.Errorf("%s has committed up to offset %d, and nobody was seen to hold what comes before offset %d", r.self, b.End(), first.Base)
		}
		first = w.known[k.previous].batch
		chain = append(chain, first)
	}
	for _, c := range slices.Backward(chain) {
		w.add(now, c)
	}
	return nil
}

func (w *Watch) end() int64 {
	if n := len(w.committed); n > 0 {
		return w.committed[n-1].Batch.End()
	}
	return 0
}

// at gives the committed batch that begins at the offset.
func (w *Watch) at(offset int64) *epochlog.Batch {
	lo, hi := 0, len(w.committed)
	for lo < hi {
		mid := (lo + hi) / 2
		if w.committed[mid].Batch.Base < offset {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(w.committed) && w.committed[lo].Batch.Base == offset {
		return w.committed[lo].Batch
	}
	return nil
}

// leaderCompleteness looks for every committed batch in a new leader's log.
func (w *Watch) leaderCompleteness(r *Replica) error {
	for i := len(w.committed) - 1; i >= 0; i-- {
		c := w.committed[i].Batch
		if c.Base < r.log.Start() {
			return nil
		}
		if b := r.log.At(c.Base); b == nil || !b.Equal(c) {
			return fmt.Errorf("leader completeness: %s leads epoch %d without the committed batch at offset %d of epoch %d",
				r.self, r.quorum.Epoch, c.Base, c.Epoch)
		}
	}
	return nil
}

// Deposed tells for how long a replica has gone on as leader of its epoch since
// another was elected in a later one; false if it is not so. With check-quorum it
// ends when the time-out has passed on the replica's clock, pauses apart.
func (w *Watch) Deposed(now time.Duration, r *Replica) (time.Duration, bool) {
	if r.err != nil || r.role != Leader || r.quorum.Epoch >= w.newest {
		return 0, false
	}
	return now - w.leaders[w.newest].at, true
}
