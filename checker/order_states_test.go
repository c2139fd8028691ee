package checker

import (
	"fmt"
	"strings"
	"testing"
)

// ordered says what the order of the only key came to: what gave it, what it
// left open, and its flaws with the operations that prove each.
func ordered(t *testing.T, history string) string {
	t.Helper()
	v := newView(resolveLines(t, history), everyPath)
	reg := oneOrder(&v, &spec{model: modelCASRegister, nilReads: nilAbsent, version: -1}).registers[0]
	said := "by version"
	if reg.relation != nil || reg.undecided != "" {
		said = "by value"
	}
	for _, open := range []struct{ what, why string }{{"undecided", reg.undecided}, {"doubt", reg.doubt}, {"a read without place", reg.unplaced}} {
		if open.why != "" {
			said += ", " + open.what
		}
	}
	for _, f := range reg.flaws {
		said += fmt.Sprintf(", %s %v", f.kind, f.ops)
	}
	return said
}

// spelled makes events, for resolveLines, of operations of a client each that
// follow one another, as in "write 1 @1; lost write 2; failed write 3; read 1 @1":
// @1 is the version that was told, and of what is lost nobody knows the outcome.
func spelled(operations string) string {
	var events strings.Builder
	for client, op := range strings.Split(operations, "; ") {
		outcome := "ok"
		for _, o := range []struct{ word, outcome string }{{"lost ", "info"}, {"failed ", "fail"}} {
			if rest, ok := strings.CutPrefix(op, o.word); ok {
				op, outcome = rest, o.outcome
			}
		}
		op, version, _ := strings.Cut(op, " @")
		f, value, _ := strings.Cut(op, " ")
		asked := value
		if f == "read" {
			asked = "nil"
		}
		fmt.Fprintf(&events, "%d invoke %s %s\n%d %s %s %s %s\n", client, f, asked, client, outcome, f, value, version)
	}
	return events.String()
}

func TestTheOrderOfAKey(t *testing.T) {
	for _, c := range []struct{ name, history, want string }{
		{"versions give the order where every acknowledged write told one",
			"write 1 @1; write 2 @2; read 1 @1", "by version"},
		{"and where what told none failed",
			"write 1 @1; failed write 2; read 1 @1", "by version"},
		{"values do where nothing told one",
			"write 1; read 1", "by value"},
		{"and where a write told none that nobody read",
			"write 1 @1; write 2; read 1 @1", "by value"},
		{"a write has the version that its value was read with",
			"write 1 @1; write 2; read 2 @2", "by version"},
		{"none where that told none either",
			"write 1 @1; write 2; read 2", "by value"},
		{"each of several such writes needs its own reader",
			"write 1; write 2; read 1 @1", "by value"},
		{"it may be another write's where the value was written again",
			"write 1 @1; write 2; write 2 @3; read 2 @2", "by value, undecided"},
		{"even by one of unknown outcome",
			"write 1 @1; write 2; lost write 2; read 2 @2", "by value, undecided"},
		{"or the initial value's",
			"write 1 @1; write nil; read nil @2", "by value, undecided"},

		{"two writes with one version are in conflict",
			"write 1 @1; write 2 @1", "by version, conflict [0 1]"},
		{"so are a write and a read of another value",
			"write 1 @1; read 2 @1", "by version, conflict [0 1]"},
		{"and two reads, where nobody wrote what the first of them saw",
			"write 1 @1; read 7 @2; read 7; read 8 @2", "by version, phantom [1], conflict [1 3]"},
		{"and two reads of the initial version",
			"read nil; read nil @1; write 1 @2; read 7 @1", "by version, conflict [1 3]"},

		{"a write of unknown outcome is placed by who saw it",
			"write 1 @1; lost write 5; write 3 @3; read 5 @2", "by version"},
		{"once: under a second version nobody wrote it",
			"write 1 @1; lost write 5; read 5 @2; read 5 @3", "by version, conflict [1 2 3]"},
		{"nor has a write another version than it told",
			"write 1 @1; write 5 @2; read 5 @3", "by version, conflict [1 2]"},
		{"nor the initial value one above another's",
			"write 1 @1; read nil @2", "by version, conflict [0 1]"},
		{"be that one of which nobody wrote anything",
			"read 7 @1; read nil @2", "by version, phantom [0], conflict [0 1]"},
		{"what nobody wrote is a phantom under each version",
			"write 1 @1; lost write 5; read 5 @2; read 7 @3; read 7 @4", "by version, phantom [3], phantom [4]"},
		{"of two writes of one value each may have made one version",
			"write 1 @1; lost write 5; lost write 5; read 5 @2; read 5 @3", "by version"},
		{"which did is in doubt where a compare-and-set may have",
			"write 1 @1; lost cas [1,5]; lost write 5; read 5 @2", "by version, doubt"},

		{"a compare-and-set follows on what it expected",
			"write 1 @1; cas [1,2] @2; read 2 @2", "by version"},
		{"on another value it could not succeed",
			"write 1 @1; write 3 @2; cas [1,2] @3", "by version, conflict [1 2]"},
		{"nor as the first on another than the initial value",
			"cas [1,2] @1", "by version, conflict [0]"},
		{"a version left out may be that of a write of unknown outcome",
			"write 3 @1; lost write 1; cas [1,2] @3", "by version, doubt"},
		{"also before the first version",
			"lost write 1; cas [1,2] @0", "by version, doubt"},
		{"between neighbours nothing can have happened",
			"write 3 @1; lost write 1; cas [1,2] @2", "by version, conflict [0 2]"},
		{"nor can what has its place elsewhere",
			"lost write 1; read 1 @1; write 3 @2; cas [1,2] @4", "by version, conflict [0 2 3]"},
		{"where nobody wrote what it followed on, that says enough",
			"write 1 @1; read 7 @2; cas [1,2] @3", "by version, phantom [1]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := ordered(t, spelled(c.history)); got != c.want {
				t.Errorf("the order is %s; want %s of %s", got, c.want, c.history)
			}
		})
	}
}
