package checker

import (
	"cmp"
	"slices"
	"sort"

	"github.com/stalemate-io/stalemate/histories"
)

// staleRead is a read that missed a write: when it was invoked, a newer state
// was already known, by its writer's acknowledgement or by somebody's read.
type staleRead struct {
	op int32
	// missed is the operation by which the first newer state was known: from
	// then on the value read was out of date.
	missed int32
	// lag is how long before the read's invocation that was, in nanoseconds:
	// the Δ of Δ-atomicity (Golab, Li & Shah 2011), by which the read's start
	// would have to be moved back for it to be fresh. -1 where the history has
	// no times.
	lag int64
	// behind is how many states the value was behind the newest known one.
	behind int32
}

// staleness is what the reads of a view missed.
type staleness struct {
	measured bool   // false where the order of writes was not known
	reason   string // why not
	unplaced string // which read, if any, could not be measured, and why
	stale    []staleRead
	// exact is false where the order was open in places or none fits: then each
	// lag and number of versions is the least it can have been.
	exact bool
	// noOrder says of which key no order fits, if of any.
	noOrder string
}

// measureStaleness puts together what every key tells on which each read is known
// to have seen one write.
func measureStaleness(res *orderResult) staleness {
	s := staleness{measured: true, exact: true}
	for _, reg := range res.registers {
		if reg == nil {
			continue
		}
		s.stale = append(s.stale, reg.stale...)
		s.exact = s.exact && !reg.chosen
		s.unplaced = cmp.Or(s.unplaced, reg.unplaced)
		switch {
		case reg.undecided == "":
		case reg.relation != nil:
			s.exact, s.noOrder = false, cmp.Or(s.noOrder, reg.undecided)
		default:
			s.measured, s.reason = false, cmp.Or(s.reason, reg.undecided)
		}
	}
	slices.SortFunc(s.stale, func(a, b staleRead) int { return int(a.op) - int(b.op) })
	return s
}

// staleReads looks at every read of a key, if it is known which write each saw.
func (r *resolver) staleReads(reg *keyOrder) []staleRead {
	switch {
	case reg.undecided != "" && reg.relation == nil:
		return nil
	case reg.undecided != "" || reg.chosen:
		return r.staleAtLeast(reg)
	}
	return r.staleOnKey(reg)
}

// staleOnKey compares each read with what was known when it began. Whether a
// state is known never goes back, so the newest known one is found by halving.
func (r *resolver) staleOnKey(reg *keyOrder) []staleRead {
	h := r.v.history
	var stale []staleRead
	for _, i := range r.v.keys[reg.key] {
		op := &h.Operations[i]
		s := r.seen[i]
		if op.F != histories.Read || s == noState || !reg.knownBefore(h, s+1, op.Invoked) {
			continue
		}
		newer := sort.Search(len(reg.states)-int(s)-1, func(n int) bool {
			return !reg.knownBefore(h, s+1+int32(n), op.Invoked)
		})
		missed := reg.known[s+1]
		stale = append(stale, staleRead{op: i, missed: missed, lag: lag(h, missed, i), behind: int32(newer)})
	}
	return stale
}

// lag is the time from the completion of one operation to the invocation of
// another, or -1.
func lag(h *histories.History, from, to int32) int64 {
	a, b := h.Operations[from].Return, h.Operations[to].Call
	if a == histories.UnknownTime || b == histories.UnknownTime || a == histories.OpenTime {
		return -1
	}
	return max(b-a, 0)
}

// staleAtLeast is staleOnKey where the order is open in places, or where none
// fits: a write counts as newer only where it was invoked after the value read was
// already known. No order has to be known for that, and where it is so, no
// linearizable register shows what the operations on these two values did.
func (r *resolver) staleAtLeast(reg *keyOrder) []staleRead {
	h := r.v.history
	first := r.firstKnown(reg)
	// Writes by the invocation of the write; from each on, which was known
	// first.
	var later []int32
	for s := range reg.states {
		if reg.states[s].op != noOp && first[s] != noOp {
			later = append(later, int32(s))
		}
	}
	invoked := func(s int32) int32 { return h.Operations[reg.states[s].op].Invoked }
	slices.SortFunc(later, func(a, b int32) int { return int(invoked(a)) - int(invoked(b)) })
	soonest := make([]int32, len(later))
	for n := len(later) - 1; n >= 0; n-- {
		soonest[n] = first[later[n]]
		if n+1 < len(later) && h.Operations[soonest[n+1]].Completed < h.Operations[soonest[n]].Completed {
			soonest[n] = soonest[n+1]
		}
	}
	var stale []staleRead
	for _, i := range r.v.keys[reg.key] {
		op := &h.Operations[i]
		s := r.seen[i]
		if op.F != histories.Read || s == noState {
			continue
		}
		since := int32(-1) // the initial value is known from the start
		if s != 0 {
			if first[s] == noOp {
				continue // it was read only before it was written
			}
			since = h.Operations[first[s]].Completed
		}
		n, _ := slices.BinarySearchFunc(later, since, func(s, p int32) int { return int(invoked(s)) - int(p) })
		if n >= len(later) || h.Operations[soonest[n]].Completed >= op.Invoked {
			continue
		}
		behind := int32(0)
		for _, w := range later[n:] {
			if invoked(w) > op.Invoked || behind == maxBehind {
				break
			}
			if h.Operations[first[w]].Completed < op.Invoked {
				behind++
			}
		}
		stale = append(stale, staleRead{op: i, missed: soonest[n], lag: lag(h, soonest[n], i), behind: behind})
	}
	return stale
}

// maxBehind bounds the counting of versions where the order is open; a read
// further behind is counted as this much.
const maxBehind = 1000

// firstKnown gives, for each state by itself, the operation that completed
// first of its write and its reads, other than reads that were over before the
// write began; noOp where none did.
func (r *resolver) firstKnown(reg *keyOrder) []int32 {
	first := make([]int32, len(reg.states))
	for s := range first {
		first[s] = noOp
	}
	ops := r.v.history.Operations
	for _, i := range r.v.keys[reg.key] {
		s := r.seen[i]
		if s == noState || ops[i].Outcome != histories.Happened {
			continue
		}
		if w := reg.states[s].op; w != noOp && ops[i].Completed < ops[w].Invoked {
			continue
		}
		if first[s] == noOp || ops[i].Completed < ops[first[s]].Completed {
			first[s] = i
		}
	}
	return first
}
