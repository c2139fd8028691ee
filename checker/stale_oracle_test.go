package checker

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stalemate-io/stalemate/histories"
)

// What follows decides the staleness of reads without versions twice: from the
// definition of the bound that the checker gives, and by trying every order
// that the writes may have had. Values are unique, so that a value names its
// write.

// measured is the staleness of one read. The zero value is a fresh read.
type measured struct {
	stale  bool
	missed int32
	behind int
}

// valueOf is the value that an operation wrote or read.
func valueOf(op *histories.Operation) histories.Datum {
	if op.F == histories.Write {
		return op.Argument
	}
	return op.Result
}

// knownAt gives the operation by whose completion each value of a one-key
// history was first known to somebody. The initial value is not in it, and reads
// that were over before the value was written do not count.
func knownAt(h *histories.History) map[histories.Datum]int32 {
	known := map[histories.Datum]int32{}
	written := map[histories.Datum]int32{}
	for i := range h.Operations {
		if op := &h.Operations[i]; op.F != histories.Read && op.Outcome != histories.Failed {
			written[valueOf(op)] = op.Invoked
		}
	}
	for i := range h.Operations {
		op := &h.Operations[i]
		if op.Outcome != histories.Happened || valueOf(op) == nilDatum {
			continue
		}
		if began, ok := written[valueOf(op)]; !ok || op.Completed < began {
			continue
		}
		if j, ok := known[valueOf(op)]; !ok || op.Completed < h.Operations[j].Completed {
			known[valueOf(op)] = int32(i)
		}
	}
	return known
}

// leastStale is the bound: of all values known before the read began, those
// whose write was invoked after somebody knew the value read were missed.
func leastStale(h *histories.History, read *histories.Operation) measured {
	known := knownAt(h)
	since := int32(-1)
	if j, ok := known[valueOf(read)]; ok {
		since = h.Operations[j].Completed
	}
	out := measured{missed: noOp}
	for i := range h.Operations {
		write := &h.Operations[i]
		first, ok := known[valueOf(write)]
		if write.F == histories.Read || write.Outcome == histories.Failed || !ok || write.Invoked < since {
			continue
		}
		if !h.Operations[first].Precedes(read) {
			continue
		}
		out.stale = true
		out.behind++
		if out.missed == noOp || h.Operations[first].Completed < h.Operations[out.missed].Completed {
			out.missed = first
		}
	}
	return out
}

// eachOrder calls do with every order of the written values, the initial one
// first, in which real time among writes is kept, every compare-and-set finds
// what it expected, and every observer walks forward, never ahead of a write.
func eachOrder(h *histories.History, do func(place map[histories.Datum]int, order []int32)) {
	known := knownAt(h)
	needed := map[histories.Datum]bool{}
	for v := range known {
		needed[v] = true
	}
	var writes []int32
	for i := len(h.Operations) - 1; i >= 0; i-- {
		op := &h.Operations[i]
		if op.F == histories.Read || op.Outcome == histories.Failed || !needed[valueOf(op)] {
			continue
		}
		writes = append(writes, int32(i))
		if op.F == histories.CAS && op.Argument != nilDatum && !needed[op.Argument] {
			needed[op.Argument] = true // by a write of unknown outcome that nobody read
			i = len(h.Operations)
			writes = nil
		}
	}
	var order []int32
	place := map[histories.Datum]int{nilDatum: 0}
	fits := func() bool {
		for i := range h.Operations {
			for j := range h.Operations {
				a, b := &h.Operations[i], &h.Operations[j]
				if a.Outcome != histories.Happened || !a.Precedes(b) {
					continue
				}
				pa, known := place[valueOf(a)]
				pb, also := place[valueOf(b)]
				if !known || !also || b.Outcome == histories.Failed || b.F == histories.Read && b.Outcome != histories.Happened {
					continue
				}
				if lagging(h)(a, b) && (pa > pb || pa == pb && b.F != histories.Read) {
					return false
				}
			}
		}
		last := nilDatum
		for _, i := range order {
			if op := &h.Operations[i]; op.F == histories.CAS && op.Argument != last {
				return false
			}
			last = valueOf(&h.Operations[i])
		}
		return true
	}
	var extend func()
	extend = func() {
		if len(order) == len(writes) {
			if fits() {
				do(place, order)
			}
			return
		}
		for _, i := range writes {
			v := valueOf(&h.Operations[i])
			if _, ok := place[v]; ok {
				continue
			}
			order = append(order, i)
			place[v] = len(order)
			extend()
			delete(place, v)
			order = order[:len(order)-1]
		}
	}
	extend()
}

// staleIn is the staleness of a read where the order is given: the values after
// the one read, up to the newest that was known before the read began, and the
// first operation that knew one of them.
func staleIn(h *histories.History, read *histories.Operation, place map[histories.Datum]int) measured {
	out := measured{missed: noOp}
	mine, newest := place[valueOf(read)], 0
	for v, i := range knownAt(h) {
		if place[v] <= mine || !h.Operations[i].Precedes(read) {
			continue
		}
		out.stale = true
		newest = max(newest, place[v])
		if out.missed == noOp || h.Operations[i].Completed < h.Operations[out.missed].Completed {
			out.missed = i
		}
	}
	if out.stale {
		out.behind = newest - mine
	}
	return out
}

// Where the order is open the checker's numbers are its bound, and no order
// makes a read less stale than that; where the order is the only one, they are
// what that order says.
func TestStalenessWithoutVersionsAgreesWithEveryOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	open, only, stale, certain := 0, 0, 0, 0
	for n := range fuzzHistories(t) {
		gen := lagHistory{3, 2, 1, 8, false, n%3 == 2, false, 5 * (n % 2)}
		h := gen.make(r)
		v := newView(h, everyPath)
		res := oneOrder(&v, &spec{model: modelCASRegister, nilReads: nilAbsent, version: -1})
		if res.Answer != Holds {
			continue
		}
		s := measureStaleness(res)
		got := map[int32]measured{}
		for _, r := range s.stale {
			got[r.op] = measured{true, r.missed, int(r.behind)}
			if want := h.Operations[r.op].Call - h.Operations[r.missed].Return; r.lag != want {
				t.Fatalf("read %d: lag %d, want %d:\n%s", r.op, r.lag, want, show(h))
			}
		}
		orders := 0
		least := map[int32]measured{}
		eachOrder(h, func(place map[histories.Datum]int, _ []int32) {
			orders++
			for i := range h.Operations {
				read := &h.Operations[i]
				if read.F != histories.Read || read.Outcome != histories.Happened {
					continue
				}
				m := staleIn(h, read, place)
				old, seen := least[int32(i)]
				switch {
				case !seen:
				case !old.stale || !m.stale:
					m = measured{missed: noOp}
				default:
					if h.Operations[old.missed].Completed > h.Operations[m.missed].Completed {
						m.missed = old.missed
					}
					m.behind = min(m.behind, old.behind)
				}
				least[int32(i)] = m
			}
		})
		// That compare-and-sets leave one order only may be missed.
		if s.exact && orders != 1 || orders == 0 || !s.exact && orders == 1 && !gen.cas {
			t.Fatalf("exact: %v, and there are %d orders:\n%s", s.exact, orders, show(h))
		}
		for i, m := range least {
			g, ok := got[i]
			if !ok {
				g.missed = noOp
			}
			if m.stale {
				certain++
			}
			if g.stale {
				stale++
			}
			if s.exact {
				only++
				if g != m {
					t.Fatalf("read %d: %+v, its only order says %+v:\n%s", i, g, m, show(h))
				}
				continue
			}
			open++
			if want := leastStale(h, &h.Operations[i]); g != want {
				t.Fatalf("read %d: %+v, the bound is %+v:\n%s", i, g, want, show(h))
			}
			if g.stale && (!m.stale || g.behind > m.behind || h.Operations[g.missed].Completed < h.Operations[m.missed].Completed) {
				t.Fatalf("read %d: at least %+v, and some order says %+v:\n%s", i, g, m, show(h))
			}
		}
	}
	t.Logf("%d reads with one order, %d with several; %d stale in every order, %d of them found", only, open, certain, stale)
	if only == 0 || open == 0 || 10*stale < 9*certain {
		t.Errorf("%d reads with one order, %d with several; %d stale in every order and only %d of them found", only, open, certain, stale)
	}
}

// Where no order of the writes fits, the numbers are the bound too, and no
// register shows what the operations on the value read and on those missed did.
func TestStalenessIsCertainWhereNoOrderFits(t *testing.T) {
	stale := 0
	for n, gen := range []lagHistory{
		{3, 2, 1, 8, false, false, false, 3},
		{3, 2, 1, 8, false, true, false, 3},
	} {
		r := rand.New(rand.NewPCG(uint64(n), 31))
		for range fuzzHistories(t) / 2 {
			h := gen.make(r)
			v := newView(h, everyPath)
			res := oneOrder(&v, &spec{model: modelCASRegister, nilReads: nilAbsent, version: -1})
			if reg := res.registers[0]; reg.undecided == "" || reg.relation == nil {
				continue
			}
			got := map[int32]measured{}
			for _, r := range measureStaleness(res).stale {
				got[r.op] = measured{true, r.missed, int(r.behind)}
			}
			known := knownAt(h)
			for i := range h.Operations {
				read := &h.Operations[i]
				if read.F != histories.Read || read.Outcome != histories.Happened {
					continue
				}
				want := measured{missed: noOp}
				if _, ok := known[valueOf(read)]; ok || valueOf(read) == nilDatum {
					want = leastStale(h, read)
				}
				g, ok := got[int32(i)]
				if !ok {
					g.missed = noOp
				}
				if g != want {
					t.Fatalf("read %d: %+v, the bound is %+v:\n%s", i, g, want, show(h))
				}
				if !g.stale {
					continue
				}
				stale++
				two := *h
				two.Operations = slices.DeleteFunc(slices.Clone(h.Operations), func(op histories.Operation) bool {
					return valueOf(&op) != valueOf(read) && valueOf(&op) != valueOf(&h.Operations[g.missed])
				})
				for i := range two.Operations {
					if op := &two.Operations[i]; op.F == histories.CAS {
						op.F, op.Argument = histories.Write, op.Result
					}
				}
				if (&sequence{h: &two, before: realTime}).exists() {
					t.Fatalf("read %d is said to have missed what %d showed, and these two values can be told in one order:\n%s", i, g.missed, show(h))
				}
			}
		}
	}
	if stale == 0 && fuzzHistories(t) >= 200 {
		t.Error("no read was stale")
	}
	t.Logf("%d stale reads", stale)
}

// A read that is further behind than maxBehind counts as that much, so that
// counting takes time in proportion to the history.
func TestStalenessIsBoundedWhereTheOrderIsOpen(t *testing.T) {
	h := &histories.History{Functions: []string{"read", "write"}, Paths: []string{""}, Nodes: []string{""}, Keys: []histories.Value{histories.Int(0)}}
	add := func(f histories.Func, process, value int, invoked, completed int32) {
		op := histories.Operation{
			F: f, Process: int32(process), Invoked: invoked, Completed: completed, Outcome: histories.Happened,
			Version: histories.UnknownVersion, Call: histories.UnknownTime, Return: histories.UnknownTime,
		}
		if datum := h.Data.Pack(histories.Int(int64(value))); f == histories.Read {
			op.Result = datum
		} else {
			op.Argument = datum
		}
		h.Operations = append(h.Operations, op)
		h.Events = int(max(completed, invoked)) + 1
	}
	add(histories.Write, 0, 1, 0, 2) // either of two may be the first
	add(histories.Write, 1, 2, 1, 3)
	const writes = maxBehind + 5
	for n := range int32(writes) {
		add(histories.Write, 0, int(n)+3, 4+2*n, 5+2*n)
	}
	end := int32(4 + 2*writes)
	for n, value := range []int{1, 3 + writes - 1 - maxBehind, 3 + writes - maxBehind} {
		add(histories.Read, 2+n, value, end+2*int32(n), end+2*int32(n)+1)
	}
	v := newView(h, everyPath)
	var behind []int
	s := measureStaleness(oneOrder(&v, &spec{model: modelRegister, nilReads: nilAbsent, version: -1}))
	for _, r := range s.stale {
		behind = append(behind, int(r.behind))
		if r.lag != -1 {
			t.Errorf("a lag of %d in a history without times", r.lag)
		}
	}
	if want := []int{maxBehind, maxBehind, maxBehind - 1}; s.exact || !slices.Equal(behind, want) {
		t.Errorf("behind by %v (exact: %v), want %v", behind, s.exact, want)
	}
}
