package checker

import (
	"slices"

	"github.com/stalemate-io/stalemate/histories"
)

// Elements accounts for what was added to a set, as Jepsen's set-full does. An
// element is known from the moment its add was acknowledged or a read that saw
// it completed. It is stable if the latest read to begin saw it, lost if it was
// known before the latest read that missed it began and no later read saw it,
// and never read if no read saw it, nor could be expected to. It was stale if
// it became stable only after a read had missed it while it was known.
type Elements struct {
	Attempted int `json:"attempted"`
	Stable    int `json:"stable"`
	Lost      int `json:"lost"`
	NeverRead int `json:"never_read"`
	Stale     int `json:"stale"`
	// StableMS is how long stale elements took to be seen by every read.
	StableMS Spread `json:"stable_ms"`
}

// element is what is known of one element of a set.
type element struct {
	add                     int32 // operation, or noOp
	known                   int32 // operation whose completion made it known
	lastPresent, lastAbsent int32 // reads, the latest by invocation; noOp where none
}

// setResult is the accounting of all keys.
type setResult struct {
	Elements
	lost []element
}

// accountSet accounts for every key of a view whose model is a set. Its cost is
// that of its input: each read lists its elements.
func accountSet(v *view) setResult {
	var out setResult
	var latencies []float64
	for _, list := range v.keys {
		for _, e := range elementsOf(v.history, list) {
			out.classify(v.history, e, &latencies)
		}
	}
	out.StableMS = spread(latencies)
	return out
}

// elementsOf follows every element of one key through the reads.
func elementsOf(h *histories.History, list []int32) []element {
	index := make(map[histories.Value]int)
	var elements []element
	at := func(v histories.Value) *element {
		n, ok := index[v]
		if !ok {
			n = len(elements)
			index[v] = n
			elements = append(elements, element{noOp, noOp, noOp, noOp})
		}
		return &elements[n]
	}
	know := func(e *element, i int32) {
		if e.known == noOp || h.Operations[i].Completed < h.Operations[e.known].Completed {
			e.known = i
		}
	}
	var reads []int32
	for _, i := range list {
		op := &h.Operations[i]
		switch {
		case op.F == histories.Add && op.Outcome != histories.Failed:
			e := at(h.Data.Unpack(op.Argument))
			e.add = i
			if op.Outcome == histories.Happened {
				know(e, i)
			}
		case op.F == histories.Read && op.Outcome == histories.Happened:
			reads = append(reads, i)
			for _, v := range members(h, op) {
				e := at(v)
				e.lastPresent = i
				know(e, i)
			}
		}
	}
	markAbsent(h, elements, reads, index)
	return elements
}

// members lists the elements that a read returned.
func members(h *histories.History, op *histories.Operation) []histories.Value {
	v, _ := h.Data.Unpack(op.Result).Elements()
	return v
}

// markAbsent finds the latest read that missed each element, going from the
// latest read back until every element was missed once.
func markAbsent(h *histories.History, elements []element, reads []int32, index map[histories.Value]int) {
	left := make([]int, len(elements))
	for n := range left {
		left[n] = n
	}
	for _, i := range slices.Backward(reads) {
		if len(left) == 0 {
			return
		}
		present := make(map[int]bool)
		for _, v := range members(h, &h.Operations[i]) {
			present[index[v]] = true
		}
		kept := left[:0]
		for _, n := range left {
			if present[n] {
				kept = append(kept, n)
			} else {
				elements[n].lastAbsent = i
			}
		}
		left = kept
	}
}

func (s *setResult) classify(h *histories.History, e element, latencies *[]float64) {
	s.Attempted++
	missedLater := e.lastAbsent != noOp && e.lastAbsent > e.lastPresent
	switch {
	case e.known == noOp:
		s.NeverRead++
	case e.lastPresent != noOp && !missedLater:
		s.Stable++
		if e.lastAbsent == noOp || h.Operations[e.lastAbsent].Invoked < h.Operations[e.known].Completed {
			return
		}
		s.Stale++
		if l := lag(h, e.known, e.lastAbsent); l >= 0 {
			*latencies = append(*latencies, ms(l))
		}
	case missedLater && h.Operations[e.lastAbsent].Invoked > h.Operations[e.known].Completed:
		s.Lost++
		s.lost = append(s.lost, e)
	default:
		s.NeverRead++
	}
}
