package html

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strconv"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
)

// anomaly is one anomaly of the verdict, ready to be shown.
type anomaly struct {
	ID    string
	Kind  string
	Title string
	Path  string
	// Count is how many of its kind the path has.
	Count   int
	Key     string
	Node    string
	Text    string
	Cause   string
	FromLog bool // the system's own log contradicts the clients
	Severe  bool // contradicts one order, or more than its promise allows
	Rows    []witnessRow
	Diagram *diagram
	// HasDrawing is true where porcupine drew the witness.
	HasDrawing bool

	key        int32 // index into History.Keys, -1 where there is none
	operations []int32
	from, to   float64
	drawing    int
	page       []byte
}

// witnessRow is one operation of a proof, in the table beside its diagram.
type witnessRow struct {
	Event, Called, Returned, Client, Node, What, Version string
}

// titles says what each kind is, in a few words.
var titles = map[string]string{
	"regress":             "An observer went back",
	"conflict":            "One version, two values",
	"dual-leader":         "Two leaders in one epoch",
	"fork":                "Two observers saw opposite orders",
	"stuck":               "Still stale after everything was healed",
	"phantom":             "A value that nobody had committed",
	"stale":               "A stale read",
	"too-stale":           "A read staler than allowed",
	"not-linearizable":    "Not linearizable",
	"lost":                "An acknowledged element is gone",
	"never-read":          "An acknowledged element that nobody saw",
	"monotonic-reads":     "A client read backwards",
	"read-your-writes":    "A client missed its own write",
	"monotonic-writes":    "A client's writes took effect in the wrong order",
	"writes-follow-reads": "A write took effect before what its client had read",
}

// severe are the kinds that contradict one order of states.
var severe = []string{"regress", "conflict", "dual-leader", "fork", "stuck", "phantom", "lost"}

// newAnomalies takes the anomalies of every path, the worst first, and draws each.
func newAnomalies(in Input, line *checker.Timeline, c *clock) []*anomaly {
	var out []*anomaly
	for _, p := range pathsOf(in.Verdict) {
		for i := range p.verdict.Anomalies {
			a := newAnomaly(in, line, c, p.name, &p.verdict.Anomalies[i])
			a.Count = p.verdict.AnomalyCounts[a.Kind]
			out = append(out, a)
		}
	}
	if w := in.Verdict.WithLog; w != nil {
		for i := range w.Anomalies {
			a := newAnomaly(in, line, c, "", &w.Anomalies[i])
			a.Count, a.Severe, a.FromLog = w.AnomalyCounts[a.Kind], true, true
			out = append(out, a)
		}
	}
	slices.SortStableFunc(out, func(a, b *anomaly) int {
		return cmp.Compare(gravity(in.Verdict, a), gravity(in.Verdict, b))
	})
	for n, a := range out {
		a.ID = "anomaly-" + strconv.Itoa(n+1)
	}
	return out
}

// gravity sorts anomalies: first where nodes diverged, whatever was promised, and
// of the rest first what broke a promise.
func gravity(v *checker.Verdict, a *anomaly) int {
	if p := v.Paths[a.Path]; p != nil {
		v = p
	}
	if a.FromLog {
		return -1
	}
	g := 0
	if !a.Severe {
		g += 2
	}
	if v.Holds != checker.Violated {
		g++
	}
	return g
}

func newAnomaly(in Input, line *checker.Timeline, c *clock, path string, from *checker.Anomaly) *anomaly {
	a := &anomaly{
		Kind: from.Kind, Title: cmp.Or(titles[from.Kind], from.Kind), Path: path,
		Key: from.Key, Node: from.Node, Text: upper(from.Text), Cause: from.Cause,
		Severe: slices.Contains(severe, from.Kind), key: -1, drawing: -1,
	}
	for i := range from.Witness {
		w := &from.Witness[i]
		a.Rows = append(a.Rows, newRow(w))
		if at, ok := operationAt(in.History, int32(w.Index)); ok {
			a.operations = append(a.operations, at)
		}
	}
	a.locate(in.History, c)
	a.Diagram = newDiagram(in.History, line, c, a)
	if page, err := checker.Visualize(in.History, in.Options, a.operations); err == nil {
		a.page, a.HasDrawing = page, true
	}
	return a
}

// operationAt finds the operation that was invoked at a position.
func operationAt(h *histories.History, position int32) (int32, bool) {
	n := sort.Search(len(h.Operations), func(i int) bool { return h.Operations[i].Invoked >= position })
	return int32(n), n < len(h.Operations) && h.Operations[n].Invoked == position
}

// locate finds where in the picture the anomaly is.
func (a *anomaly) locate(h *histories.History, c *clock) {
	for n, i := range a.operations {
		op := &h.Operations[i]
		call, ret, over := c.span(op)
		if !over {
			ret = call
		}
		if n == 0 {
			a.key, a.from, a.to = op.Key, call, ret
			continue
		}
		a.from, a.to = min(a.from, call), max(a.to, ret)
		if op.Key != a.key {
			a.key = -1 // it is about several keys
		}
	}
}

func newRow(w *checker.Witness) witnessRow {
	r := witnessRow{
		Event: strconv.Itoa(w.Index), Called: seconds(w.CallMS), Returned: seconds(w.ReturnMS),
		Client: strconv.Itoa(w.Process), Node: w.Node, What: deed(w),
	}
	if w.Version != nil {
		r.Version = strconv.FormatInt(*w.Version, 10)
	}
	return r
}

func seconds(ms *float64) string {
	if ms == nil {
		return "–"
	}
	return fmt.Sprintf("%.6f", *ms/1000)
}

// deed says what an operation did: read r1 → 41.
func deed(w *checker.Witness) string {
	text := w.F
	if w.Key != "" {
		text += " " + w.Key
	}
	switch first, second, pair := w.Value.AsPair(); {
	case w.F == "read" && w.Outcome != "ok":
	case w.F == "read" || w.F == "dequeue":
		text += " → " + show(w.Value)
	case w.F == "cas" && pair:
		text += " " + show(first) + " → " + show(second)
	case !w.Value.IsNil():
		text += " " + show(w.Value)
	}
	switch w.Outcome {
	case "fail":
		text += " (failed)"
	case "info":
		text += " (unknown)"
	}
	return text
}
