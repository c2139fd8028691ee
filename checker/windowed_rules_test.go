package checker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// timedProgram is a program of operations written as for timed.
func timedProgram(t *testing.T, m model, operations string) *program {
	t.Helper()
	h := resolveLines(t, timed(t, operations))
	ops := make([]int32, len(h.Operations))
	for i := range ops {
		ops[i] = int32(i)
	}
	p, err := compile(h, ops, &spec{model: m, nilReads: nilAbsent}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return &p
}

// atOnce is operations of which all are pending before the first completes;
// those that say lost never do, and the others complete in order.
func atOnce(operations ...string) string {
	next := len(operations)
	var timed []string
	for n, op := range operations {
		op, lost := strings.CutPrefix(op, "lost ")
		span := fmt.Sprintf(" %d-", n)
		if !lost {
			span += fmt.Sprint(next)
			next++
		}
		timed = append(timed, op+span)
	}
	return strings.Join(timed, "; ")
}

// each is one operation for each number from 1.
func each(n int, operation func(i int) string) []string {
	var all []string
	for i := range n {
		all = append(all, operation(i+1))
	}
	return all
}

// What the reductions are for: these need a configuration for each subset of
// what is pending, or for each order of it, where one of them is missing.
func TestTheWindowedSearchStaysSmall(t *testing.T) {
	add := func(i int) string { return fmt.Sprintf("add %d", i) }
	write := func(i int) string { return fmt.Sprintf("write %d", i) }
	lost := func(op func(int) string) func(int) string {
		return func(i int) string { return "lost " + op(i) }
	}
	useless := func(i int) string { return fmt.Sprintf("lost cas [%d,%d]", 1000+i, i) }
	expects := func(i int) string { return fmt.Sprintf("cas [%d,nil]", i) }
	for _, c := range []struct {
		name    string
		model   model
		history string
		want    Answer
	}{
		{"updates that commute take effect at their own completions while nobody reads", modelCounter,
			atOnce(each(20, add)...), Holds},
		{"and those of unknown outcome not at all", modelCounter,
			atOnce(append(each(20, lost(add)), "add 100")...), Holds},
		{"what came about in several ways is looked at once", modelCounter,
			atOnce(append([]string{"read 79"}, each(12, add)...)...), Violated},
		{"writes that nothing can see are not tried", modelRegister,
			atOnce(append([]string{"read 1"}, each(18, write)...)...), Holds},
		{"nor where only another write could follow", modelRegister,
			atOnce(append([]string{"read 1", "lost write 1"}, each(18, write)...)...), Holds},
		{"compare-and-sets of unknown outcome that do not fit are not used up", modelCASRegister,
			atOnce(append(append([]string{"write 5000"}, each(70, useless)...), each(20, lost(expects))...)...), Holds},
		{"a write may be hidden under one of unknown outcome", modelRegister,
			"write 2 0-4; write 1 1-; read 1 2-3; read 1 5-6", Holds},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := windowedKey(context.Background(), timedProgram(t, c.model, c.history), &budget{memory: 2 << 20})
			if got.answer != c.want {
				t.Errorf("%v (%s); want %v", got.answer, got.reason, c.want)
			}
		})
	}
}

func TestTheWindowedSearchStopsWhenTold(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		name, history, reason string
		context               context.Context
		memory                int64
	}{
		{"at the first completion, though it takes no search", "read nil 0-1", "the search was cancelled", cancelled, defaultMemory},
		{"before the first step", "write 1 0-1", "the search needs more than its 0 MB of memory", context.Background(), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := windowedKey(c.context, timedProgram(t, modelRegister, c.history), &budget{memory: c.memory})
			if got.answer != Undecided || got.reason != c.reason {
				t.Errorf("%v (%s); want undecided (%s)", got.answer, got.reason, c.reason)
			}
		})
	}
}

func TestOpenUpdatesThatNobodyCouldSeeAreForgotten(t *testing.T) {
	for _, c := range []struct {
		name, update, others string
		want                 bool
	}{
		{"a write that nobody read", "write 1 0-", "read 2 1-2", false},
		{"one that was read", "write 1 0-", "read 1 1-2", true},
		{"one that a compare-and-set expected", "write 1 0-", "cas [1,2] 1-", true},
		{"a compare-and-set whose result nobody saw", "cas [1,2] 0-", "read 1 1-2", false},
		{"one whose result was read", "cas [1,2] 0-", "read 2 1-2", true},
		{"one that changes nothing", "cas [1,1] 0-", "read 1 1-2", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := timedProgram(t, modelCASRegister, c.update+"; "+c.others)
			if got := p.observable()(&p.calls[0]); got != c.want {
				t.Errorf("it can matter: %v; want %v", got, c.want)
			}
		})
	}
}

// Of any set of configurations those are left that no other one dominates, by
// the definition in windowed.go.
func TestTheDominatedAreDropped(t *testing.T) {
	const (
		read1, read2, blind1, blind2, fixed1, fixed2 = 1, 2, 4, 8, 16, 32
		reads, blind                                 = read1 | read2, blind1 | blind2
	)
	w := window{use: reductions{dominated: true}, pending: reads | blind | fixed1 | fixed2, reads: reads, blind: blind}
	w.vectors.init()
	one, other := w.vectors.use(0, 0), w.vectors.use(0, 1)
	used := [][2]int{{0, 0}, {1, 0}, {0, 1}, {1, 1}}
	both := w.vectors.use(other, 0)
	if one != 1 || other != 2 || both != 3 || w.vectors.use(one, 1) != both {
		t.Fatalf("vectors are numbered %d, %d, %d", one, other, both)
	}
	dominates := func(a, b configuration) bool {
		ua, ub := used[a.open], used[b.open]
		ok := a != b && a.state == b.state && ua[0] <= ub[0] && ua[1] <= ub[1]
		for bit := uint64(1); bit <= fixed2; bit <<= 1 {
			switch alike := a.done&bit == b.done&bit; {
			case bit&reads != 0:
				ok = ok && (alike || a.done&bit != 0)
			case bit&blind != 0:
				ok = ok && (a.free&bit != 0 || alike && b.free&bit == 0)
			default:
				ok = ok && alike
			}
		}
		return ok
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 3000 {
		all := make([]configuration, r.IntN(9))
		for i := range all {
			c := &all[i]
			c.state, c.open = uint64(r.IntN(2)), uint32(r.IntN(len(used)))
			// Few differ in each respect, so that many are comparable.
			c.done = r.Uint64() & r.Uint64() & w.pending
			c.free = r.Uint64() & blind &^ c.done
		}
		want := map[configuration]bool{}
		for _, c := range all {
			if !slices.ContainsFunc(all, func(a configuration) bool { return dominates(a, c) }) {
				want[c] = true
			}
		}
		given := slices.Clone(all)
		kept := w.undominated(all)
		for _, c := range kept {
			if !want[c] {
				t.Fatalf("of %+v:\nkept %+v, among them the dominated %+v", given, kept, c)
			}
		}
		if len(kept) != len(want) {
			t.Fatalf("of %+v:\nkept %+v; want the %d that none dominates, once each", given, kept, len(want))
		}
	}
	w.use.dominated = false
	twice := []configuration{{state: 1}, {state: 1}}
	if kept := w.undominated(slices.Clone(twice)); len(kept) != 2 {
		t.Errorf("the plain search kept %+v of %+v; want both", kept, twice)
	}
}
