package html

import (
	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
)

// thin chooses the operations that a page carries, in order. All of them where
// they are no more than limit. Else everything stays that the picture or an
// anomaly is made of: what changes a key, what the witnesses name, what
// contradicts one order, and of the reads each one that differs from the read
// before or after it in its lane. The reads within a run of equal ones add
// nothing to the picture but marks; of these as many stay as fit, evenly
// spread.
func thin(h *histories.History, line *checker.Timeline, witnesses map[int32]bool, limit int) []int32 {
	n := len(h.Operations)
	all := make([]int32, 0, min(n, limit))
	if n <= limit {
		for i := range n {
			all = append(all, int32(i))
		}
		return all
	}
	inner := innerReads(h, line, witnesses)
	count := 0
	for _, is := range inner {
		if is {
			count++
		}
	}
	// Of count inner reads, room stay: each one by which the share of those
	// that may stay grows past a whole number.
	room := max(0, limit-(n-count))
	seen := 0
	for i := range n {
		if inner[i] {
			before := seen * room / max(count, 1)
			seen++
			if seen*room/max(count, 1) == before {
				continue
			}
		}
		all = append(all, int32(i))
	}
	return all
}

// lane is who shows a key to whom.
type lane struct {
	node, path int16
	process    int32 // where no node is told
	key        int32
}

func laneOf(op *histories.Operation) lane {
	l := lane{node: op.Node, path: op.Path, key: op.Key, process: -1}
	if op.Node == 0 {
		l.process = op.Process
	}
	return l
}

// innerReads marks the reads that are like both neighbours in their lane.
func innerReads(h *histories.History, line *checker.Timeline, witnesses map[int32]bool) []bool {
	inner := make([]bool, len(h.Operations))
	last := make(map[lane]int32)  // the last read of each lane
	before := make(map[lane]bool) // whether it is like the one before it
	like := func(a, b int32) bool {
		x, y := &line.Seen[a], &line.Seen[b]
		return h.Operations[a].Result == h.Operations[b].Result && x.Place == y.Place && (x.Missed < 0) == (y.Missed < 0)
	}
	for i := range h.Operations {
		op := &h.Operations[i]
		if op.F != histories.Read || op.Outcome != histories.Happened {
			continue
		}
		at := laneOf(op)
		previous, some := last[at]
		same := some && like(previous, int32(i))
		if same && before[at] && !witnesses[previous] && line.Broken[previous] == "" {
			inner[previous] = true
		}
		last[at], before[at] = int32(i), same
	}
	return inner
}
