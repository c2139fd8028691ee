package checker

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stalemate-io/stalemate/histories"
)

// The operations that are given as the proof of a flaw fit no order by
// themselves, with nothing else but the writes of the values that they saw.
func TestAFlawIsProvedByItsOperations(t *testing.T) {
	for n, gen := range []lagHistory{
		{3, 2, 1, 8, true, false, false, 3},
		{3, 2, 2, 9, true, true, false, 4},
		{3, 2, 1, 7, true, true, true, 3},
		{3, 2, 1, 8, false, false, false, 3},
		{3, 2, 1, 8, false, true, false, 3},
	} {
		r := rand.New(rand.NewPCG(uint64(n), 23))
		proved := map[string]int{}
		for range fuzzHistories(t) / 4 {
			h := gen.make(r)
			v := newView(h, everyPath)
			res := oneOrder(&v, &spec{model: modelCASRegister, nilReads: nilAbsent, version: -1})
			x := &explainer{h: h, resolver: res.resolver, registers: res.registers}
			for _, f := range res.flaws {
				proved[f.kind]++
				alone := onlyThese(h, x.evidence(&f))
				if (&sequence{h: alone, before: lagging(h), versions: gen.versions}).exists() {
					t.Fatalf("%s (%s) is said to be proved by %v, and these fit an order:\n%sof\n%s", f.kind, f.why, f.ops, show(alone), show(h))
				}
			}
		}
		t.Logf("%+v: %v", gen, proved)
	}
}

// onlyThese is a history of some operations, and the writes of what they saw.
func onlyThese(h *histories.History, ops []int32) *histories.History {
	alone := *h
	alone.Operations = nil
	saw := map[histories.Datum]bool{}
	for _, i := range ops {
		switch op := &h.Operations[i]; op.F {
		case histories.Read:
			saw[op.Result] = true
		case histories.CAS:
			saw[op.Argument] = true
		}
	}
	for i := range h.Operations {
		op := h.Operations[i]
		switch {
		case slices.Contains(ops, int32(i)):
		case op.F != histories.Read && op.Outcome != histories.Failed && saw[valueOf(&op)]:
			op.F, op.Argument = histories.Write, valueOf(&op) // whatever a compare-and-set expected
		default:
			continue
		}
		alone.Operations = append(alone.Operations, op)
	}
	return &alone
}
