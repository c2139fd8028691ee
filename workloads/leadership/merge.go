package leadership

import (
	"cmp"
	"slices"
	"time"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// Change is a change of leadership as the system committed it.
type Change struct {
	Partition protocol.Partition
	Leader    int32
	Epoch     int32
	// Order is the system's own order across partitions: the zxid of the
	// write, or the offset of the record.
	Order int64
	// At is when it was committed.
	At time.Duration
	// Early is by how much sooner than At it may have been committed: 0 where
	// the moment is known.
	Early time.Duration
}

// wish is what a client asked for and has not learnt the outcome of.
type wish struct {
	process int
	key     string
	leader  int64 // wanted; 0 where the client left that to the system
	from    int64
	ended   int // index of its info event, -1 where there is none
	used    bool
	at      int64 // of the change that it came to
}

// Merge completes the history of a run with what the system committed. The
// events are those of the clients, in order; the changes may be in any order.
// The result is a history in which every value that was ever true is written
// once, and no write is of unknown outcome.
//
// Unknown outcomes are settled as checker.Resolve does by a system's log, with
// one difference. A client asks for a leader and not for a value, so that a
// change may be given to another than the client who asked for it. That is
// sound, since the latest moment of every change is known: the write is over at
// that moment whoever made it, and beginning at the client's invoke, or where the
// change may have been earlier still, only widens it. What no change is left for
// did not happen, as the changes are all there are.
//
// An acknowledged write that is not among the changes stays as it is: the
// system has lost it.
func Merge(events []histories.Event, truth []Change) []histories.Event {
	truth = slices.Clone(truth)
	slices.SortStableFunc(truth, func(a, b Change) int { return cmp.Compare(a.Order, b.Order) })
	m := merger{acknowledged: map[string]bool{}, open: map[int]*wish{}}
	for i := range events {
		m.look(i, &events[i])
	}
	writes := m.systemWrites(truth)
	m.settle(events, &writes)
	return m.interleave(events, writes)
}

type merger struct {
	acknowledged map[string]bool // key and value
	open         map[int]*wish
	wishes       []*wish
	system       int // the process of the system's own writes
	dropped      map[int]bool
}

func id(key, value string) string { return key + " " + value }

func (m *merger) look(i int, e *histories.Event) {
	if !e.Process.IsClient() {
		return
	}
	m.system = max(m.system, e.Process.Client+1)
	if e.F != "write" {
		return
	}
	key, _ := e.Key.AsString()
	switch e.Type {
	case histories.Invoke:
		m.open[e.Process.Client] = &wish{process: e.Process.Client, key: key, leader: wanted(e), from: e.Time, ended: -1}
		m.wishes = append(m.wishes, m.open[e.Process.Client])
		return
	case histories.OK:
		value, _ := e.Value.AsString()
		m.acknowledged[id(key, value)] = true
		m.forget(e.Process.Client)
	case histories.Fail:
		m.forget(e.Process.Client)
	case histories.Info:
		if w := m.open[e.Process.Client]; w != nil {
			w.ended = i
		}
	}
	delete(m.open, e.Process.Client)
}

func (m *merger) forget(process int) {
	if w := m.open[process]; w != nil {
		m.wishes = slices.DeleteFunc(m.wishes, func(o *wish) bool { return o == w })
	}
}

// wanted is the leader that a write asked for.
func wanted(e *histories.Event) int64 {
	for _, f := range e.Extra {
		if f.Name == "target" {
			n, _ := f.Value.AsInt()
			return n
		}
	}
	return 0
}

// placed is an event to be put in at a time.
type placed struct {
	at    int64
	event histories.Event
}

// systemWrites gives the writes by which the system itself changed leaders, and
// those of clients whose outcome only the truth tells.
func (m *merger) systemWrites(truth []Change) []placed {
	var out []placed
	overlapping := m.system
	for _, c := range truth {
		key, value := c.Partition.String(), Text(c.Leader, c.Epoch)
		if m.acknowledged[id(key, value)] {
			continue
		}
		e := histories.Event{
			Time: int64(c.At), F: "write", Key: histories.String(key), Value: histories.String(value),
			Process: histories.Process{Client: m.system},
		}
		if w := m.wishFor(key, int64(c.Leader), int64(c.At)); w != nil && c.Early == 0 {
			w.used, w.at = true, int64(c.At)
			e.Process.Client = w.process
		} else {
			if c.Early > 0 { // others may be under way meanwhile
				overlapping++
				e.Process.Client = overlapping
			}
			invoke := e
			invoke.Type, invoke.Time = histories.Invoke, int64(c.At-c.Early)
			out = append(out, placed{invoke.Time, invoke})
		}
		e.Type, e.Version = histories.OK, histories.At(int64(c.Epoch))
		out = append(out, placed{int64(c.At), e})
	}
	return out
}

func (m *merger) wishFor(key string, leader, at int64) *wish {
	for _, w := range m.wishes {
		if !w.used && w.key == key && w.leader == leader && w.from <= at {
			return w
		}
	}
	return nil
}

// settle ends what clients never learnt the outcome of: the info goes, and where
// the truth knows of no such change the write failed.
func (m *merger) settle(events []histories.Event, writes *[]placed) {
	m.dropped = map[int]bool{}
	last := int64(0)
	if n := len(events); n > 0 {
		last = events[n-1].Time
	}
	for _, w := range m.wishes {
		if w.ended >= 0 {
			m.dropped[w.ended] = true
		}
		if w.used {
			continue
		}
		*writes = append(*writes, placed{last, histories.Event{
			Time: last, Process: histories.Process{Client: w.process}, Type: histories.Fail, F: "write",
			Key: histories.String(w.key), Error: "no change that the system committed is put down to it",
		}})
	}
	slices.SortStableFunc(*writes, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
}

// interleave puts the writes in where they belong: before whatever happened
// later, and before the answers of the same moment, which may already tell them.
func (m *merger) interleave(events []histories.Event, writes []placed) []histories.Event {
	out := make([]histories.Event, 0, len(events)+len(writes))
	add := func(e histories.Event) {
		e.Index = len(out)
		out = append(out, e)
	}
	next := 0
	invoked := map[int]bool{}
	put := func() {
		add(writes[next].event)
		next++
	}
	for i := range events {
		e := &events[i]
		for next < len(writes) && (writes[next].at < e.Time || writes[next].at == e.Time && e.Type != histories.Invoke &&
			(writes[next].event.Type == histories.Invoke || writes[next].event.Process.Client >= m.system || invoked[writes[next].event.Process.Client])) {
			put()
		}
		if m.dropped[i] {
			continue
		}
		if e.Type == histories.Invoke && e.F == "write" {
			invoked[e.Process.Client] = true
		}
		add(*e)
	}
	for next < len(writes) {
		put()
	}
	return out
}
