package checker

import "github.com/stalemate-io/stalemate/histories"

// The rules that a key's order of states has to meet by itself. Together they
// are exact for one key: where all of them hold, putting every read right after
// the state it saw agrees with every constraint; see order_graph.go for what
// they leave to be checked across keys.

// checkKey applies every rule to one key whose order is known.
func (r *resolver) checkKey(reg *keyOrder) {
	if reg.undecided != "" {
		return
	}
	r.checkRealTime(reg)
	r.checkForward(reg)
}

// checkRealTime: a write comes after everything that was known before it was
// invoked. Whatever was acknowledged or read by then cannot be a later state.
// That covers writes ordered against real time, and reads of what was not yet
// written.
func (r *resolver) checkRealTime(reg *keyOrder) {
	ops := r.v.history.Operations
	for s := range reg.states {
		w := reg.states[s].op
		if w == noOp || !reg.knownBefore(r.v.history, int32(s), ops[w].Invoked) {
			continue
		}
		early := reg.known[s]
		switch {
		case ops[early].F == histories.Read && r.seen[early] == int32(s):
			reg.flaw(kindPhantom, "the read was over before the write was invoked", w, early)
		case ops[early].F == histories.Read:
			reg.flaw(kindConflict, "the read had seen a later version before this write was invoked", early, w)
		default:
			reg.flaw(kindConflict, "the versions order two writes against real time", early, w)
		}
	}
}

// checkForward: no observer sees an older state once it has seen a newer one.
// Reads of one observer that overlap say nothing about each other.
func (r *resolver) checkForward(reg *keyOrder) {
	h := r.v.history
	observers := make(map[int32]*watcher)
	for _, i := range r.v.keys[reg.key] {
		op := &h.Operations[i]
		if op.F != histories.Read || r.seen[i] == noState {
			continue
		}
		id := observerOf(h, op)
		w := observers[id]
		if w == nil {
			w = &watcher{newest: noOp}
			observers[id] = w
		}
		w.advance(r, op.Invoked)
		if w.newest != noOp && r.seen[w.newest] > r.seen[i] {
			reg.flaws = append(reg.flaws, flaw{kind: kindRegress, ops: []int32{w.newest, i}, key: reg.key, observer: id})
		}
		w.pending = append(w.pending, i)
	}
}

// watcher follows what one observer has seen of one key.
type watcher struct {
	pending []int32 // reads that are not over yet; as many as are concurrent
	newest  int32   // of the reads that are over, the one that saw the newest state
}

// advance moves reads that were over before a position out of pending.
func (w *watcher) advance(r *resolver, position int32) {
	kept := w.pending[:0]
	for _, i := range w.pending {
		if r.v.history.Operations[i].Completed >= position {
			kept = append(kept, i)
		} else if w.newest == noOp || r.seen[i] > r.seen[w.newest] {
			w.newest = i
		}
	}
	w.pending = kept
}
