package checker

import (
	"container/heap"
	"fmt"
	"slices"

	"github.com/stalemate-io/stalemate/histories"
)

// relation is what is certain about the order of a key's states where the
// system gave no versions but every value was written once. Each edge is
// necessary, so that a cycle is a violation; that there is none, and one order
// that agrees with all of them meets every rule, shows that one order exists.
type relation struct {
	// nodes: first the states, then the moments at which writes are invoked,
	// in order, which carry real time from completions to later writes
	// without an edge for each pair.
	nodes, states int
	edges         []edge
	index         []int32 // edges by source node: index[n] to index[n+1]
}

// edge says that one node comes before another, and which operations show it;
// noOp where none does by itself.
type edge struct {
	from, to int32
	ops      [2]int32
}

// byRelation finds the states by value and chooses an order that agrees with
// everything known.
func (r *resolver) byRelation(reg *keyOrder) {
	expected, ok := r.statesByValue(reg)
	if !ok {
		return
	}
	rel := &relation{states: len(reg.states), nodes: len(reg.states)}
	reg.relation = rel
	r.relateInitial(reg, rel)
	next := r.relateCAS(reg, rel, expected)
	r.relateRealTime(reg, rel)
	r.relateReads(reg, rel)
	rel.seal()
	order, waiting := r.arrange(reg, rel, next)
	if cycle := rel.cycle(waiting); cycle != nil {
		reg.flaws = append(reg.flaws, r.describeCycle(reg, cycle))
	}
	if len(reg.flaws) > 0 {
		reg.undecided = "no order of the writes agrees with what was observed" + onKey(r.v.history, reg.key)
		return
	}
	r.adoptOrder(reg, order)
}

// statesByValue lists the states that certainly existed: the initial one, what
// acknowledged writes left and what somebody saw. It gives the state that each
// one made by a compare-and-set followed on, by state. It fails where a value
// that somebody saw was written twice, since then nobody knows which write it
// was.
func (r *resolver) statesByValue(reg *keyOrder) (expected map[int32]int32, ok bool) {
	ops := r.v.history.Operations
	list := r.v.keys[reg.key]
	reg.states = []state{{r.spec.start(reg.key), histories.UnknownVersion, noOp}}
	writer := make(map[histories.Datum]int32, len(list)/2)
	twice := make(map[histories.Datum][2]int32)
	writer[reg.states[0].value] = noOp
	for _, i := range list {
		op := &ops[i]
		if !writes(op) {
			continue
		}
		v := written(op)
		if other, ok := writer[v]; ok {
			twice[v] = [2]int32{other, i}
		} else {
			writer[v] = i
		}
	}
	place := make(map[histories.Datum]int32, len(writer))
	place[reg.states[0].value] = 0
	add := func(v histories.Datum) (int32, bool) {
		if s, ok := place[v]; ok {
			return s, true
		}
		w, ok := writer[v]
		if !ok {
			return noState, false
		}
		s := int32(len(reg.states))
		place[v] = s
		reg.states = append(reg.states, state{v, histories.UnknownVersion, w})
		return s, true
	}
	see := func(v histories.Datum) bool {
		if pair, ok := twice[v]; ok {
			reg.undecided = r.writtenTwice(reg.key, v, pair)
			return false
		}
		return true
	}
	for _, i := range list {
		op := &ops[i]
		switch {
		case writes(op) && op.Outcome == histories.Happened:
			if _, dup := twice[written(op)]; dup {
				// Its own state; whoever sees the value ends the check.
				reg.states = append(reg.states, state{written(op), histories.UnknownVersion, i})
			} else {
				add(written(op))
			}
		case r.isSeen(op):
			if !see(op.Result) {
				return nil, false
			}
			s, ok := add(op.Result)
			if !ok {
				reg.flaw(kindPhantom, "", i)
			}
			r.seen[i] = s
		}
	}
	// An unknown compare-and-set that was seen happened, so its expected value
	// was there too; the list grows while it is read.
	expected = make(map[int32]int32)
	for s := 0; s < len(reg.states); s++ {
		i := reg.states[s].op
		if i == noOp || ops[i].F != histories.CAS {
			continue
		}
		if !see(ops[i].Argument) {
			return nil, false
		}
		before, ok := add(ops[i].Argument)
		if !ok {
			reg.flaw(kindPhantom, "it expected a value that nobody wrote", i)
			continue
		}
		expected[int32(s)] = before
	}
	r.adopt(reg)
	return expected, true
}

// whyRelated says why versions do not give the order of a key.
func (r *resolver) whyRelated(key int32) string {
	some, without := false, noOp
	for _, i := range r.v.keys[key] {
		op := &r.v.history.Operations[i]
		switch {
		case op.Outcome != histories.Happened:
		case op.Version != histories.UnknownVersion:
			some = true
		case writes(op) && without == noOp:
			without = i
		}
	}
	if !some {
		return "there are no versions"
	}
	return fmt.Sprintf("not every write has a version (the one of event %d has none)", r.v.history.Operations[without].Invoked)
}

func (r *resolver) writtenTwice(key int32, v histories.Datum, pair [2]int32) string {
	h := r.v.history
	by := "is the initial value"
	if pair[0] != noOp {
		by = fmt.Sprintf("was written by event %d", h.Operations[pair[0]].Invoked)
	}
	return fmt.Sprintf("the order of writes is not decided: %s, and value %s %s and written again by event %d%s",
		r.whyRelated(key), h.Data.Unpack(v), by, h.Operations[pair[1]].Invoked, onKey(h, key))
}

// relateInitial: the initial value is older than everything.
func (r *resolver) relateInitial(reg *keyOrder, rel *relation) {
	for s := 1; s < len(reg.states); s++ {
		rel.edges = append(rel.edges, edge{0, int32(s), [2]int32{noOp, reg.states[s].op}})
	}
}

// relateCAS: a compare-and-set follows directly on the value it expected, so
// two cannot succeed on one value. It gives the state that was made of each that
// was expected.
func (r *resolver) relateCAS(reg *keyOrder, rel *relation, expected map[int32]int32) (next map[int32]int32) {
	next = make(map[int32]int32, len(expected))
	for _, s := range sortedKeys(expected) {
		i, before := reg.states[s].op, expected[s]
		if other, taken := next[before]; taken {
			reg.flaw(kindConflict, "two compare-and-sets succeeded on one value", reg.states[other].op, i)
			continue
		}
		next[before] = s
		rel.edges = append(rel.edges, edge{before, s, [2]int32{reg.states[before].op, i}})
	}
	return next
}

// relateRealTime: what was acknowledged or seen before a write was invoked is
// older than what it wrote.
func (r *resolver) relateRealTime(reg *keyOrder, rel *relation) {
	ops := r.v.history.Operations
	var later []int32 // states in order of their writes' invocation
	for s := range reg.states {
		if reg.states[s].op != noOp {
			later = append(later, int32(s))
		}
	}
	invoked := func(s int32) int32 { return ops[reg.states[s].op].Invoked }
	slices.SortFunc(later, func(a, b int32) int { return int(invoked(a)) - int(invoked(b)) })
	moment := func(j int) int32 { return int32(rel.states + j) }
	rel.nodes += len(later)
	for j, s := range later {
		rel.edges = append(rel.edges, edge{moment(j), s, [2]int32{noOp, reg.states[s].op}})
		if j > 0 {
			rel.edges = append(rel.edges, edge{moment(j - 1), moment(j), [2]int32{noOp, noOp}})
		}
	}
	for _, i := range r.v.keys[reg.key] {
		if r.seen[i] == noState || ops[i].Outcome != histories.Happened {
			continue
		}
		j, _ := slices.BinarySearchFunc(later, ops[i].Completed, func(s, p int32) int { return int(invoked(s)) - int(p) })
		if j < len(later) {
			rel.edges = append(rel.edges, edge{r.seen[i], moment(j), [2]int32{i, noOp}})
		}
	}
}

// relateReads: what an observer saw first is not newer than what it saw next.
// Of the reads that were over before a read began, only those matter that were
// not over before another of them began; they are no more than are concurrent.
func (r *resolver) relateReads(reg *keyOrder, rel *relation) {
	h := r.v.history
	recent := make(map[int32][]int32)
	for _, i := range r.v.keys[reg.key] {
		op := &h.Operations[i]
		if op.F != histories.Read || r.seen[i] == noState {
			continue
		}
		id := observerOf(h, op)
		latest := int32(-1) // the latest invocation among those that are over
		for _, j := range recent[id] {
			if h.Operations[j].Completed < op.Invoked {
				latest = max(latest, h.Operations[j].Invoked)
			}
		}
		kept := recent[id][:0]
		for _, j := range recent[id] {
			if h.Operations[j].Completed < latest {
				continue
			}
			kept = append(kept, j)
			if h.Operations[j].Completed < op.Invoked && r.seen[j] != r.seen[i] {
				rel.edges = append(rel.edges, edge{r.seen[j], r.seen[i], [2]int32{j, i}})
			}
		}
		recent[id] = append(kept, i)
	}
}

// seal sorts the edges by source.
func (rel *relation) seal() {
	slices.SortStableFunc(rel.edges, func(a, b edge) int { return int(a.from) - int(b.from) })
	rel.index = make([]int32, rel.nodes+1)
	for i := range rel.edges {
		rel.index[rel.edges[i].from+1]++
	}
	for n := range rel.nodes {
		rel.index[n+1] += rel.index[n]
	}
}

// from gives the edges that leave a node.
func (rel *relation) from(n int32) []edge { return rel.edges[rel.index[n]:rel.index[n+1]] }

// arrange gives an order of the states that agrees with the relation, and how
// many reasons to wait each node was left with: some, where it is on a cycle or
// behind one. Where the relation leaves a choice, a compare-and-set follows
// directly on what it expected, and else what was known sooner is older.
func (r *resolver) arrange(reg *keyOrder, rel *relation, next map[int32]int32) (order, waiting []int32) {
	waiting = make([]int32, rel.nodes)
	for i := range rel.edges {
		waiting[rel.edges[i].to]++
	}
	ready := &readyStates{urgency: r.urgency(reg, rel)}
	for n := range rel.nodes {
		if waiting[n] == 0 {
			heap.Push(ready, int32(n))
		}
	}
	for ready.Len() > 0 {
		n := heap.Pop(ready).(int32)
		if int(n) < rel.states {
			order = append(order, n)
		}
		if made, ok := next[n]; ok {
			// As soon as nothing else holds it back.
			ready.urgency[made] = -1
		}
		for _, e := range rel.from(n) {
			if waiting[e.to]--; waiting[e.to] > 0 {
				continue
			}
			heap.Push(ready, e.to)
		}
	}
	return order, waiting
}

// urgency is when each state was first known; moments come at once.
func (r *resolver) urgency(reg *keyOrder, rel *relation) []int32 {
	u := make([]int32, rel.nodes)
	for s := range rel.states {
		u[s] = histories.Open
	}
	for _, i := range r.v.keys[reg.key] {
		if s := r.seen[i]; s != noState {
			u[s] = min(u[s], r.v.history.Operations[i].Completed)
		}
	}
	return u
}

// readyStates is a heap of nodes, the most urgent first.
type readyStates struct {
	nodes   []int32
	urgency []int32
}

func (q *readyStates) Len() int { return len(q.nodes) }
func (q *readyStates) Less(i, j int) bool {
	return q.urgency[q.nodes[i]] < q.urgency[q.nodes[j]]
}
func (q *readyStates) Swap(i, j int) { q.nodes[i], q.nodes[j] = q.nodes[j], q.nodes[i] }
func (q *readyStates) Push(x any)    { q.nodes = append(q.nodes, x.(int32)) }
func (q *readyStates) Pop() any {
	n := q.nodes[len(q.nodes)-1]
	q.nodes = q.nodes[:len(q.nodes)-1]
	return n
}

// adoptOrder numbers the states anew in the chosen order. Contiguity of
// compare-and-sets is the one thing that the relation does not carry.
func (r *resolver) adoptOrder(reg *keyOrder, order []int32) {
	rank := make([]int32, len(order))
	states := make([]state, len(order))
	for at, s := range order {
		rank[s] = int32(at)
		states[at] = reg.states[s]
	}
	reg.states = states
	for _, i := range r.v.keys[reg.key] {
		if s := r.seen[i]; s != noState {
			r.seen[i] = rank[s]
		}
	}
	reg.relation.renumber(rank)
	reg.chosen = !reg.relation.total()
	for s := 1; s < len(states); s++ {
		op := &r.v.history.Operations[states[s].op]
		if op.F == histories.CAS && states[s-1].value != op.Argument {
			reg.undecided = fmt.Sprintf("the order of writes is not decided: %s, and no order was found in which the compare-and-set of event %d meets the value it expected%s",
				r.whyRelated(reg.key), op.Invoked, onKey(r.v.history, reg.key))
			return
		}
	}
}

// renumber gives states new numbers.
func (rel *relation) renumber(rank []int32) {
	for i := range rel.edges {
		e := &rel.edges[i]
		if int(e.from) < rel.states {
			e.from = rank[e.from]
		}
		if int(e.to) < rel.states {
			e.to = rank[e.to]
		}
	}
	rel.seal()
}

// total reports whether every state certainly comes before the next one, so
// that no other order is possible.
func (rel *relation) total() bool {
	for s := 0; s+1 < rel.states; s++ {
		if !rel.forced(int32(s), int32(s+1)) {
			return false
		}
	}
	return true
}

// forced reports whether state a certainly comes before state b, which comes
// later in the order.
func (rel *relation) forced(a, b int32) bool {
	if a == 0 {
		return true // see relateInitial
	}
	visited := map[int32]bool{a: true}
	for queue := []int32{a}; len(queue) > 0 && len(visited) < maxForced; queue = queue[1:] {
		for _, e := range rel.from(queue[0]) {
			if e.to == b {
				return true
			}
			// A state beyond b in the order cannot lead back to it.
			if !visited[e.to] && (int(e.to) >= rel.states || e.to < b) {
				visited[e.to] = true
				queue = append(queue, e.to)
			}
		}
	}
	return false
}

// maxForced bounds the search for a chain of reasons; beyond it the order of
// two states counts as open.
const maxForced = 256

// cycle gives a short cycle among the nodes that are left waiting, or nil where
// none is. What waits, waits for something that waits: going back from one to
// the next ends in a cycle. The shortest one through the states on it is given.
func (rel *relation) cycle(waiting []int32) []edge {
	before := make([]int32, rel.nodes)
	last := int32(-1)
	for i := range rel.edges {
		if e := &rel.edges[i]; waiting[e.from] > 0 {
			before[e.to], last = e.from, e.to
		}
	}
	if last < 0 {
		return nil
	}
	for range rel.nodes { // long enough to be on the cycle for certain
		last = before[last]
	}
	var best []edge
	via := make([]int32, rel.nodes)
	starts := 0
	for n := last; ; n = before[n] {
		if int(n) < rel.states {
			if c := rel.cycleThrough(n, via); best == nil || len(c) < len(best) {
				best = c
			}
			starts++
		}
		if before[n] == last || starts == maxCycleStarts {
			return best
		}
	}
}

// cycleThrough searches breadth first for the way from a state on a cycle back to
// it. In via it notes the edge by which it came to a node, as 1 plus its number.
func (rel *relation) cycleThrough(start int32, via []int32) []edge {
	clear(via)
	queue := []int32{start}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for at := rel.index[n]; at < rel.index[n+1]; at++ {
			e := rel.edges[at]
			if e.to == start {
				path := []edge{e}
				for n != start {
					e = rel.edges[via[n]-1]
					path = append(path, e)
					n = e.from
				}
				slices.Reverse(path)
				return path
			}
			if via[e.to] == 0 {
				via[e.to] = at + 1
				queue = append(queue, e.to)
			}
		}
	}
	return nil
}

// describeCycle makes a flaw of a cycle.
func (r *resolver) describeCycle(reg *keyOrder, cycle []edge) flaw {
	f := flaw{kind: kindConflict, key: reg.key, observer: noObserver, why: "the writes cannot be put in one order"}
	h := r.v.history
	note := func(i int32) {
		if i != noOp && !slices.Contains(f.ops, i) {
			f.ops = append(f.ops, i)
		}
	}
	for _, e := range cycle {
		a, b := e.ops[0], e.ops[1]
		if b != noOp && r.isRead(b) { // only relateReads ends an edge with a read
			f.kind, f.observer = kindRegress, observerOf(h, &h.Operations[b])
		}
		note(a)
		note(b)
	}
	if len(f.ops) == 2 && r.isRead(f.ops[0]) != r.isRead(f.ops[1]) {
		f.kind, f.why = kindPhantom, "the read was over before the write was invoked"
	}
	slices.SortFunc(f.ops, func(a, b int32) int { return int(a) - int(b) })
	return f
}

// onKey names a key at the end of a sentence, where the history has keys.
func onKey(h *histories.History, key int32) string {
	if h.Keys[key].IsNil() {
		return ""
	}
	return " (key " + h.Keys[key].String() + ")"
}
