package checker

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stalemate-io/stalemate/histories"
)

// A fork is proved by a cycle of operations of which each had to come before the
// next by the rules of one order, and no cycle is shorter.
func TestAForkIsProvedByAShortestCycle(t *testing.T) {
	for n, gen := range []lagHistory{
		{4, 2, 3, 10, true, false, false, 0},
		{4, 3, 2, 12, true, false, false, 0},
		{3, 2, 4, 14, true, true, false, 0},
	} {
		r := rand.New(rand.NewPCG(uint64(n), 19))
		forks := 0
		for range fuzzHistories(t) {
			h := gen.make(r)
			v := newView(h, everyPath)
			res := oneOrder(&v, &spec{model: modelCASRegister, nilReads: nilAbsent, version: -1})
			for _, f := range res.flaws {
				if f.kind != kindFork {
					continue
				}
				forks++
				before := mustPrecede(h)
				for i, a := range f.ops {
					if b := f.ops[(i+1)%len(f.ops)]; !before(a, b) {
						t.Fatalf("operation %d does not have to come before %d in %v:\n%s", a, b, f.ops, show(h))
					}
				}
				if n := shortestCycle(h, before); n < len(f.ops) {
					t.Fatalf("the cycle %v, and there is one of %d operations:\n%s", f.ops, n, show(h))
				}
			}
		}
		if forks == 0 && fuzzHistories(t) >= 200 {
			t.Errorf("%+v: no fork", gen)
		}
	}
}

// mustPrecede is the relation that one order must agree with, where each version
// stands for one value: a key's values follow in order of version, a write comes
// before who read it, what is over comes before a write invoked later, and an
// observer's reads come in its order.
func mustPrecede(h *histories.History) func(a, b int32) bool {
	version := map[histories.Datum]int64{nilDatum: histories.UnknownVersion}
	for i := range h.Operations {
		if op := &h.Operations[i]; op.Outcome == histories.Happened && op.Version != histories.UnknownVersion {
			version[valueOf(op)] = op.Version
		}
	}
	return func(i, j int32) bool {
		a, b := &h.Operations[i], &h.Operations[j]
		va, seen := version[valueOf(a)]
		vb, also := version[valueOf(b)]
		if !seen || !also || a.Outcome == histories.Failed || b.Outcome == histories.Failed {
			return false
		}
		wrote := a.F != histories.Read && b.F == histories.Read
		return a.Key == b.Key && (va < vb || va == vb && wrote) || lagging(h)(a, b)
	}
}

// shortestCycle is the length of the shortest cycle of a relation.
func shortestCycle(h *histories.History, before func(a, b int32) bool) int {
	n := int32(len(h.Operations))
	for length := 2; ; length++ {
		var cycle func(path []int32) bool
		cycle = func(path []int32) bool {
			last := path[len(path)-1]
			if len(path) == length {
				return before(last, path[0])
			}
			for next := range n {
				if !slices.Contains(path, next) && before(last, next) && cycle(append(path, next)) {
					return true
				}
			}
			return false
		}
		for start := range n {
			if cycle([]int32{start}) {
				return length
			}
		}
	}
}
