package serve

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// tally counts what a history that still grows says so far. It is a glance and
// no verdict: it goes by versions alone, where the system gives them.
type tally struct {
	Events int    `json:"events"`
	Time   int64  `json:"time_ms"` // of the last event
	Ended  bool   `json:"ended"`   // the closing line is there
	Bad    int    `json:"bad,omitempty"`
	Error  string `json:"error,omitempty"` // the last one that an operation met

	kinds   map[[2]string]*kindTally
	nodes   map[string]*nodeTally
	pending map[string]asked
	newest  map[string]int64 // version by key
	seconds []second
	faults  []fault
}

// kindTally counts the operations of one function and read path.
type kindTally struct {
	F       string `json:"f"`
	Path    string `json:"path,omitempty"`
	OK      int    `json:"ok"`
	Fail    int    `json:"fail"`
	Info    int    `json:"info"`
	Pending int    `json:"pending"`
	Stale   int    `json:"stale"`
}

// nodeTally counts the reads that a node answered.
type nodeTally struct {
	Name  string `json:"name"`
	Reads int    `json:"reads"`
	Stale int    `json:"stale"`
	// Behind is by how many versions its last answer was old.
	Behind int64 `json:"behind"`
}

// second counts completions within a second of the run.
type second struct {
	At    int `json:"at"` // since the start
	OK    int `json:"ok"`
	Other int `json:"other"`
	Stale int `json:"stale"`
}

// fault is one that is, or was, in force; To is nil while it is.
type fault struct {
	Name string   `json:"name"`
	From float64  `json:"from"` // seconds since the start
	To   *float64 `json:"to"`
}

// asked is what is known when an operation is invoked.
type asked struct {
	kind   *kindTally
	newest int64 // version of its key; -1 where none was told
	node   string
}

// lastSeconds is how many seconds a snapshot carries.
const lastSeconds = 120

func newTally() *tally {
	return &tally{kinds: map[[2]string]*kindTally{}, nodes: map[string]*nodeTally{}, pending: map[string]asked{}, newest: map[string]int64{}}
}

// liveLine is what a tally reads of a line.
type liveLine struct {
	Time    int64           `json:"time"`
	Process json.RawMessage `json:"process"`
	Type    string          `json:"type"`
	F       string          `json:"f"`
	Key     json.RawMessage `json:"key"`
	Value   json.RawMessage `json:"value"`
	Node    string          `json:"node"`
	Path    string          `json:"path"`
	Version *int64          `json:"version"`
	Error   any             `json:"error"`
	End     bool            `json:"end"`
}

// add counts a line.
func (t *tally) add(line []byte) {
	var e liveLine
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	if err := json.Unmarshal(line, &e); err != nil {
		t.Bad++
		return
	}
	if e.End {
		t.Ended = true
		return
	}
	t.Events++
	t.Time = max(t.Time, e.Time/int64(time.Millisecond))
	process := string(e.Process)
	if strings.HasPrefix(process, `"`) {
		t.nemesis(&e)
		return
	}
	if e.Type == "invoke" {
		k := t.kind(e.F, e.Path)
		k.Pending++
		newest, known := t.newest[string(e.Key)]
		if !known {
			newest = -1
		}
		t.pending[process] = asked{k, newest, e.Node}
		return
	}
	if a, there := t.pending[process]; there {
		delete(t.pending, process)
		t.complete(&e, a)
	}
}

func (t *tally) kind(f, path string) *kindTally {
	k := t.kinds[[2]string{f, path}]
	if k == nil {
		k = &kindTally{F: f, Path: path}
		t.kinds[[2]string{f, path}] = k
	}
	return k
}

func (t *tally) complete(e *liveLine, a asked) {
	k := a.kind
	k.Pending--
	if e.Path != "" && e.Path != k.Path { // told with the answer only
		k = t.kind(e.F, e.Path)
	}
	s := t.second(e.Time)
	if e.Error != nil {
		t.Error = fmt.Sprint(e.Error)
	}
	switch e.Type {
	case "ok":
		k.OK++
		s.OK++
	case "fail":
		k.Fail++
		s.Other++
		return
	default:
		k.Info++
		s.Other++
		return
	}
	node := e.Node
	if node == "" {
		node = a.node
	}
	stale := e.F == "read" && e.Version != nil && *e.Version < a.newest
	if e.F == "read" && node != "" {
		n := t.nodes[node]
		if n == nil {
			n = &nodeTally{Name: node}
			t.nodes[node] = n
		}
		n.Reads++
		n.Behind = 0
		if stale {
			n.Stale++
			n.Behind = a.newest - *e.Version
		}
	}
	if stale {
		k.Stale++
		s.Stale++
	}
	if e.Version != nil {
		key := string(e.Key)
		if newest, known := t.newest[key]; !known || *e.Version > newest {
			t.newest[key] = *e.Version
		}
	}
}

// second gives the counts of the second that a time, in ns, is in. Events come
// nearly in order; one that is older than all that is kept counts for the
// oldest.
func (t *tally) second(ns int64) *second {
	at := int(max(ns, 0) / int64(time.Second))
	for n := len(t.seconds); n == 0 || t.seconds[n-1].At < at; n = len(t.seconds) {
		next := at
		if n > 0 && at-t.seconds[n-1].At < lastSeconds {
			next = t.seconds[n-1].At + 1
		}
		t.seconds = append(t.seconds, second{At: next})
	}
	if len(t.seconds) > 2*lastSeconds {
		t.seconds = slices.Delete(t.seconds, 0, len(t.seconds)-lastSeconds)
	}
	i, _ := slices.BinarySearchFunc(t.seconds, at, func(s second, at int) int { return s.At - at })
	return &t.seconds[min(i, len(t.seconds)-1)]
}

// nemesis notes the faults: a start begins one, and the last of its stops ends
// it.
func (t *tally) nemesis(e *liveLine) {
	at := float64(e.Time) / float64(time.Second)
	if name, ok := strings.CutPrefix(e.F, "start-"); ok {
		if n := len(t.faults); n == 0 || t.faults[n-1].Name != name || t.faults[n-1].To != nil {
			t.faults = append(t.faults, fault{Name: name, From: at})
		}
	}
	if name, ok := strings.CutPrefix(e.F, "stop-"); ok {
		for i := len(t.faults) - 1; i >= 0; i-- {
			if t.faults[i].Name == name {
				t.faults[i].To = &at
				break
			}
		}
	}
}

// snapshot is the tally as it is sent.
type snapshot struct {
	*tally
	Kinds   []*kindTally `json:"kinds"`
	Nodes   []*nodeTally `json:"nodes"`
	Seconds []second     `json:"seconds"`
	Faults  []fault      `json:"faults"`
	// Quiet is how long the history has not grown, in seconds.
	Quiet   float64 `json:"quiet"`
	Outcome string  `json:"outcome"`
}

func (t *tally) snapshot() snapshot {
	// Lists without anything in them are lists too, and not null.
	s := snapshot{tally: t, Kinds: []*kindTally{}, Nodes: []*nodeTally{}, Faults: append([]fault{}, t.faults...)}
	s.Seconds = append([]second{}, t.seconds[max(len(t.seconds)-lastSeconds, 0):]...)
	s.Kinds = slices.AppendSeq(s.Kinds, maps.Values(t.kinds))
	slices.SortFunc(s.Kinds, func(a, b *kindTally) int { return cmp.Or(cmp.Compare(a.F, b.F), cmp.Compare(a.Path, b.Path)) })
	s.Nodes = slices.AppendSeq(s.Nodes, maps.Values(t.nodes))
	slices.SortFunc(s.Nodes, func(a, b *nodeTally) int { return cmp.Compare(a.Name, b.Name) })
	return s
}
