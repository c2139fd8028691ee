package checker

import (
	"fmt"
	"strings"
	"testing"
)

// timed makes events, for resolveLines, of operations that each tell from when to
// when they were pending, as in "write 1 0-3; 7: read 1 1-2; cas [1,2] 4-": the
// read is client 7's, each of the others has a client of its own, and nobody knows
// the outcome of the compare-and-set.
func timed(t *testing.T, operations string) string {
	t.Helper()
	lines := map[int]string{}
	for n, op := range strings.Split(operations, "; ") {
		client := 100 + n
		if of, rest, ok := strings.Cut(op, ": "); ok {
			fmt.Sscan(of, &client)
			op = rest
		}
		at := strings.LastIndex(op, " ")
		from, to := 0, -1
		fmt.Sscanf(op[at:], "%d-%d", &from, &to)
		op, version, _ := strings.Cut(op[:at], " @")
		f, value, _ := strings.Cut(op, " ")
		asked := value
		if f == "read" {
			asked = "nil"
		}
		lines[from] = fmt.Sprintf("%d invoke %s %s\n", client, f, asked)
		if to >= 0 {
			lines[to] = fmt.Sprintf("%d ok %s %s %s\n", client, f, value, version)
		}
	}
	var events strings.Builder
	for at := range len(lines) {
		if lines[at] == "" {
			t.Fatalf("%s: expected an event at %d", operations, at)
		}
		events.WriteString(lines[at])
	}
	return events.String()
}

// related finds the order of the only key by values.
func related(t *testing.T, operations string) *keyOrder {
	t.Helper()
	v := newView(resolveLines(t, timed(t, operations)), everyPath)
	reg := oneOrder(&v, &spec{model: modelCASRegister, nilReads: nilAbsent, version: -1}).registers[0]
	if reg.undecided == "" && reg.relation == nil {
		t.Fatalf("%s: expected an order by values", operations)
	}
	return reg
}

func TestTheOrderByValues(t *testing.T) {
	const (
		none    = "the order of writes is not decided: there are no versions, "
		nothing = "nothing is known: "
	)
	for _, c := range []struct{ name, history, want string }{
		{"a write follows on what was acknowledged before it was invoked",
			"write 1 0-1; write 2 2-3", "nil 1 2"},
		{"and on what was read before",
			"write 1 0-5; 7: read 1 1-2; write 2 3-4", "nil 1 2"},
		{"of writes at once the one that was known sooner comes first",
			"write 1 0-3; write 2 1-2", "nil 2 1, or another"},
		{"be it by a read",
			"write 1 0-5; write 2 1-4; read 1 2-3", "nil 1 2, or another"},
		{"what an observer saw first comes first",
			"write 1 0-7; write 2 1-6; 7: read 2 2-3; 7: read 1 4-5", "nil 2 1"},
		{"what it saw at once says nothing",
			"write 1 0-7; write 2 1-6; read 2 2-4; read 1 3-5", "nil 2 1, or another"},
		{"a compare-and-set follows on what it expected, before what was known sooner",
			"write 1 0-1; cas [1,2] 2-5; write 3 3-4", "nil 1 2 3, or another"},
		{"what one of unknown outcome expected was there if its own value was seen",
			"write 1 0-; cas [1,2] 1-; read 2 2-3", "nil 1 2"},
		{"and so on back",
			"write 1 0-; cas [1,2] 1-; cas [2,3] 2-; read 3 3-4", "nil 1 2 3"},
		{"what nobody saw and nobody acknowledged has no place",
			"write 1 0-; write 2 1-2", "nil 2"},
		{"two writes of a value that nobody saw have a place each",
			"write 1 0-1; write 1 2-3; write 2 4-5", "nil 1 1 2"},

		{"which of two writes was read is not known",
			"write 1 0-1; write 1 2-3; read 1 4-5",
			nothing + none + "and value 1 was written by event 0 and written again by event 2"},
		{"nor which a compare-and-set followed on",
			"write 1 0-1; write 1 2-3; cas [1,2] 4-5",
			nothing + none + "and value 1 was written by event 0 and written again by event 2"},
		{"nor whether the initial value",
			"write nil 0-1; read nil 2-3",
			nothing + none + "and value nil is the initial value and written again by event 0"},
		{"versions do not help where an acknowledged write has none",
			"write 9 0-; write 1 @1 1-2; write 2 3-4; write 2 5-6; read 2 7-8",
			nothing + "the order of writes is not decided: not every write has a version (the one of event 3 has none), and value 2 was written by event 3 and written again by event 5"},
		{"a compare-and-set that fits nowhere in the order that was found decides nothing",
			"write 1 0-1; write 3 2-3; cas [1,2] 4-5",
			none + "and no order was found in which the compare-and-set of event 4 meets the value it expected"},

		{"a read of what nobody wrote is a phantom",
			"read 7 0-1", "phantom [0]"},
		{"and what a compare-and-set expected that nobody wrote, each time",
			"cas [7,1] 0-1; cas [7,2] 2-3", "phantom [0]: it expected a value that nobody wrote, phantom [1]: it expected a value that nobody wrote"},
		{"so is a read that was over before its value was written",
			"read 1 0-1; write 1 2-3", "phantom [0 1]: the read was over before the write was invoked"},
		{"a compare-and-set that was is in conflict with the write",
			"cas [1,2] 0-1; write 1 2-3", "conflict [0 1]: the writes cannot be put in one order"},
		{"two compare-and-sets that expect each other's value are in conflict",
			"cas [2,1] 0-3; cas [1,2] 1-2", "conflict [0 1]: the writes cannot be put in one order"},
		{"as are two that succeeded on one value",
			"write 1 0-1; cas [1,2] 2-3; cas [1,3] 4-5", "conflict [1 2]: two compare-and-sets succeeded on one value"},
		{"an observer that comes back to the initial value regresses",
			"write 1 0-7; 7: read nil 1-2; 7: read 1 3-4; 7: read nil 5-6", "regress [0 2 3] of 7: the writes cannot be put in one order"},
		{"or to a value that was overwritten before",
			"write 1 0-1; write 2 2-3; 7: read 2 4-5; 7: read 1 6-7", "regress [0 1 2 3] of 7: the writes cannot be put in one order"},
		{"of several cycles the shortest is the proof",
			"write 1 0-21; write 2 1-20; write 3 2-19; 6: read 1 3-4; 6: read 2 5-6; 7: read 2 7-8; 7: read 3 9-10; 8: read 3 11-12; 8: read 1 13-14; 9: read 2 15-16; 9: read 1 17-18",
			"regress [3 4 9 10] of 9: the writes cannot be put in one order"},
	} {
		t.Run(c.name, func(t *testing.T) {
			reg := related(t, c.history)
			if got := said(t, c.history, reg); got != c.want {
				t.Errorf("%s:\n got %s\nwant %s", c.history, got, c.want)
			}
		})
	}
}

// said is what came of an order by values: its flaws, else why there is none,
// else the order.
func said(t *testing.T, history string, reg *keyOrder) string {
	t.Helper()
	h := resolveLines(t, timed(t, history))
	var words []string
	for _, f := range reg.flaws {
		word := fmt.Sprintf("%s %v", f.kind, f.ops)
		if f.observer != noObserver {
			word += fmt.Sprintf(" of %d", h.Operations[f.ops[len(f.ops)-1]].Process)
		}
		if f.why != "" {
			word += ": " + f.why
		}
		words = append(words, word)
	}
	switch {
	case len(words) > 0:
		return strings.Join(words, ", ")
	case reg.undecided != "" && reg.relation == nil:
		return "nothing is known: " + reg.undecided
	case reg.undecided != "":
		return reg.undecided
	}
	for _, s := range reg.states {
		words = append(words, h.Data.Unpack(s.value).String())
	}
	if reg.chosen {
		words[len(words)-1] += ", or another"
	}
	return strings.Join(words, " ")
}

// What certainly comes before what is found over any number of steps.
func TestAChainOfReasonsIsFollowed(t *testing.T) {
	const writes = "write 1 0-9; write 2 1-10; write 3 2-11; "
	reg := related(t, writes+"7: read 1 3-4; 7: read 2 5-6; 7: read 3 7-8")
	if reg.chosen || !reg.relation.forced(0, 3) || !reg.relation.forced(1, 3) {
		t.Errorf("the reads tell the whole order; said %+v", reg)
	}
	reg = related(t, writes+"7: read 1 3-4; 7: read 3 5-6; read 2 7-8")
	if !reg.chosen || !reg.relation.forced(1, 2) || reg.relation.forced(1, 3) || reg.relation.forced(2, 3) {
		t.Errorf("nothing tells where between them the third value was written; said %+v", reg)
	}
}

// An observer's reads follow from one to the next: what is kept of them does not
// grow with the square of their number.
func TestReadsAreRelatedToTheNextAlone(t *testing.T) {
	const n = 50
	var ops []string
	for i := range n {
		ops = append(ops, fmt.Sprintf("write %d %d-%d; 7: read %d %d-%d", i, 4*i, 4*i+1, i, 4*i+2, 4*i+3))
	}
	reg := related(t, strings.Join(ops, "; "))
	between := 0
	for _, e := range reg.relation.edges {
		if e.ops[0] != noOp && e.ops[1] != noOp {
			between++
		}
	}
	if between != n-1 {
		t.Errorf("%d reads are related by %d edges; want one from each to the next", n, between)
	}
}
