package checker

import (
	"github.com/stalemate-io/stalemate/histories"
)

// Timeline places the operations of a history in the order of each key's
// states: what a picture of the history is drawn from. It judges nothing and
// agrees with the verdict, which was made by the same rules.
type Timeline struct {
	// Seen has what each operation of the history wrote or saw, by index into
	// History.Operations.
	Seen []Sighting
	// Orders has the states of each key in their order, by index into
	// History.Keys; an order without states is not known.
	Orders []StateOrder
	// Broken has, for operations that contradict one order by themselves, the
	// kind of anomaly that they are part of.
	Broken map[int32]string
	// Faults are what was done to the system, in order.
	Faults []FaultWindow
}

// Sighting is one operation's place in its key's order.
type Sighting struct {
	// Place is the number of the state that was written or seen: 0 is the
	// initial value; NoPlace where the order is not known or says nothing.
	Place int32
	// Missed is the operation by which a newer state was known before this
	// read began, NoPlace for reads that were fresh; see Verdict.StalenessMS.
	Missed int32
	// Lag is for how long that had been known, in nanoseconds, -1 where the
	// history has no times or the read was fresh; Behind how many states the
	// read was behind.
	Lag    int64
	Behind int32
}

// NoPlace marks what has no place in an order.
const NoPlace int32 = -1

// StateOrder is the order of one key's states, the initial one first.
type StateOrder struct {
	States []PlacedState
	// Undecided says why the order is not known.
	Undecided string
}

// PlacedState is one value that a key had.
type PlacedState struct {
	Value   histories.Datum
	Version int64
	// Write is the operation that wrote it, Known the one by whose completion
	// it was certainly there; NoPlace where there is none.
	Write, Known int32
}

// FaultWindow is one disturbance of the system, from the first event that
// tells of its start to the last one that tells of its end.
type FaultWindow struct {
	Name    string
	Targets []string
	// From and To are nanoseconds since the start of the run; From is
	// histories.UnknownTime where the history has no times, To
	// histories.OpenTime where it was never stopped.
	From, To int64
	// Start and Stop are the same as positions in the history; Stop is
	// histories.Open where it was never stopped.
	Start, Stop int32
	// Text names it in words.
	Text string
}

// NewTimeline makes the timeline of a history that was judged by the same
// options. For models that are no registers there is no order of states, and it
// holds the faults alone.
func NewTimeline(h *histories.History, o Options) (*Timeline, error) {
	s, err := newSpec(h, &o)
	if err != nil {
		return nil, err
	}
	t := &Timeline{
		Seen: make([]Sighting, len(h.Operations)), Orders: make([]StateOrder, len(h.Keys)),
		Broken: make(map[int32]string),
	}
	for i := range t.Seen {
		t.Seen[i] = Sighting{Place: NoPlace, Missed: NoPlace, Lag: -1}
	}
	for _, f := range findFaults(h) {
		t.Faults = append(t.Faults, FaultWindow{f.name, f.targets, f.from, f.to, f.start, f.stop, f.String()})
	}
	if !s.model.isRegister() {
		return t, nil
	}
	t.place(h, &s)
	paths := readPaths(h)
	if len(paths) < 2 {
		paths = []int16{everyPath}
	}
	for _, p := range paths {
		t.measure(h, &s, p)
	}
	return t, nil
}

// place numbers the states as all paths together show them, so that one number
// means one state on every path.
func (t *Timeline) place(h *histories.History, s *spec) {
	v := newView(h, everyPath)
	r := newResolver(&v, s)
	v.eachKey(func(key int32) {
		reg := r.resolve(key)
		if reg.undecided != "" {
			t.Orders[key].Undecided = reg.undecided
			return
		}
		states := make([]PlacedState, len(reg.states))
		for n, st := range reg.states {
			states[n] = PlacedState{st.value, st.version, st.op, reg.known[n]}
		}
		t.Orders[key].States = states
		for _, i := range v.keys[key] {
			t.Seen[i].Place = r.seen[i]
		}
	})
}

// measure notes what the reads of one path missed and contradict, as the
// verdict on that path does.
func (t *Timeline) measure(h *histories.History, s *spec, path int16) {
	v := newView(h, path)
	order := oneOrder(&v, s)
	for _, f := range order.flaws {
		last := f.ops[len(f.ops)-1]
		if f.kind == kindFork {
			for _, i := range f.ops {
				t.Broken[i] = f.kind
			}
			continue
		}
		t.Broken[last] = f.kind
	}
	for _, r := range measureStaleness(order).stale {
		t.Seen[r.op].Missed, t.Seen[r.op].Lag, t.Seen[r.op].Behind = r.missed, r.lag, r.behind
	}
	from := finalReads(h)
	for i := range t.Seen {
		if op := &h.Operations[i]; t.Seen[i].Missed != NoPlace && op.Invoked > from {
			t.Broken[int32(i)] = kindStuck
		}
	}
}
