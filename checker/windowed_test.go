package checker

import (
	"context"
	"math/rand/v2"
	"testing"
)

// TestOracleEachReduction holds each reduction of the windowed search, by
// itself and all together, against the plain search and short histories
// against the definition.
func TestOracleEachReduction(t *testing.T) {
	cases := []struct {
		name string
		use  reductions
	}{
		{"no reduction", reductions{}},
		{"matching reads are taken at once", reductions{matchingReads: true}},
		{"writes that could be hidden are free", reductions{hiddenWrites: true}},
		{"equal open calls are one", reductions{equalOpen: true}},
		{"dominated configurations are dropped", reductions{dominated: true}},
		{"open updates that nobody saw are left out", reductions{unseenOpen: true}},
		{"matching reads and hidden writes", reductions{matchingReads: true, hiddenWrites: true}},
		{"hidden writes and dominated configurations", reductions{hiddenWrites: true, dominated: true}},
		{"equal open calls and dominated configurations", reductions{equalOpen: true, dominated: true}},
		{"all", reductions{true, true, true, true, true}},
	}
	for _, m := range models() {
		t.Run(string(m), func(t *testing.T) {
			t.Parallel()
			illegal, n := 0, fuzzHistories(t)/4
			for seed := range n {
				r := rand.New(rand.NewPCG(uint64(seed), 5))
				h, ops := randomHistory(r, m, 2+r.IntN(3), 4+r.IntN(7), 2+r.IntN(3))
				s := spec{model: m, nilReads: nilAbsent}
				var plain Answer
				for i, c := range cases {
					p, err := compile(h, ops, &s, 0)
					if err != nil {
						t.Fatal(err)
					}
					got := windowedWith(context.Background(), &p, &budget{memory: defaultMemory}, c.use)
					if i == 0 {
						plain = got.answer
						if len(p.calls) <= 7 && everyOrder(&p) != (plain == Holds) {
							t.Fatalf("seed %d: the plain search says %v, all orders do not", seed, plain)
						}
					}
					if got.answer != plain {
						t.Fatalf("seed %d: with reduction %q %v, without any %v", seed, c.name, got.answer, plain)
					}
				}
				if plain == Violated {
					illegal++
				}
			}
			if n >= 500 && illegal*10 < n {
				t.Errorf("%d of %d histories were illegal; below a tenth the agreement means little", illegal, n)
			}
		})
	}
}
