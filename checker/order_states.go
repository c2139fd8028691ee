package checker

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/stalemate-io/stalemate/histories"
)

// state is one value that a register had, in its place among the others. State
// 0 of a key is its initial value.
type state struct {
	value   histories.Datum
	version int64 // UnknownVersion where the system gave none
	// op is the write that made it, as an index into History.Operations, or
	// noOp: the initial value, and what was read but written by no client.
	op int32
}

const noOp int32 = -1

// noState is the state of an operation that has none: it failed, is unknown and
// was never seen, or what it returned says nothing.
const noState int32 = -1

// keyOrder is one key as the order checks see it: its states in order of
// writing and what each operation wrote or saw.
type keyOrder struct {
	key    int32
	states []state
	// known gives, for each state, the operation by whose completion it or a
	// later state certainly stood: the first acknowledged write or completed read
	// of a state not older. noOp where none completed.
	known []int32
	// undecided says why the order of the states is not known; empty where it
	// is. Then states is not in any order and known is nil.
	undecided string
	// doubt says why, though the order is known, it is not certain that every
	// operation fits it; empty where it is.
	doubt string
	// unplaced says which read may have seen any of several states, though
	// their order is known; empty where there is no such read. It constrains
	// nothing, so that what the others break is certain.
	unplaced string
	// chosen is set where the order is one of several possible ones: a checker
	// may use it to show that something holds, never that it is broken.
	chosen bool
	// flaws are what no order could explain, found while making the order.
	flaws []flaw
	// relation is what is known of the order where versions do not give it;
	// nil where they do.
	relation *relation
	// stale and sessions are what staleness and the session guarantees find on
	// this key; see measureStaleness and sessions for the whole.
	stale    []staleRead
	sessions keySessions
}

// flaw is a violation of one order on one key, not yet put into words: the
// operations that prove it.
type flaw struct {
	kind string
	ops  []int32
	key  int32
	// observer tells whose view went wrong, for regress; else noObserver.
	observer int32
	why      string
}

// The kinds of anomalies.
const (
	kindRegress    = "regress"     // an observer went back to an older value
	kindConflict   = "conflict"    // one version, two values, or versions against real time
	kindFork       = "fork"        // two observers saw two writes in opposite orders
	kindPhantom    = "phantom"     // a value that nobody had committed
	kindStuck      = "stuck"       // still stale after heal and settling
	kindDualLeader = "dual-leader" // one version, two leaders
	kindStaleRead  = "stale"       // an old value; an anomaly only where that is not promised
	kindNotLinear  = "not-linearizable"
	kindTooStale   = "too-stale"  // a read beyond --max-staleness
	kindLost       = "lost"       // an acknowledged element that is gone
	kindNever      = "never-read" // an acknowledged element that nobody saw
)

// resolver makes the orders of the keys of a view.
type resolver struct {
	v    *view
	spec *spec
	// seen gives the state that each operation wrote or saw, by index into
	// History.Operations; keys write to different places of it. It is noState
	// for what the view does not show.
	seen []int32
}

func newResolver(v *view, s *spec) *resolver {
	r := &resolver{v: v, spec: s, seen: make([]int32, len(v.history.Operations))}
	for i := range r.seen {
		r.seen[i] = noState
	}
	return r
}

// resolve finds the states of a key and their order: by version where the
// system gave versions, else by what real time, compare-and-sets and reads
// decide.
func (r *resolver) resolve(key int32) *keyOrder {
	reg := &keyOrder{key: key}
	if r.versioned(key) {
		r.byVersion(reg)
	} else {
		r.byRelation(reg)
	}
	if reg.undecided == "" {
		r.findKnown(reg)
	}
	return reg
}

// writes reports whether an operation that did not fail changes a register.
func writes(op *histories.Operation) bool {
	return op.Outcome != histories.Failed && (op.F == histories.Write || op.F == histories.CAS)
}

// written is the value that a write or compare-and-set leaves.
func written(op *histories.Operation) histories.Datum {
	if op.F == histories.CAS {
		return op.Result
	}
	return op.Argument
}

// isSeen reports whether an operation is a read that says something.
func (r *resolver) isSeen(op *histories.Operation) bool {
	return op.F == histories.Read && !skipsRead(r.spec, op, actRead)
}

// versioned reports whether versions give a key's order: something has one, and
// every acknowledged write has one or is the only one of its value and was read
// with one.
func (r *resolver) versioned(key int32) bool {
	ops := r.v.history.Operations
	some := false
	var without map[histories.Datum]int // how often each value that needs a version was written
	for _, i := range r.v.keys[key] {
		op := &ops[i]
		if op.Outcome != histories.Happened {
			continue
		}
		if op.Version != histories.UnknownVersion {
			some = true
		} else if writes(op) {
			if without == nil {
				without = make(map[histories.Datum]int)
			}
			without[written(op)] = 0
		}
	}
	if !some || len(without) == 0 {
		return some
	}
	if _, ok := without[r.spec.start(key)]; ok {
		return false
	}
	told := make(map[histories.Datum]bool)
	for _, i := range r.v.keys[key] {
		op := &ops[i]
		if writes(op) {
			v := written(op)
			if n, ok := without[v]; ok && n > 0 {
				return false
			} else if ok {
				without[v]++
			}
		} else if r.isSeen(op) && op.Version != histories.UnknownVersion {
			if _, ok := without[op.Result]; ok {
				told[op.Result] = true
			}
		}
	}
	return len(told) == len(without)
}

// acknowledged reports whether an operation is a write whose version is known
// from its own answer.
func acknowledged(op *histories.Operation) bool {
	return writes(op) && op.Outcome == histories.Happened && op.Version != histories.UnknownVersion
}

// byVersion orders the states by the versions that the system gave them. A
// write that told none has a place once somebody saw its version; one of unknown
// outcome may until then never have happened and constrains nothing.
func (r *resolver) byVersion(reg *keyOrder) {
	ops := r.v.history.Operations
	list := r.v.keys[reg.key]
	reg.states = make([]state, 1, len(list)/2+1)
	reg.states[0] = state{r.spec.start(reg.key), histories.UnknownVersion, noOp}
	for _, i := range list {
		if op := &ops[i]; acknowledged(op) {
			reg.states = append(reg.states, state{written(op), op.Version, i})
		}
	}
	reg.sortStates(r.v.history)
	if missing := r.foreign(reg); len(missing) > 0 {
		reg.states = append(reg.states, missing...)
		reg.sortStates(r.v.history)
	}
	hint := 0
	var values map[histories.Datum]int32
	for _, i := range list {
		op := &ops[i]
		switch {
		case acknowledged(op):
			hint, _ = reg.find(op.Version, hint)
			r.seen[i] = int32(hint)
			if written(op) != reg.states[hint].value {
				reg.flaw(kindConflict, "two writes were acknowledged with one version", reg.states[hint].op, i)
			}
		case r.isSeen(op) && op.Version == histories.UnknownVersion:
			if values == nil {
				values = r.byValue(reg)
			}
			s, ok := values[op.Result]
			switch {
			case !ok:
				reg.flaw(kindPhantom, "", i)
			case s == noState && reg.unplaced == "":
				reg.unplaced = fmt.Sprintf("a read tells no version (event %d), and what it returned may have been written more than once%s", op.Invoked, onKey(r.v.history, reg.key))
			default:
				r.seen[i] = s
			}
		case r.isSeen(op):
			hint, _ = reg.find(op.Version, hint) // else the initial value's, as foreign saw
			if st := &reg.states[hint]; st.value == op.Result {
				r.seen[i] = int32(hint)
			} else {
				r.mismatch(reg, st.op, i)
			}
		}
	}
	r.adopt(reg)
	r.checkExpected(reg)
}

// mismatch notes a read that returned another value than its version has, by the
// write that was acknowledged with it or else by the first read that told it.
func (r *resolver) mismatch(reg *keyOrder, writer, read int32) {
	ops := r.v.history.Operations
	if writer != noOp && acknowledged(&ops[writer]) {
		reg.flaw(kindConflict, "the read tells the version of the write and another value", writer, read)
		return
	}
	reg.flaw(kindConflict, "two reads tell one version and two values", r.teller(reg.key, ops[read].Version), read)
}

// teller is the first read that told a version, which some read did.
func (r *resolver) teller(key int32, version int64) int32 {
	list := r.v.keys[key]
	return list[slices.IndexFunc(list, func(i int32) bool {
		op := &r.v.history.Operations[i]
		return r.isSeen(op) && op.Version == version
	})]
}

// evidence is what shows that a state has the version that it has: its write or,
// where that told none, the first read that did. The initial state needs none where
// it has no version.
func (r *resolver) evidence(reg *keyOrder, s int32) []int32 {
	st := &reg.states[s]
	var proof []int32
	if st.op != noOp {
		proof = append(proof, st.op)
	}
	if st.version != histories.UnknownVersion && (st.op == noOp || !acknowledged(&r.v.history.Operations[st.op])) {
		proof = append(proof, r.teller(reg.key, st.version))
	}
	return proof
}

// sortStates puts the states in order of version, one for each version.
func (reg *keyOrder) sortStates(h *histories.History) {
	rest := reg.states[1:]
	order := func(a, b state) int {
		if c := cmp.Compare(a.version, b.version); c != 0 {
			return c
		}
		return cmp.Compare(a.op, b.op)
	}
	if !slices.IsSortedFunc(rest, order) {
		slices.SortFunc(rest, order)
	}
	reg.states = slices.CompactFunc(reg.states, func(a, b state) bool { return a.version == b.version })
}

// find gives the state with a version, other than the initial one; hint is where
// to look first.
func (reg *keyOrder) find(version int64, hint int) (int, bool) {
	// Where versions count up by one, which they mostly do, their distance is
	// the states'.
	if i := hint + int(version-reg.states[hint].version); i >= 1 && i < len(reg.states) && reg.states[i].version == version {
		return i, true
	}
	for i := max(hint-1, 1); i <= hint+1 && i < len(reg.states); i++ {
		if reg.states[i].version == version {
			return i, true
		}
	}
	at, ok := slices.BinarySearchFunc(reg.states[1:], version, func(s state, v int64) int {
		return cmp.Compare(s.version, v)
	})
	if !ok {
		return 0, false
	}
	return at + 1, true
}

// foreign gives states for the versions that were read and that no acknowledged
// write made: the initial value with the version it had, writes of unknown
// outcome that took effect, and what nobody wrote.
func (r *resolver) foreign(reg *keyOrder) []state {
	ops := r.v.history.Operations
	readers := make(map[int64]int32) // the first read of each such version
	hint := 0
	for _, i := range r.v.keys[reg.key] {
		op := &ops[i]
		if !r.isSeen(op) || op.Version == histories.UnknownVersion {
			continue
		}
		if at, ok := reg.find(op.Version, hint); ok {
			hint = at
		} else if _, again := readers[op.Version]; !again {
			readers[op.Version] = i
		}
	}
	if len(readers) == 0 {
		return nil
	}
	var found []state
	unknown := r.unknownWrites(reg.key)
	mixed := make(map[histories.Datum]bool) // values of several unknown writes, some of them conditional
	for n, version := range slices.Sorted(maps.Keys(readers)) {
		i := readers[version]
		value := ops[i].Result
		writers := unknown[value]
		switch {
		case n == 0 && value == reg.states[0].value && (len(reg.states) == 1 || version < reg.states[1].version):
			reg.states[0].version = version
		case len(writers) > 0:
			// Any of several writes of the value may have made it. Who was
			// invoked first is bound least by real time, so that giving the
			// oldest version to it is right if anything is.
			// A compare-and-set among them is bound by what it expected too: then
			// the state has no writer that could be held against it.
			w := writers[0]
			if mixed[value] = mixed[value] || len(writers) > 1 && r.someCAS(writers); mixed[value] {
				w = noOp
				reg.doubt = "which of several operations of unknown outcome wrote a value is not decided, and a compare-and-set is among them" + onKey(r.v.history, reg.key)
			}
			found = append(found, state{value, version, w})
			unknown[value] = writers[1:]
		default:
			r.unwritten(reg, found, readers, i)
			found = append(found, state{value, version, noOp})
		}
	}
	return found
}

// unwritten notes a read of a version that no write is left to have made: those of
// its value, if any, made what they were acknowledged with and what others read.
func (r *resolver) unwritten(reg *keyOrder, found []state, readers map[int64]int32, read int32) {
	ops := r.v.history.Operations
	value := ops[read].Result
	var proof []int32
	for _, i := range r.v.keys[reg.key] {
		if writes(&ops[i]) && written(&ops[i]) == value {
			proof = append(proof, i)
		}
	}
	if value == reg.states[0].value {
		proof = append(proof, older(reg, readers))
	}
	if len(proof) == 0 {
		reg.flaw(kindPhantom, "", read)
		return
	}
	for _, s := range found {
		if s.value == value {
			proof = append(proof, readers[s.version])
		}
	}
	reg.flaw(kindConflict, "no write of the value can have the version that the last of these reads tells", append(proof, read)...)
}

// older is the operation that told the oldest version: it stands before what is not
// the initial value's.
func older(reg *keyOrder, readers map[int64]int32) int32 {
	oldest := slices.Min(slices.Collect(maps.Keys(readers)))
	if len(reg.states) > 1 && reg.states[1].version < oldest {
		return reg.states[1].op
	}
	return readers[oldest]
}

func (r *resolver) someCAS(ops []int32) bool {
	return slices.ContainsFunc(ops, func(i int32) bool { return r.v.history.Operations[i].F == histories.CAS })
}

// unknownWrites gives the writes of each value that told no version, in order of
// invocation: those of unknown outcome, mostly.
func (r *resolver) unknownWrites(key int32) map[histories.Datum][]int32 {
	m := make(map[histories.Datum][]int32)
	for _, i := range r.v.keys[key] {
		op := &r.v.history.Operations[i]
		if writes(op) && !acknowledged(op) {
			m[written(op)] = append(m[written(op)], i)
		}
	}
	return m
}

// adopt gives unknown writes that were seen the state they made.
func (r *resolver) adopt(reg *keyOrder) {
	for s := range reg.states {
		if op := reg.states[s].op; op != noOp {
			r.seen[op] = int32(s)
		}
	}
}

// byValue finds states by value; noState stands for a value that several have,
// or that an unknown write may have made though no version shows it.
func (r *resolver) byValue(reg *keyOrder) map[histories.Datum]int32 {
	m := make(map[histories.Datum]int32, len(reg.states))
	placed := make(map[int32]bool)
	for s := range reg.states {
		placed[reg.states[s].op] = true
		if _, twice := m[reg.states[s].value]; twice {
			m[reg.states[s].value] = noState
		} else {
			m[reg.states[s].value] = int32(s)
		}
	}
	for value, writers := range r.unknownWrites(reg.key) {
		for _, w := range writers {
			if !placed[w] {
				m[value] = noState
			}
		}
	}
	return m
}

// checkExpected notes the compare-and-sets that succeeded on another value than
// the one before theirs. Between versions that are not neighbours a write that
// nobody saw may have put the expected value there; then nothing is decided.
func (r *resolver) checkExpected(reg *keyOrder) {
	ops := r.v.history.Operations
	var unknown map[histories.Datum][]int32
	for s := 1; s < len(reg.states); s++ {
		i := reg.states[s].op
		before := &reg.states[s-1]
		if i == noOp || ops[i].F != histories.CAS || ops[i].Argument == before.value || before.op == noOp && s > 1 {
			continue
		}
		neighbours := before.version != histories.UnknownVersion && before.version+1 == reg.states[s].version
		if unknown == nil {
			unknown = r.unknownWrites(reg.key)
		}
		w := noOp
		var proof []int32 // beside the writes that had their place elsewhere
		for _, u := range unknown[ops[i].Argument] {
			if r.seen[u] == noState {
				w = u
			} else {
				proof = append(proof, u)
			}
		}
		if w != noOp && !neighbours {
			reg.doubt = fmt.Sprintf("whether a write of unknown outcome happened is not decided: event %d wrote the value that the compare-and-set of event %d expected, and no version shows it%s",
				ops[w].Invoked, ops[i].Invoked, onKey(r.v.history, reg.key))
			continue
		}
		proof = append(proof, r.evidence(reg, int32(s-1))...)
		reg.flaw(kindConflict, "the compare-and-set succeeded on another value than the one it expected", append(proof, i)...)
	}
}

func (reg *keyOrder) flaw(kind, why string, ops ...int32) {
	reg.flaws = append(reg.flaws, flaw{kind: kind, why: why, ops: ops, key: reg.key, observer: noObserver})
}

// findKnown fills known by one pass over the operations and one over the
// states, from the newest to the oldest.
func (r *resolver) findKnown(reg *keyOrder) {
	ops := r.v.history.Operations
	reg.known = make([]int32, len(reg.states))
	for s := range reg.known {
		reg.known[s] = noOp
	}
	sooner := func(s int32, i int32) {
		if old := reg.known[s]; ops[i].Outcome == histories.Happened && (old == noOp || ops[i].Completed < ops[old].Completed) {
			reg.known[s] = i
		}
	}
	for _, i := range r.v.keys[reg.key] {
		if s := r.seen[i]; s != noState {
			sooner(s, i)
		}
	}
	for s := len(reg.known) - 2; s >= 0; s-- {
		if next := reg.known[s+1]; next != noOp {
			sooner(int32(s), next)
		}
	}
}

// knownBefore reports whether state s or a later one certainly stood before a
// position of the history.
func (reg *keyOrder) knownBefore(h *histories.History, s int32, position int32) bool {
	if int(s) >= len(reg.known) || reg.known[s] == noOp {
		return false
	}
	return h.Operations[reg.known[s]].Completed < position
}
