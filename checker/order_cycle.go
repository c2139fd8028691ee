package checker

import (
	"cmp"
	"math"
	"slices"

	"github.com/stalemate-io/stalemate/histories"
)

// cycle gives a short cycle among what could not be sorted, of which there must be
// something, as operations in the order in which each has to come before the next.
// It is shortest among the cycles through maxCycleStarts operations that were found
// to lie on one, with every chain of states of one key and every chain in time
// taken as a single step.
func (g *graph) cycle() []int32 {
	s := newCycleSearch(g)
	var best []int32
	limit := math.MaxInt
	for _, start := range s.starts() {
		if c := s.through(start, limit); c != nil {
			best, limit = c, len(c)
		}
	}
	return best
}

// maxCycleStarts is how many operations are searched from.
const maxCycleStarts = 16

// cycleSearch is a breadth-first search over the operations that could not be
// sorted. Followers of an operation are suffixes of lists (the later states of a
// key, the later reads of an observer, the writes invoked later), so that each
// list is walked over once: a search is linear though the edges are not.
type cycleSearch struct {
	g         *graph
	nodes     []int32
	byKey     map[int32][]int32 // in order of state, a write before its reads
	byWatcher map[int32][]int32 // reads in order of invocation
	byTime    []int32           // writes in order of invocation
	parent    []int32           // by operation
	depth     []int32           // by operation; 0 where not reached
	low       map[suffix]int    // how much of each list was not reached
}

// suffix names a list of followers.
type suffix struct {
	kind uint8
	id   int32
}

const (
	keyList uint8 = iota
	watcherList
	timeList
)

func newCycleSearch(g *graph) *cycleSearch {
	h := g.r.v.history
	s := &cycleSearch{
		g: g, byKey: map[int32][]int32{}, byWatcher: map[int32][]int32{},
		parent: make([]int32, len(h.Operations)), depth: make([]int32, len(h.Operations)),
	}
	for k := range g.registers {
		for _, i := range g.r.v.keys[k] {
			if !g.takesPart(i) || g.sorted[i] {
				continue
			}
			op := &h.Operations[i]
			s.nodes = append(s.nodes, i)
			s.byKey[int32(k)] = append(s.byKey[int32(k)], i)
			if op.F == histories.Read {
				id := observerOf(h, op)
				s.byWatcher[id] = append(s.byWatcher[id], i)
			} else {
				s.byTime = append(s.byTime, i)
			}
		}
		slices.SortFunc(s.byKey[int32(k)], func(a, b int32) int { return cmp.Compare(s.rank(a), s.rank(b)) })
	}
	slices.Sort(s.nodes)
	slices.Sort(s.byTime)
	for _, list := range s.byWatcher {
		slices.Sort(list) // operations are in order of invocation
	}
	return s
}

// rank is an operation's place among those of its key: the write of a state,
// then its reads.
func (s *cycleSearch) rank(i int32) int32 {
	r := 2 * s.g.r.seen[i]
	if s.g.r.v.history.Operations[i].F == histories.Read {
		r++
	}
	return r
}

// followers calls do for each list suffix that has to come after operation i.
func (s *cycleSearch) followers(i int32, do func(suffix, []int32, int)) {
	op := &s.g.r.v.history.Operations[i]
	ops := s.g.r.v.history.Operations
	// After a write come the reads of its state and all that is newer, after a
	// read the newer states.
	list := s.byKey[op.Key]
	from := s.rank(i) + 1
	at, _ := slices.BinarySearchFunc(list, from, func(j, r int32) int { return cmp.Compare(s.rank(j), r) })
	do(suffix{keyList, op.Key}, list, at)
	after := func(list []int32) int {
		at, _ := slices.BinarySearchFunc(list, op.Completed, func(j, p int32) int { return cmp.Compare(ops[j].Invoked, p) })
		return at
	}
	if op.F == histories.Read {
		id := observerOf(s.g.r.v.history, op)
		list := s.byWatcher[id]
		do(suffix{watcherList, id}, list, after(list))
	}
	do(suffix{timeList, 0}, s.byTime, after(s.byTime))
}

// starts gives operations that lie on one cycle. What could not be sorted waits
// for something that could not: going back from one to the next ends in a cycle.
func (s *cycleSearch) starts() []int32 {
	n := s.g.nodeOf(s.nodes[0])
	for range len(s.nodes) + len(s.g.stateDone) {
		n = s.g.waitsFor(n)
	}
	var starts []int32
	for first := n; ; {
		if n.op != noOp {
			starts = append(starts, n.op)
		}
		if n = s.g.waitsFor(n); n == first || len(starts) == maxCycleStarts {
			return starts
		}
	}
}

// node is a state, by key and number, or a read, by operation; of a state that a
// write made, op is that write.
type node struct{ key, state, op int32 }

// stateNode is the node of a state.
func (g *graph) stateNode(key, state int32) node {
	return node{key, state, g.registers[key].states[state].op}
}

// nodeOf is the node of an operation that takes part.
func (g *graph) nodeOf(i int32) node {
	if g.r.isRead(i) {
		return node{noState, noState, i}
	}
	return g.stateNode(g.r.v.history.Operations[i].Key, g.r.seen[i])
}

// waitsFor gives something unsorted that an unsorted node has to come after.
func (g *graph) waitsFor(n node) node {
	if n.state == noState {
		op := &g.r.v.history.Operations[n.op]
		if s := g.r.seen[n.op]; !g.stateDone[g.base[op.Key]+s] {
			return g.stateNode(op.Key, s)
		}
		return g.nodeOf(g.observers[observerOf(g.r.v.history, op)].stuck())
	}
	// A state other than the initial one, which waits for nothing.
	before := g.base[n.key] + n.state - 1
	if !g.stateDone[before] {
		return g.stateNode(n.key, n.state-1)
	}
	for i := g.first[before]; i != noOp; i = g.next[i] {
		if !g.sorted[i] {
			return g.nodeOf(i)
		}
	}
	return g.nodeOf(g.everyone.stuck())
}

// stuck is the operation that a walker waits for.
func (w *walker) stuck() int32 { return ^w.events[w.at] }

// through gives a shortest cycle through an operation that lies on one, or nil
// where it is not shorter than limit.
func (s *cycleSearch) through(start int32, limit int) []int32 {
	s.low = map[suffix]int{}
	clear(s.depth)
	s.depth[start] = 1
	for queue := []int32{start}; len(queue) > 0; queue = queue[1:] {
		i := queue[0]
		if int(s.depth[i]) >= limit {
			return nil
		}
		closed := false
		s.followers(i, func(name suffix, list []int32, at int) {
			end, ok := s.low[name]
			if !ok {
				end = len(list)
			}
			for j := at; j < end && !closed; j++ {
				n := list[j]
				if n == start {
					closed = true
				} else if s.depth[n] == 0 {
					s.depth[n] = s.depth[i] + 1
					s.parent[n] = i
					queue = append(queue, n)
				}
			}
			s.low[name] = min(end, at)
		})
		if closed {
			path := []int32{i}
			for i != start {
				i = s.parent[i]
				path = append(path, i)
			}
			slices.Reverse(path)
			return path
		}
	}
	return nil
}
