package checker

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/stalemate-io/stalemate/histories"
)

// view is a history seen through one read path: every operation that changes
// something, and of the reads only those that took the path. Operations are
// split by key, since every check but one-order looks at one key at a time.
type view struct {
	history *histories.History
	// keys holds, for each index into history.Keys, the operations on that key
	// as indexes into history.Operations, in order of invocation.
	keys [][]int32
	path int16 // of the reads it shows, or everyPath
}

// operations gives the operations of all keys in order of invocation. That is
// the order in which they lie in memory, so that going over all of them is much
// faster so than key by key.
func (v *view) operations(yield func(i int32, op *histories.Operation) bool) {
	all := v.history.Operations
	for i := range all {
		if onPath(&all[i], v.path) && !yield(int32(i), &all[i]) {
			return
		}
	}
}

// everyPath is the path of a view that leaves no read out.
const everyPath int16 = -1

// newView splits a history by key. All keys share one backing array, so that a
// view costs four bytes an operation however many keys there are.
func newView(h *histories.History, path int16) view {
	counts := make([]int32, len(h.Keys)+1)
	taken := 0
	for i := range h.Operations {
		if op := &h.Operations[i]; onPath(op, path) {
			counts[op.Key+1]++
			taken++
		}
	}
	for k := range h.Keys {
		counts[k+1] += counts[k]
	}
	all := make([]int32, taken)
	v := view{history: h, keys: make([][]int32, len(h.Keys)), path: path}
	for k := range h.Keys {
		v.keys[k] = all[counts[k]:counts[k]:counts[k+1]]
	}
	for i := range h.Operations {
		if op := &h.Operations[i]; onPath(op, path) {
			v.keys[op.Key] = append(v.keys[op.Key], int32(i))
		}
	}
	return v
}

// onPath reports whether a view of path shows the operation.
func onPath(op *histories.Operation, path int16) bool {
	return path == everyPath || op.F != histories.Read || op.Path == path
}

// readPaths lists the paths that ok reads took, by index into History.Paths.
func readPaths(h *histories.History) []int16 {
	used := make([]bool, len(h.Paths))
	for i := range h.Operations {
		if op := &h.Operations[i]; op.F == histories.Read && op.Outcome == histories.Happened {
			used[op.Path] = true
		}
	}
	var paths []int16
	for p, yes := range used {
		if yes {
			paths = append(paths, int16(p))
		}
	}
	return paths
}

// eachKey calls do for every key that has operations, from one worker a
// processor.
func (v *view) eachKey(do func(key int32)) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(v.keys)) {
		workers.Go(func() {
			for {
				key := int(next.Add(1)) - 1
				if key >= len(v.keys) {
					return
				}
				if len(v.keys[key]) > 0 {
					do(int32(key))
				}
			}
		})
	}
	workers.Wait()
}
