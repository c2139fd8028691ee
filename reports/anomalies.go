package reports

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/policy"
)

// anomalies lists what went wrong, each with the operations that prove it, the
// worst first.
func (p *printer) anomalies(v *checker.Verdict) {
	var all []told
	left := 0
	for _, path := range pathsOf(v) {
		shown := chosen(path.verdict, p.Verbose)
		left += len(path.verdict.Anomalies) - len(shown)
		for i := range shown {
			all = append(all, told{path, path.verdict.Holds, &shown[i]})
		}
	}
	worstFirst(all)
	for _, t := range all {
		p.anomaly(t.path, t.anomaly)
	}
	if left > 0 {
		fmt.Fprintf(p, "\n%d more found; --verbose shows them\n", left)
	}
}

// told is an anomaly of a path with how what was asked of that path is answered.
type told struct {
	path    named
	answer  checker.Answer
	anomaly *checker.Anomaly
}

// worstFirst sorts anomalies of several paths: first where nodes diverged, whatever
// was promised, and of the rest first what broke a promise; gravest kind first.
func worstFirst(all []told) {
	kinds := policy.Kinds()
	key := func(t told) []int {
		mild := 1
		if policy.Divergence(t.anomaly.Kind) {
			mild = 0
		}
		return []int{mild, gravity(t.answer), slices.Index(kinds, t.anomaly.Kind)}
	}
	slices.SortStableFunc(all, func(a, b told) int { return slices.Compare(key(a), key(b)) })
}

func gravity(a checker.Answer) int {
	switch a {
	case checker.Violated:
		return 0
	case checker.Undecided:
		return 1
	}
	return 2
}

// chosen picks the anomalies to show. They come gravest kind first and worst
// first within a kind. Where the promise held, one is enough, to show what the
// verdict or else the numbers are made of: the gravest of a divergence, otherwise a
// stale read if there was one. Where not, the worst of each kind is shown, but the
// kinds that every graver one brings along only where there is none.
func chosen(v *checker.Verdict, all bool) []checker.Anomaly {
	if all || len(v.Anomalies) == 0 {
		return v.Anomalies
	}
	if v.Holds == checker.Holds {
		n := 0
		if v.Verdict != checker.ClassDivergent {
			isStale := func(a checker.Anomaly) bool { return a.Kind == staleRead }
			n = max(0, slices.IndexFunc(v.Anomalies, isStale))
		}
		return v.Anomalies[n : n+1]
	}
	var out []checker.Anomaly
	seen := map[string]bool{}
	for _, a := range v.Anomalies {
		if seen[a.Kind] || len(out) > 0 && (a.Kind == staleRead || a.Kind == notLinearizable) {
			continue
		}
		seen[a.Kind] = true
		out = append(out, a)
	}
	return out
}

// The kinds of anomalies that come along with every graver one: a read of an old
// value, and what only the search for a linearization found.
const (
	staleRead       = "stale"
	notLinearizable = "not-linearizable"
)

func (p *printer) anomaly(path named, a *checker.Anomaly) {
	head := a.Kind
	if path.name != "" {
		head = path.name + ": " + head
	}
	if n := path.verdict.AnomalyCounts[a.Kind]; n > 1 {
		head += fmt.Sprintf(" (one of %d)", n)
	}
	p.WriteString("\n" + p.paint(bold, clean(head)) + "\n")
	p.wrap("  ", 2, a.Text+".")
	if a.Cause != "" {
		p.wrap("  cause: ", len("  cause: "), a.Cause)
	}
	t := witnessTable(a.Witness)
	t.Indent = "    "
	p.WriteString(t.String())
}

// witnessTable draws the operations of a proof in order of invocation: their
// place in the history, when they were called and returned, in seconds since
// the start, who asked whom for what, and the version that the system gave.
func witnessTable(ops []checker.Witness) *Table {
	t := NewTable("event", "called s", "returned s", "client", "node", "operation", "version")
	for i := range ops {
		op := &ops[i]
		version := ""
		if op.Version != nil {
			version = strconv.FormatInt(*op.Version, 10)
		}
		t.Row(strconv.Itoa(op.Index), secondsCell(op.CallMS), secondsCell(op.ReturnMS),
			strconv.Itoa(op.Process), op.Node, deed(op), version)
	}
	return t
}

func secondsCell(ms *float64) string {
	if ms == nil {
		return "-"
	}
	return strconv.FormatFloat(*ms/1000, 'f', 6, 64)
}

// deed says what an operation did: write r1 57, read r1 -> 41, cas r1 41 -> 57.
func deed(op *checker.Witness) string {
	text := op.F
	if op.Key != "" {
		text += " " + op.Key
	}
	switch first, second, pair := op.Value.AsPair(); {
	case op.F == "read" && op.Outcome != "ok":
	case op.F == "read" || op.F == "dequeue":
		text += " -> " + op.Value.String()
	case op.F == "cas" && pair:
		text += " " + first.String() + " -> " + second.String()
	case !op.Value.IsNil():
		text += " " + op.Value.String()
	}
	switch op.Outcome {
	case "fail":
		text += " (failed)"
	case "info":
		text += " (unknown)"
	}
	return cut(text)
}

// maxDeed is how much of an operation is shown, in runes; values may be long.
const maxDeed = 40

func cut(s string) string {
	if runes := []rune(s); len(runes) > maxDeed {
		return string(runes[:maxDeed-3]) + "..."
	}
	return s
}
