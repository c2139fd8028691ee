package checker

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
)

// The windowed engine decides every model by just-in-time linearization (Lowe,
// "Testing for linearizability", CCPE 29(4), 2017), breadth first. It walks
// over the history and keeps the set of all configurations that the past
// allows: a state, and which of the operations now pending have taken effect.
// What is over is in no configuration, so memory follows concurrency and not
// length. Only at the completion of x does anything have to happen: in every
// configuration in which x has not taken effect, some sequence of pending
// operations ending in x takes effect now. (Take any legal order and, at each
// completion, the part of it up to x: whatever stands before x was invoked
// before x completed, so it is pending or has taken effect.) If no
// configuration is left, there is no legal order.
//
// Four reductions, each of which keeps the answer:
//
// Matching reads are taken at once. A pending read that fits the state can
// take effect now; it changes nothing, and a legal order that has it later
// stays legal with it here.
//
// Writes that could be hidden are free. A write is blind where it is accepted
// in every state and its outcome does not depend on it. When a blind write
// takes effect, any other pending blind write could have done so just before
// it, unseen. It is marked free: it may complete without more ado, and may
// still take effect later for good. Free is better than both other marks, so
// this replaces the choice "hide it now or keep it", which would double the
// configurations for each pending write. For the same reason a blind write
// other than x is tried only where something that is not a blind write could
// follow it: else the next write hides it, which its mark allows already.
//
// Equal open calls are one. Calls of unknown outcome stay pending to the end.
// Those that do the same are a class, and a configuration says how many of a
// class it has used and not which: the first invoked are used first.
//
// Dominated configurations are dropped. Of two with one state and the same
// updates in effect, one that has used no more open calls, taken no fewer
// reads and has every write at least as free can do all that the other can.
//
// For counters and sets, updates commute and are never refused. So while no
// read is pending, nothing can tell in which order they take effect, and x
// alone is taken, the others at their own completions.

// windowSlots is how many calls that complete can be pending at once.
const windowSlots = 64

// configuration is one possible present.
type configuration struct {
	state uint64
	done  uint64 // pending calls that have taken effect, by slot
	free  uint64 // pending blind writes that could have been hidden, by slot
	open  uint32 // number of the vector of used open calls
}

// reductions chooses among the reductions above, so that each can be held
// against the plain search by itself.
type reductions struct {
	matchingReads, hiddenWrites, equalOpen, dominated bool
	unseenOpen                                        bool // see observable
}

// window is the working memory of a search.
type window struct {
	p     *program
	use   reductions
	slots [windowSlots]*call
	// Sets of slots that are taken: all, and the reads and blind writes of them.
	pending, reads, blind uint64

	classes []openClass
	class   map[callShape]int
	vectors openVectors

	now, next []configuration
	stack     []configuration
	met       map[configuration]struct{} // configurations met at this completion
}

// openClass is the open calls that do the same.
type openClass struct {
	call    *call
	invoked uint32
	blind   bool
}

// callShape is what an open call does.
type callShape struct {
	action   action
	arg, res uint64
}

// windowedKey searches one key, with all reductions.
func windowedKey(ctx context.Context, p *program, b *budget) keyResult {
	return windowedWith(ctx, p, b, reductions{true, true, true, true, true})
}

// windowedWith searches one key.
func windowedWith(ctx context.Context, p *program, b *budget, use reductions) keyResult {
	w := window{
		p:     p,
		use:   use,
		class: map[callShape]int{},
		met:   map[configuration]struct{}{},
		now:   []configuration{{state: p.machine.start()}},
	}
	w.vectors.init()
	useful := p.observable()
	returns := byCompletion(p.calls)
	slotOf := make([]int8, len(p.calls))
	invoked := 0
	for n, r := range returns {
		done := &p.calls[r]
		for ; invoked < len(p.calls) && p.calls[invoked].invoked < done.completed; invoked++ {
			c := &p.calls[invoked]
			if !c.known {
				if !use.unseenOpen || useful(c) {
					w.addOpen(c)
				}
				continue
			}
			slot := bits.TrailingZeros64(^w.pending)
			if slot == windowSlots {
				return keyResult{
					answer: Undecided, crowded: true,
					reason: "more than 64 operations on one key were pending at once, which is more than the engine windowed holds; the engine porcupine has no such bound",
				}
			}
			slotOf[invoked] = int8(slot)
			w.invoke(slot, c)
		}
		if why := w.complete(ctx, int(slotOf[r]), b); why != "" {
			return keyResult{answer: Undecided, reason: why}
		}
		if len(w.now) == 0 {
			return keyResult{answer: Violated, failedAt: done.completed}
		}
		if n%1024 == 0 && ctx.Err() != nil {
			return keyResult{answer: Undecided, reason: stopped(ctx.Err())}
		}
	}
	return keyResult{answer: Holds}
}

// byCompletion lists the calls that complete, in order of completion.
func byCompletion(calls []call) []int32 {
	words := make([]uint64, 0, len(calls))
	for i := range calls {
		if calls[i].known {
			words = append(words, uint64(calls[i].completed)<<32|uint64(i))
		}
	}
	words, _ = sortByHigh(words, nil)
	order := make([]int32, len(words))
	for i, w := range words {
		order[i] = int32(uint32(w))
	}
	return order
}

// isBlind reports whether a call is accepted in every state and leaves behind
// a state that does not depend on the one before.
func (p *program) isBlind(c *call) bool {
	_, register := p.machine.(registerMachine)
	return register && c.action == actWrite
}

// observable tells which open calls can matter. In a register, an update whose
// value nobody returned and nobody's cas expected can be left out of every
// legal order, so an open one may be forgotten. In a queue the same is true of
// an enqueue whose element no known dequeue returned: whatever stands behind
// it was never met, or else some unknown dequeue took it, which can be left out
// as well.
func (p *program) observable() func(*call) bool {
	switch p.machine.(type) {
	case registerMachine:
	case *queueMachine:
		taken := map[uint64]bool{}
		for i := range p.calls {
			if c := &p.calls[i]; c.action == actDequeue && c.known {
				taken[c.res] = true
			}
		}
		return func(c *call) bool { return c.action == actDequeue || taken[c.arg] }
	default:
		return func(*call) bool { return true }
	}
	seen := map[uint64]bool{}
	for i := range p.calls {
		switch c := &p.calls[i]; c.action {
		case actRead:
			seen[c.res] = true
		case actCAS:
			seen[c.arg] = true
		}
	}
	return func(c *call) bool {
		if c.action == actCAS {
			return seen[c.res] && c.arg != c.res
		}
		return seen[c.arg]
	}
}

// invoke puts a call into a slot, and takes it where it is a matching read.
func (w *window) invoke(slot int, c *call) {
	bit := uint64(1) << slot
	w.slots[slot] = c
	w.pending |= bit
	switch {
	case c.isRead():
		w.reads |= bit
		for i := range w.now {
			if _, ok := w.p.machine.step(w.now[i].state, c); ok && w.use.matchingReads {
				w.now[i].done |= bit
			}
		}
	case w.use.hiddenWrites && w.p.isBlind(c):
		w.blind |= bit
	}
}

// addOpen adds a call of unknown outcome to its class.
func (w *window) addOpen(c *call) {
	shape := callShape{c.action, c.arg, c.res}
	n, ok := w.class[shape]
	if !ok || !w.use.equalOpen {
		n = len(w.classes)
		w.class[shape] = n
		w.classes = append(w.classes, openClass{call: c, blind: w.use.hiddenWrites && w.p.isBlind(c)})
	}
	w.classes[n].invoked++
}

// complete takes the call in a slot out of the window: every configuration
// must have let it take effect by now.
func (w *window) complete(ctx context.Context, slot int, b *budget) (why string) {
	x := uint64(1) << slot
	w.next, w.stack = w.next[:0], w.stack[:0]
	for _, c := range w.now {
		if c.done&x != 0 {
			c.done &^= x
			w.next = append(w.next, c)
			continue
		}
		if c.free&x != 0 {
			hidden := c
			hidden.free &^= x
			w.next = append(w.next, hidden)
		}
		w.stack = append(w.stack, c)
	}
	if len(w.stack) > 0 {
		clear(w.met)
		for _, c := range w.stack {
			w.met[c] = struct{}{}
		}
		for steps := 0; len(w.stack) > 0; steps++ {
			if steps%256 == 0 {
				held := int64(len(w.met)+cap(w.next)+cap(w.now)+cap(w.stack))*64 + w.p.machine.bytes() + w.vectors.bytes()
				if why := b.exceeded(ctx, held); why != "" {
					return why
				}
			}
			c := w.stack[len(w.stack)-1]
			w.stack = w.stack[:len(w.stack)-1]
			w.expand(c, x)
		}
	}
	w.pending &^= x
	w.reads &^= x
	w.blind &^= x
	w.next = w.undominated(w.next)
	w.now, w.next = w.next, w.now
	return ""
}

// expand tries every call that may take effect next in c on the way to x.
func (w *window) expand(c configuration, x uint64) {
	alone := w.p.pure && w.reads&^c.done == 0
	for left := w.pending &^ c.done; left != 0; left &= left - 1 {
		bit := left & -left
		if alone && bit != x {
			continue
		}
		if bit&w.reads != 0 && w.use.matchingReads {
			continue // matching reads are taken at once; this one does not match
		}
		call := w.slots[bits.TrailingZeros64(bit)]
		state, ok := w.p.machine.step(c.state, call)
		if !ok {
			continue
		}
		after := c
		after.state = state
		after.done |= bit
		after.free &^= bit
		if bit&w.blind != 0 {
			after.free |= w.blind &^ after.done
		}
		w.reach(after, x, bit&w.blind != 0 && bit != x)
	}
	if alone {
		return
	}
	for n := range w.classes {
		class := &w.classes[n]
		if w.vectors.used(c.open, n) == class.invoked {
			continue
		}
		state, ok := w.p.machine.step(c.state, class.call)
		if !ok || state == c.state {
			continue
		}
		after := c
		after.state = state
		after.open = w.vectors.use(c.open, n)
		if class.blind {
			after.free |= w.blind &^ after.done
		}
		w.reach(after, x, class.blind)
	}
}

// reach notes a configuration met on the way to x; where it came of a blind
// write other than x, only if something could see that write.
func (w *window) reach(c configuration, x uint64, mustBeSeen bool) {
	seen := false
	for left := w.reads & w.pending &^ c.done; left != 0; left &= left - 1 {
		bit := left & -left
		if _, ok := w.p.machine.step(c.state, w.slots[bits.TrailingZeros64(bit)]); ok {
			if w.use.matchingReads {
				c.done |= bit
			}
			seen = true
		}
	}
	if mustBeSeen && !seen && !w.canFollow(c) {
		return
	}
	if _, ok := w.met[c]; ok {
		return
	}
	w.met[c] = struct{}{}
	if c.done&x != 0 {
		c.done &^= x
		w.next = append(w.next, c)
		return
	}
	w.stack = append(w.stack, c)
}

// canFollow reports whether an update that is not blind can take effect in c.
func (w *window) canFollow(c configuration) bool {
	for left := w.pending &^ (c.done | w.blind | w.reads); left != 0; left &= left - 1 {
		if _, ok := w.p.machine.step(c.state, w.slots[bits.TrailingZeros64(left)]); ok {
			return true
		}
	}
	for n := range w.classes {
		class := &w.classes[n]
		if class.blind || w.vectors.used(c.open, n) == class.invoked {
			continue
		}
		if state, ok := w.p.machine.step(c.state, class.call); ok && state != c.state {
			return true
		}
	}
	return false
}

// undominated sorts configurations and drops those that another one dominates.
func (w *window) undominated(all []configuration) []configuration {
	if len(all) < 2 || !w.use.dominated {
		return all
	}
	fixed := w.pending &^ (w.reads | w.blind)
	slices.SortFunc(all, func(a, b configuration) int {
		switch {
		case a.state != b.state:
			return cmp.Compare(a.state, b.state)
		case a.done&fixed != b.done&fixed:
			return cmp.Compare(a.done&fixed, b.done&fixed)
		case a.open != b.open:
			return cmp.Compare(a.open, b.open)
		case a.free != b.free: // freer first: the likelier to dominate
			return cmp.Compare(b.free, a.free)
		}
		return cmp.Compare(b.done, a.done)
	})
	kept := all[:0]
	group := 0 // where the group of the last one kept begins
	for _, c := range all {
		if len(kept) > 0 && (kept[group].state != c.state || kept[group].done&fixed != c.done&fixed) {
			group = len(kept)
		}
		if !slices.ContainsFunc(kept[group:], func(a configuration) bool { return w.dominates(&a, &c) }) {
			kept = append(kept, c)
		}
	}
	return kept
}

// dominates reports whether a can do all that b can, given that state and
// updates in effect other than blind writes are the same.
func (w *window) dominates(a, b *configuration) bool {
	if b.done&w.reads&^a.done != 0 {
		return false
	}
	// Blind writes: free in a, or marked alike in both.
	if w.blind&^a.free&((a.done^b.done)|(a.free^b.free)) != 0 {
		return false
	}
	return w.vectors.atMost(a.open, b.open)
}

// openVectors numbers the vectors that say how many calls of each class a
// configuration has used. Number 0 is the vector of zeros; vectors end before
// their trailing zeros.
type openVectors struct {
	vectors [][]uint32
	index   map[string]uint32
	held    int64
}

func (v *openVectors) init() {
	v.vectors = [][]uint32{nil}
	v.index = map[string]uint32{"": 0}
}

func (v *openVectors) bytes() int64 { return v.held }

// used is how many calls of a class a vector has used.
func (v *openVectors) used(vector uint32, class int) uint32 {
	if counts := v.vectors[vector]; class < len(counts) {
		return counts[class]
	}
	return 0
}

// use is the vector that has used one call of a class more.
func (v *openVectors) use(vector uint32, class int) uint32 {
	counts := make([]uint32, max(class+1, len(v.vectors[vector])))
	copy(counts, v.vectors[vector])
	counts[class]++
	key := make([]byte, 0, 4*len(counts))
	for _, n := range counts {
		key = append(key, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	}
	n, ok := v.index[string(key)]
	if !ok {
		n = uint32(len(v.vectors))
		v.vectors = append(v.vectors, counts)
		v.index[string(key)] = n
		v.held += int64(8*len(counts) + 64)
	}
	return n
}

// atMost reports whether a has used no more of any class than b.
func (v *openVectors) atMost(a, b uint32) bool {
	if a == b {
		return true
	}
	for class, n := range v.vectors[a] {
		if n > v.used(b, class) {
			return false
		}
	}
	return true
}
