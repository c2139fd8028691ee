package checker

import "github.com/stalemate-io/stalemate/histories"

// graph is the one-order check over all keys: can all writes and reads be put
// in one order in which
//
//   - the states of each key follow in the order of that key,
//   - a read comes after the state it saw and before the next state of its key,
//   - the reads of an observer follow in the order in which it made them (reads
//     that overlap are free),
//   - a write comes after everything, of any observer, that was over before it
//     was invoked?
//
// That is a topological sort. What remains when it stops lies on cycles or
// behind them. Edges are never stored: the order of a key is given by numbers, and
// time by the positions of events, over which one pointer for all and one for
// each observer walk forward. So time and memory are linear in the history.
type graph struct {
	r         *resolver
	registers []*keyOrder
	base      []int32 // number of a key's first state
	waiting   []int32 // for each state, what it still waits for
	first     []int32 // for each state, the first of its reads, chained by next
	next      []int32 // by operation
	ready     []bool  // by operation: a read whose observer has arrived at it
	sorted    []bool  // by operation
	stateDone []bool
	unsorted  int               // states and operations that are left to sort
	everyone  walker            // all that is over, for writes
	observers map[int32]*walker // each one's reads
	todo      []int32           // states and operations that just were sorted, see push
}

// walker walks over the events of some operations. It stops at a completion
// of an operation that is not sorted yet, so that what is invoked behind it
// waits for it.
type walker struct {
	events []int32 // operation, or ^operation for its completion
	at     int
}

// newGraph prepares the sort; registers of keys that no one-order can be asked
// of are nil.
func newGraph(r *resolver, registers []*keyOrder) *graph {
	h := r.v.history
	g := &graph{
		r: r, registers: registers,
		base:      make([]int32, len(registers)+1),
		next:      make([]int32, len(h.Operations)),
		ready:     make([]bool, len(h.Operations)),
		sorted:    make([]bool, len(h.Operations)),
		observers: make(map[int32]*walker),
	}
	for k, reg := range registers {
		g.base[k+1] = g.base[k]
		if reg != nil {
			g.base[k+1] += int32(len(reg.states))
		}
	}
	n := g.base[len(registers)]
	g.waiting, g.first, g.stateDone = make([]int32, n), make([]int32, n), make([]bool, n)
	for s := range g.first {
		g.first[s] = noOp
	}
	g.link()
	return g
}

// link counts what each state waits for and lays out the events.
func (g *graph) link() {
	h := g.r.v.history
	at := make([]int32, h.Events)
	for p := range at {
		at[p] = noEvent
	}
	for k, reg := range g.registers {
		if reg == nil {
			continue
		}
		for s := range reg.states {
			id := g.base[k] + int32(s)
			if s > 0 {
				g.waiting[id]++ // the state before
			}
			if op := reg.states[s].op; op != noOp {
				g.waiting[id]++ // the time of its invocation
			}
		}
		g.unsorted += len(reg.states)
	}
	for i, op := range g.r.v.operations {
		if !g.takesPart(i) {
			continue
		}
		g.unsorted++
		if op.F == histories.Read {
			s, states := g.r.seen[i], g.registers[op.Key].states
			id := g.base[op.Key] + s
			g.next[i], g.first[id] = g.first[id], i
			if int(s)+1 < len(states) {
				g.waiting[id+1]++
			}
		}
		at[op.Invoked] = i
		if op.Completed != histories.Open {
			at[op.Completed] = ^i
		}
	}
	for _, e := range at {
		if e == noEvent {
			continue
		}
		i := e
		if i < 0 {
			i = ^i
		}
		op := &h.Operations[i]
		if op.F == histories.Read {
			id := observerOf(h, op)
			w := g.observers[id]
			if w == nil {
				w = &walker{}
				g.observers[id] = w
			}
			w.events = append(w.events, e)
			if e >= 0 {
				continue // reads wait for nobody but their observer
			}
		}
		g.everyone.events = append(g.everyone.events, e)
	}
}

const noEvent int32 = -1 << 31

// sort sorts as much as it can and reports whether that is everything.
func (g *graph) sort() bool {
	for k, reg := range g.registers {
		if reg != nil {
			g.release(int32(k), 0, 0)
		}
	}
	for _, id := range sortedKeys(g.observers) {
		g.walk(g.observers[id], false)
	}
	g.walk(&g.everyone, true)
	for len(g.todo) > 0 {
		i := g.todo[len(g.todo)-1]
		g.todo = g.todo[:len(g.todo)-1]
		op := &g.r.v.history.Operations[i]
		if op.F == histories.Read {
			g.release(op.Key, g.r.seen[i]+1, 1)
			g.walk(g.observers[observerOf(g.r.v.history, op)], false)
		}
		g.walk(&g.everyone, true)
	}
	return g.unsorted == 0
}

// takesPart reports whether an operation is a node of the graph. A write that
// was acknowledged with the version of another one is not.
func (g *graph) takesPart(i int32) bool {
	op := &g.r.v.history.Operations[i]
	reg := g.registers[op.Key]
	s := g.r.seen[i]
	return reg != nil && s != noState && (op.F == histories.Read || reg.states[s].op == i)
}

// release takes a number of reasons to wait from a state of a key, and sorts it,
// its reads that are ready and then what follows once it waits for nothing.
func (g *graph) release(key, s, reasons int32) {
	reg := g.registers[key]
	for ; int(s) < len(reg.states); s++ {
		id := g.base[key] + s
		if g.waiting[id] -= reasons; g.waiting[id] > 0 || g.stateDone[id] {
			return
		}
		g.stateDone[id] = true
		g.unsorted--
		if op := reg.states[s].op; op != noOp {
			g.finish(op)
		}
		for i := g.first[id]; i != noOp; i = g.next[i] {
			if g.ready[i] {
				g.finish(i)
			}
		}
		reasons = 1
	}
}

// finish marks an operation as sorted and leaves its consequences for later.
func (g *graph) finish(i int32) {
	if !g.sorted[i] {
		g.sorted[i] = true
		g.unsorted--
		g.todo = append(g.todo, i)
	}
}

// walk lets a walker go on as far as what is over is sorted.
func (g *graph) walk(w *walker, everyone bool) {
	for ; w.at < len(w.events); w.at++ {
		e := w.events[w.at]
		if e < 0 {
			if !g.sorted[^e] {
				return
			}
			continue
		}
		op := &g.r.v.history.Operations[e]
		if everyone {
			g.release(op.Key, g.r.seen[e], 1)
			continue
		}
		g.ready[e] = true
		if g.stateDone[g.base[op.Key]+g.r.seen[e]] {
			g.finish(e)
		}
	}
}
