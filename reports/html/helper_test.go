package html

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
)

// recorded makes a history with a clock that the test sets.
type recorded struct {
	t      *testing.T
	events []histories.Event
}

func record(t *testing.T) *recorded { return &recorded{t: t} }

func (r *recorded) event(e histories.Event) { r.events = append(r.events, e) }

// op records an operation from one millisecond to another.
func (r *recorded) op(from, to float64, e histories.Event) {
	invoke := e
	invoke.Type, invoke.Time, invoke.Version = histories.Invoke, int64(from*1e6), histories.Version{}
	if e.F == "read" {
		invoke.Value = histories.Nil
	}
	r.event(invoke)
	e.Type, e.Time = histories.OK, int64(to*1e6)
	r.event(e)
}

func (r *recorded) fault(at float64, f string, target string) {
	r.event(histories.Event{Process: histories.Nemesis, Type: histories.Info, Time: int64(at * 1e6), F: f, Value: histories.List(histories.String(target))})
}

// history gives the events in order of time.
func (r *recorded) history() *histories.History {
	r.t.Helper()
	slices.SortStableFunc(r.events, func(a, b histories.Event) int { return cmp.Compare(a.Time, b.Time) })
	var text bytes.Buffer
	w, err := histories.NewWriter(&text, histories.JSONL)
	if err != nil {
		r.t.Fatal(err)
	}
	for i := range r.events {
		r.events[i].Index = i
		if err := w.Write(&r.events[i]); err != nil {
			r.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		r.t.Fatal(err)
	}
	h, err := histories.ReadHistory(&text, histories.ReadOptions{Format: histories.JSONL})
	if err != nil {
		r.t.Fatal(err)
	}
	return h
}

func read(client int, node, key, value string, version int64) histories.Event {
	return histories.Event{Process: histories.Process{Client: client}, F: "read", Node: node, Key: histories.String(key), Value: histories.String(value), Version: histories.At(version)}
}

func wrote(client int, key, value string, version int64) histories.Event {
	return histories.Event{Process: histories.Process{Client: client}, F: "write", Key: histories.String(key), Value: histories.String(value), Version: histories.At(version)}
}

// hostile are names and values as somebody would choose them who wants a report
// to run what a history says.
var hostile = []string{
	`<script>window.hacked=1</script>`, `"><img src=x onerror="window.hacked=2">`, `</div></script><script>window.hacked=3</script>`,
	`';window.hacked=4;'`, `<svg onload=window.hacked=5>`, "{{.Data}}", "a\u2028b", `\u003cscript\u003ewindow.hacked=6\u003c/script\u003e`,
}

// hostileHistory has a stale read and one that goes back, all of whose names and
// values are hostile.
func hostileHistory(t *testing.T) *histories.History {
	r := record(t)
	key, other := hostile[0], hostile[1]
	a, b := hostile[2]+"/1", hostile[3]+"/2"
	r.op(1, 2, wrote(0, key, a, 1))
	r.op(1.5, 2.5, wrote(3, other, hostile[4], 1))
	r.fault(3, "start-"+hostile[4], hostile[5])
	r.op(4, 5, wrote(0, key, b, 2))
	r.op(10, 11, read(1, hostile[5], key, a, 1))
	r.fault(12, "stop-"+hostile[4], hostile[5])
	r.op(13, 14, read(2, hostile[1], key, b, 2))
	r.op(15, 16, read(2, hostile[1], key, a, 1))
	r.op(17, 18, read(2, hostile[6], other, hostile[4], 1))
	r.op(19, 20, read(2, hostile[7], other, hostile[4], 1))
	return r.history()
}

// testInput judges a history and makes a report's input of it.
func testInput(t *testing.T, name string, h *histories.History) Input {
	t.Helper()
	v, err := checker.Check(h, checker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return Input{Name: name, History: h, Verdict: v, Version: "test"}
}

func render(t *testing.T, in Input, limit int) string {
	t.Helper()
	var out strings.Builder
	if err := write(&out, in, limit); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// longHistory has n operations on some keys through three nodes, of which one
// lags and one goes back once in a while.
func longHistory(t *testing.T, n int) *histories.History {
	r := record(t)
	const keys = 8
	version := [keys]int64{}
	at := 0.0
	for i := 0; i < n; i++ {
		at += 0.5
		k := i % keys
		key := fmt.Sprintf("k%d", k)
		value := func(v int64) string { return fmt.Sprintf("b%d/%d", v%5+1, v) }
		switch node := i / keys % 3; {
		case i%800 < keys:
			version[k]++
			r.op(at, at+0.3, wrote(0, key, value(version[k]), version[k]))
		case node == 1 && version[k] > 1 && i/2000%4 == 1:
			r.op(at, at+0.3, read(2, "n2", key, value(version[k]-1), version[k]-1))
		case node == 2 && version[k] > 3 && i%5000 == 4:
			r.op(at, at+0.3, read(3, "n3", key, value(version[k]-3), version[k]-3))
		default:
			r.op(at, at+0.3, read(1+node, fmt.Sprintf("n%d", node+1), key, value(version[k]), version[k]))
		}
		if i%20000 == 9000 {
			r.fault(at+0.4, "start-pause-node", "n2")
		}
		if i%20000 == 13000 {
			r.fault(at+0.4, "stop-pause-node", "n2")
		}
	}
	return r.history()
}
