package html

import (
	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
)

// arrow says that one operation of a witness comes before another, and why. Its
// ends are positions in the witness.
type arrow struct {
	from, to int
	why      string
	// real is true for the order of real time, which goes from the return of
	// one to the invocation of the other.
	real bool
}

// arrows finds the cycle that a witness proves: operations each of which has to
// come before the next, and the last before the first. Kinds that are about one
// order are proved by the order of states, of writes in real time and of each
// observer's and client's operations; where those make no cycle, real time
// between any two operations does, as linearizability asks. Where there is none at
// all, it gives which write each read saw.
func arrows(h *histories.History, line *checker.Timeline, operations []int32) []arrow {
	for _, strict := range []bool{false, true} {
		if cycle := shortestCycle(len(operations), relations(h, line, operations, strict)); cycle != nil {
			return cycle
		}
	}
	var reads []arrow
	for _, a := range relations(h, line, operations, false) {
		if a.why == whyRead {
			reads = append(reads, a)
		}
	}
	return reads
}

// Why one operation comes before another.
const (
	whyRead       = "was read by"
	whyOverwrites = "is followed by"
	whyNotYet     = "had not seen"
	whyOver       = "was over before"
	whyObserver   = "then, at the same node"
	whyClient     = "then, by the same client"
)

// relations gives every pair of which one is known to come first.
func relations(h *histories.History, line *checker.Timeline, operations []int32, strict bool) []arrow {
	var out []arrow
	for i, a := range operations {
		for j, b := range operations {
			if i == j {
				continue
			}
			x, y := &h.Operations[a], &h.Operations[b]
			if why := byState(x, y, line.Seen[a].Place, line.Seen[b].Place); why != "" {
				out = append(out, arrow{from: i, to: j, why: why})
			}
			if x.Completed >= y.Invoked {
				continue
			}
			read := x.F == histories.Read && y.F == histories.Read
			switch {
			case read && x.Node == y.Node && x.Node > 0:
				out = append(out, arrow{i, j, whyObserver, true})
			case x.Process == y.Process:
				out = append(out, arrow{i, j, whyClient, true})
			case strict || x.F != histories.Read && y.F != histories.Read:
				out = append(out, arrow{i, j, whyOver, true})
			}
		}
	}
	return out
}

// byState tells what the order of one key's states says of two operations.
func byState(x, y *histories.Operation, a, b int32) string {
	if x.Key != y.Key || a == checker.NoPlace || b == checker.NoPlace {
		return ""
	}
	xReads, yReads := x.F == histories.Read, y.F == histories.Read
	switch {
	case !xReads && yReads && a == b:
		return whyRead
	case xReads && !yReads && a < b:
		return whyNotYet
	case !xReads && !yReads && a < b:
		return whyOverwrites
	}
	return ""
}

// shortestCycle looks from every operation for the way back to it; nil where
// there is none. Witnesses are small.
func shortestCycle(n int, all []arrow) []arrow {
	next := make([][]arrow, n)
	for _, a := range all {
		next[a.from] = append(next[a.from], a)
	}
	var best []arrow
	for start := range n {
		came := make([]*arrow, n)
		queue := []int{start}
		for len(queue) > 0 && came[start] == nil {
			at := queue[0]
			queue = queue[1:]
			for k := range next[at] {
				if a := &next[at][k]; came[a.to] == nil {
					came[a.to] = a
					queue = append(queue, a.to)
				}
			}
		}
		if came[start] == nil {
			continue
		}
		var cycle []arrow
		for at := start; len(cycle) == 0 || at != start; at = came[at].from {
			cycle = append(cycle, *came[at])
		}
		if best == nil || len(cycle) < len(best) {
			best = cycle
		}
	}
	return best
}
