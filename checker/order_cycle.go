package checker

import (
	"cmp"
	"slices"

	"github.com/stalemate-io/stalemate/histories"
)

// cycle gives a short cycle among what could not be sorted, as operations in
// the order in which each has to come before the next, or nil where everything
// was sorted. It is shortest among the cycles through maxCycleStarts operations
// that were found to lie on one, with every chain of states of one key and
// every chain in time taken as a single step.
func (g *graph) cycle() []int32 {
	s := newCycleSearch(g)
	var best []int32
	for _, start := range s.starts() {
		if c := s.through(start, len(best)); c != nil && (best == nil || len(c) < len(best)) {
			best = c
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
	parent    map[int32]int32
	low       map[suffix]int // how much of each list was not reached
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
	s := &cycleSearch{g: g, byKey: map[int32][]int32{}, byWatcher: map[int32][]int32{}}
	h := g.r.v.history
	for k, reg := range g.registers {
		if reg == nil {
			continue
		}
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
	if op.Completed == histories.Open {
		return
	}
	if op.F == histories.Read {
		id := observerOf(s.g.r.v.history, op)
		list := s.byWatcher[id]
		do(suffix{watcherList, id}, list, after(list))
	}
	do(suffix{timeList, 0}, s.byTime, after(s.byTime))
}

// starts gives operations that lie on cycles: walking from one follower to the
// next among what is left ends in a cycle sooner or later, and so do all walks.
func (s *cycleSearch) starts() []int32 {
	var starts []int32
	for n := 0; n < len(s.nodes) && len(starts) < maxCycleStarts; n += 1 + len(s.nodes)/maxCycleStarts {
		if c := s.through(s.nodes[n], 0); c != nil {
			starts = append(starts, c...)
		}
	}
	if len(starts) > 0 {
		return starts[:min(len(starts), maxCycleStarts)]
	}
	for _, i := range s.nodes {
		if c := s.through(i, 0); c != nil {
			return c
		}
	}
	return nil
}

// through gives a shortest cycle through an operation, or nil where there is
// none shorter than limit; limit 0 is none.
func (s *cycleSearch) through(start int32, limit int) []int32 {
	s.parent = map[int32]int32{}
	s.low = map[suffix]int{}
	depth := map[int32]int{start: 1}
	for queue := []int32{start}; len(queue) > 0; queue = queue[1:] {
		i := queue[0]
		if limit > 0 && depth[i] >= limit {
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
				} else if _, seen := depth[n]; !seen {
					depth[n] = depth[i] + 1
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
