package html

import (
	"regexp"
	"slices"
	"strings"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
)

// picture packs what the script draws.
type picture struct {
	in   Input
	line *checker.Timeline
	*clock
	chosen []int32         // operations that the page carries
	place  map[int32]int32 // where in chosen an operation is
	values map[histories.Datum]int32
	texts  []string
}

// newPicture chooses the operations; those of the anomalies' witnesses always
// stay.
func newPicture(in Input, line *checker.Timeline, clock *clock, anomalies []*anomaly, limit int) *picture {
	witnesses := make(map[int32]bool)
	for _, a := range anomalies {
		for _, i := range a.operations {
			witnesses[i] = true
		}
	}
	p := &picture{in: in, line: line, clock: clock, values: make(map[histories.Datum]int32)}
	p.chosen = thin(in.History, line, witnesses, limit)
	p.place = make(map[int32]int32, len(p.chosen))
	for n, i := range p.chosen {
		p.place[i] = int32(n)
	}
	return p
}

// maxText is how much of a value the page carries, in bytes.
const maxText = 120

// show gives a value as a person would write it.
func show(v histories.Value) string {
	s, ok := v.AsString()
	if !ok {
		s = v.String()
	}
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "") + "…"
	}
	return s
}

// value numbers a value's text.
func (p *picture) value(d histories.Datum) int32 {
	n, ok := p.values[d]
	if !ok {
		n = int32(len(p.texts))
		p.values[d] = n
		p.texts = append(p.texts, show(p.in.History.Data.Unpack(d)))
	}
	return n
}

// The flags of an operation, bit by bit, as the script reads them.
const (
	flagStale  = 1 << iota // a read that missed a newer state
	flagBroken             // contradicts one order
)

// pack gives the text that the page carries.
func (p *picture) pack(anomalies []*anomaly) (string, error) {
	h := p.in.History
	c := &columns{}
	p.operations(c)
	p.orders(c)
	pages := drawings(anomalies)
	header := map[string]any{
		"timed": p.timed, "end": p.end, "total": len(h.Operations), "count": len(p.chosen),
		"functions": h.Functions, "nodes": h.Nodes, "paths": h.Paths, "keys": keyTexts(h),
		"values": p.texts, "faults": p.faults(), "anomalies": p.anomalies(anomalies),
		"leaders": leaders(p.texts), "pathOrder": pathOrder(p.in.Verdict), "broken": p.broken(),
		"drawingHead": pages.head, "drawingTail": pages.tail, "drawings": pages.middles,
	}
	return c.pack(header)
}

func (p *picture) operations(c *columns) {
	h, n := p.in.History, len(p.chosen)
	call, took, lag, version := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	index, process, key := make([]int32, n), make([]int32, n), make([]int32, n)
	argument, result, place, behind, missed := make([]int32, n), make([]int32, n), make([]int32, n), make([]int32, n), make([]int32, n)
	node, path := make([]uint16, n), make([]uint16, n)
	f, outcome, flags := make([]uint8, n), make([]uint8, n), make([]uint8, n)
	last := 0.0
	for k, i := range p.chosen {
		op, seen := &h.Operations[i], &p.line.Seen[i]
		at, ret, over := p.span(op)
		call[k], took[k], last = at-last, -1, at
		if over {
			took[k] = ret - at
		}
		lag[k] = float64(seen.Lag)
		if seen.Lag > 0 {
			lag[k] /= 1000
		}
		index[k], process[k], key[k] = op.Invoked, op.Process, op.Key
		argument[k], result[k] = p.value(op.Argument), p.value(op.Result)
		version[k], place[k], behind[k], missed[k] = float64(op.Version), seen.Place, seen.Behind, -1
		if seen.Missed != checker.NoPlace {
			flags[k] |= flagStale
			if m, ok := p.place[seen.Missed]; ok {
				missed[k] = m
			}
		}
		if p.line.Broken[i] != "" {
			flags[k] |= flagBroken
		}
		node[k], path[k] = uint16(op.Node), uint16(op.Path)
		f[k], outcome[k] = uint8(op.F), uint8(op.Outcome)
	}
	add(c, "call", call)
	add(c, "took", took)
	add(c, "lag", lag)
	add(c, "version", version)
	add(c, "index", index)
	add(c, "process", process)
	add(c, "key", key)
	add(c, "argument", argument)
	add(c, "result", result)
	add(c, "place", place)
	add(c, "behind", behind)
	add(c, "missed", missed)
	add(c, "node", node)
	add(c, "path", path)
	add(c, "f", f)
	add(c, "outcome", outcome)
	add(c, "flags", flags)
}

// orders packs the true order: for each key its states, each with the time from
// which it certainly stood.
func (p *picture) orders(c *columns) {
	h := p.in.History
	var key, value, write []int32
	var at, version []float64
	for k, order := range p.line.Orders {
		for n, s := range order.States {
			since := -1.0
			switch {
			case n == 0:
				since = 0
			case s.Known != checker.NoPlace:
				_, since, _ = p.span(&h.Operations[s.Known])
			}
			if since < 0 {
				continue // never known, so that there is no time to draw it from
			}
			writer := int32(-1)
			if at, ok := p.place[s.Write]; ok {
				writer = at
			}
			key, value, write = append(key, int32(k)), append(value, p.value(s.Value)), append(write, writer)
			at, version = append(at, since), append(version, float64(s.Version))
		}
	}
	add(c, "stateAt", at)
	add(c, "stateVersion", version)
	add(c, "stateKey", key)
	add(c, "stateValue", value)
	add(c, "stateOp", write)
}

// broken names the kinds of anomalies that operations are part of, by place.
func (p *picture) broken() map[int32]string {
	out := make(map[int32]string, len(p.line.Broken))
	for i, kind := range p.line.Broken {
		if k, ok := p.place[i]; ok {
			out[k] = kind
		}
	}
	return out
}

// faultBand is a fault as the script draws it.
type faultBand struct {
	Name    string   `json:"name"`
	Text    string   `json:"text"`
	Targets []string `json:"targets"`
	From    float64  `json:"from"`
	To      float64  `json:"to"`
}

func (p *picture) faults() []faultBand {
	out := []faultBand{}
	for i := range p.line.Faults {
		f := &p.line.Faults[i]
		from, to := p.window(f)
		out = append(out, faultBand{f.Name, f.Text, f.Targets, from, to})
	}
	return out
}

// mark is an anomaly as the script draws it.
type mark struct {
	ID         string  `json:"id"`
	Kind       string  `json:"kind"`
	Path       int     `json:"path"` // -1 for every path
	Key        int32   `json:"key"`
	Node       string  `json:"node"`
	From       float64 `json:"from"`
	To         float64 `json:"to"`
	Operations []int32 `json:"operations"`
	Drawing    int     `json:"drawing"` // -1 where there is none
}

func (p *picture) anomalies(list []*anomaly) []mark {
	out := []mark{}
	for _, a := range list {
		m := mark{ID: a.ID, Kind: a.Kind, Path: p.pathIndex(a.Path), Key: a.key, Node: a.Node, From: a.from, To: a.to, Drawing: a.drawing, Operations: []int32{}}
		for _, i := range a.operations {
			if k, ok := p.place[i]; ok {
				m.Operations = append(m.Operations, k)
			}
		}
		out = append(out, m)
	}
	return out
}

func keyTexts(h *histories.History) []string {
	out := make([]string, len(h.Keys))
	for i, k := range h.Keys {
		if !k.IsNil() {
			out[i] = show(k)
		}
	}
	return out
}

var leaderText = regexp.MustCompile(`^[^/\s]{1,20}/-?\d+$`)

// leaders reports whether the values are leaders with their epochs, b3/13, so
// that what stands before the slash is worth a colour.
func leaders(texts []string) bool {
	some := false
	for _, t := range texts {
		if t == "nil" || strings.HasPrefix(t, "elect ") || strings.HasPrefix(t, "reassign ") {
			continue
		}
		if !leaderText.MatchString(t) {
			return false
		}
		some = true
	}
	return some
}

// pathIndex gives the number of a verdict's path in the history, -1 where the
// verdict has but one.
func (p *picture) pathIndex(name string) int {
	if len(p.in.Verdict.Paths) == 0 {
		return -1
	}
	return slices.Index(p.in.History.Paths, historyPath(name))
}
