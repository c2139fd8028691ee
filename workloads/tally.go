package workloads

import (
	"sync"
	"sync/atomic"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems"
)

// Tally counts what happens while it happens, for whoever watches the run. The
// zero Tally is ready to use.
//
// Its count of stale reads compares the version a read returned with the newest
// one that had been acknowledged when the read began. That is cheap, and exact
// where versions count the changes of a key; the verdict is nevertheless the
// checker's, who looks at the recorded history.
type Tally struct {
	ok, failed, unknown, shed, unsent atomic.Int64

	mu     sync.Mutex
	newest map[string]int64 // version
	paths  map[string]Reads
}

// Reads counts the reads that returned something, and how many of them were
// stale.
type Reads struct{ Reads, Stale int64 }

// Counts is a Tally at one moment.
type Counts struct {
	// OK, Failed and Unknown count operations by outcome.
	OK, Failed, Unknown int64
	// Shed counts operations that were due while their client was busy, and
	// Unsent those that could not be prepared. Neither is in the history.
	Shed, Unsent int64
	// Paths counts the reads of each path.
	Paths map[string]Reads
}

// Completed is how many operations have an outcome, known or not.
func (c Counts) Completed() int64 { return c.OK + c.Failed + c.Unknown }

// Stale is how many reads were stale, over all paths.
func (c Counts) Stale() int64 {
	var n int64
	for _, p := range c.Paths {
		n += p.Stale
	}
	return n
}

// Counts gives the counts so far.
func (t *Tally) Counts() Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := Counts{
		OK:      t.ok.Load(),
		Failed:  t.failed.Load(),
		Unknown: t.unknown.Load(),
		Shed:    t.shed.Load(),
		Unsent:  t.unsent.Load(),
		Paths:   make(map[string]Reads, len(t.paths)),
	}
	for name, p := range t.paths {
		c.Paths[name] = p
	}
	return c
}

// acked gives the newest version of key that a writer has been told of.
func (t *Tally) acked(key string) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if v, ok := t.newest[key]; ok {
		return v
	}
	return histories.UnknownVersion
}

// count takes in the outcome of op, before which acked was the newest version.
func (t *Tally) count(op systems.Op, o systems.Outcome, acked int64) {
	switch o.Type {
	case histories.OK:
		t.ok.Add(1)
	case histories.Fail:
		t.failed.Add(1)
		return
	default:
		t.unknown.Add(1)
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if op.F != "read" {
		if t.newest == nil {
			t.newest = map[string]int64{}
		}
		if version, known := o.Version.Get(); known {
			t.newest[op.Key] = max(t.newest[op.Key], version)
		}
		return
	}
	if t.paths == nil {
		t.paths = map[string]Reads{}
	}
	p := t.paths[op.Path]
	p.Reads++
	if version, known := o.Version.Get(); known && version < acked {
		p.Stale++
	}
	t.paths[op.Path] = p
}
