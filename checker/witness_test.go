package checker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/histories"
)

// breakReads makes a read return what some other operation left.
func breakReads(r *rand.Rand, h *histories.History) bool {
	for range len(h.Operations) {
		read, other := &h.Operations[r.IntN(len(h.Operations))], &h.Operations[r.IntN(len(h.Operations))]
		if read.F == histories.Read && read.Outcome == histories.Happened &&
			other.F != histories.Read && other.Outcome != histories.Failed && valueLeft(other) != read.Result {
			read.Result = valueLeft(other)
			return true
		}
	}
	return false
}

// breakChain makes a cas that failed a write that was acknowledged.
func breakChain(r *rand.Rand, h *histories.History) bool {
	for range len(h.Operations) {
		if op := &h.Operations[r.IntN(len(h.Operations))]; op.F == histories.CAS && op.Outcome == histories.Failed {
			op.F, op.Argument, op.Outcome = histories.Write, 1<<30, histories.Happened
			return true
		}
	}
	return false
}

// forkChain makes a cas that failed one of an earlier value that succeeded.
func forkChain(r *rand.Rand, h *histories.History) bool {
	for range len(h.Operations) {
		op, other := &h.Operations[r.IntN(len(h.Operations))], &h.Operations[r.IntN(len(h.Operations))]
		if op.F == histories.CAS && op.Outcome == histories.Failed && other.F == histories.CAS {
			op.Argument, op.Outcome = valueLeft(other), histories.Happened
			return true
		}
	}
	return false
}

// TestWitnessesOfLongHistories holds the witnesses of violations somewhere in
// thousands of operations to what witness.go promises of them: few operations,
// illegal by themselves, legal with any one forgotten, confirmed by porcupine.
func TestWitnessesOfLongHistories(t *testing.T) {
	cases := []struct {
		name    string
		spoil   func(*rand.Rand, *histories.History) bool
		chains  bool
		values  int
		unknown int
		longest int
	}{
		{"writes of different values, a stale read", breakReads, false, 0, 3, 16},
		{"writes of few values, a stale read", breakReads, false, 4, 0, 16},
		{"chains of cas, a stale read", breakReads, true, 0, 3, 48},
		{"chains of cas, a write that no link leaves room for", breakChain, true, 0, 3, 48},
		{"chains of cas, two of one value", forkChain, true, 0, 3, 48},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			violated := 0
			for seed := range 20 {
				r := rand.New(rand.NewPCG(uint64(seed), 11))
				clients := 2 + r.IntN(8)
				var h *histories.History
				var ops []int32
				if c.chains {
					h, ops = chainHistory(r, clients, 2000, r.IntN(8), []int{0, 5, 300}[r.IntN(3)])
				} else {
					h, ops = busyHistory(clients, 2000+seed, c.values, c.unknown, seed%2 == 0)
				}
				if !c.spoil(r, h) {
					continue
				}
				s := spec{model: modelCASRegister, nilReads: nilAbsent}
				got := linearizable(context.Background(), view{history: h, keys: [][]int32{ops}}, s, linearOptions{WitnessTime: time.Minute})
				if got.Err != nil || got.Answer == Undecided {
					t.Fatalf("seed %d: %v %v %s", seed, got.Answer, got.Err, got.Reason)
				}
				if got.Answer == Holds {
					continue // what was changed happened to fit
				}
				violated++
				f := &got.Failures[0]
				if got.ConfirmedBy != enginePorcupine {
					t.Errorf("the witness %v is not confirmed", f.Witness)
				}
				checkMinimal(t, h, s, got.Engine, f)
				checkClosed(t, h, f)
				if len(f.Witness) > c.longest {
					t.Errorf("the witness has %d operations, more than %d", len(f.Witness), c.longest)
				}
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
			if violated < 5 {
				t.Errorf("only %d histories were illegal", violated)
			}
		})
	}
}

// checkClosed sees that a witness of a register leaves nothing out that could
// explain it: every update that left a value which the witness saw is part of
// it, except what began after that was seen, and what was over before its
// anchor began.
func checkClosed(t *testing.T, h *histories.History, f *linearFailure) {
	t.Helper()
	seen := map[histories.Datum]int32{} // when a value was last seen
	for _, i := range f.Witness {
		op := &h.Operations[i]
		switch {
		case op.F == histories.Read:
			seen[op.Result] = max(seen[op.Result], op.Completed)
		case op.F == histories.CAS && !slices.Contains(f.AsWrite, i):
			seen[op.Argument] = max(seen[op.Argument], op.Completed)
		}
	}
	for i := range h.Operations {
		op := &h.Operations[i]
		if op.F == histories.Read || op.Outcome == histories.Failed || isNoop(op) || slices.Contains(f.Witness, int32(i)) {
			continue
		}
		if f.Anchor != noAnchor && op.Completed < h.Operations[f.Anchor].Invoked {
			continue
		}
		if op.Invoked < seen[valueLeft(op)] {
			t.Errorf("operation %d is not in witness %v, but left a value that it saw", i, f.Witness)
		}
	}
}

// TestAWitnessOfAThousandLinksIsConfirmed is the one kind of proof that cannot
// be short: a write that was under way while a thousand cas followed on one
// another, each of which must be there or the write would find room.
func TestAWitnessOfAThousandLinksIsConfirmed(t *testing.T) {
	const links = 1000
	moves := []move{{histories.Write, 1, 0, 0, 1, histories.Happened}, {histories.CAS, 1, 2, 2, 3, histories.Happened},
		{histories.Write, 9999, 0, 4, 6 + 2*links, histories.Happened}}
	for i := range links {
		at := int32(5 + 2*i)
		moves = append(moves, move{histories.CAS, 2 + i, 3 + i, at, at + 1, histories.Happened})
	}
	end := int32(7 + 2*links)
	moves = append(moves, move{histories.Read, 0, 2 + links, end, end + 1, histories.Happened})
	h, ops := register(moves...)
	r := linearizable(context.Background(), view{history: h, keys: [][]int32{ops}}, spec{model: modelCASRegister, nilReads: nilAbsent}, linearOptions{})
	if r.Answer != Violated || r.ConfirmedBy != enginePorcupine {
		t.Fatalf("%v confirmed by %q: %s", r.Answer, r.ConfirmedBy, fmt.Sprint(r.Err, r.Reason))
	}
	if n := len(r.Failures[0].Witness); n < links {
		t.Errorf("a witness of %d operations leaves the write room", n)
	}
}
