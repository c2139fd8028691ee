package checker

import (
	"cmp"
	"slices"

	"github.com/stalemate-io/stalemate/histories"
)

// Within compares two read paths of one node, which are two places where it keeps the
// same: how far the one was behind the other. Since each is compared with what the
// same node had answered before, no time passes between nodes, and the system's own
// order does not come into it.
type Within struct {
	Node string `json:"node"`
	// Behind is the path whose answers were older than what the node had answered
	// over the path Ahead before it was asked.
	Behind string `json:"behind"`
	Ahead  string `json:"ahead"`
	// Reads counts the reads over Behind, OlderReads those of them that were older.
	Reads      int `json:"reads"`
	OlderReads int `json:"older_reads"`
	// LagMS is for how long the node had answered what is newer.
	LagMS Spread `json:"lag_ms"`
}

// within compares the paths of every node that answered over several, where the
// reads tell their versions. Pairs of which the one was never behind are left out.
func within(h *histories.History) []Within {
	var out []Within
	var reads []int32
	for i := range h.Operations {
		op := &h.Operations[i]
		if op.F == histories.Read && op.Outcome == histories.Happened && op.Node != 0 && op.Version != histories.UnknownVersion {
			reads = append(reads, int32(i))
		}
	}
	slices.SortStableFunc(reads, func(a, b int32) int {
		x, y := &h.Operations[a], &h.Operations[b]
		return cmp.Or(cmp.Compare(x.Node, y.Node), cmp.Compare(x.Key, y.Key), cmp.Compare(x.Path, y.Path), cmp.Compare(x.Completed, y.Completed))
	})
	for ofNode := range groups(h, reads, func(x, y *histories.Operation) bool { return x.Node == y.Node }) {
		out = append(out, withinNode(h, ofNode)...)
	}
	return out
}

// withinNode compares the paths of one node, whose reads are given by key, by path
// and in order of completion.
func withinNode(h *histories.History, reads []int32) []Within {
	type pair struct{ behind, ahead int16 }
	found := map[pair][]staleRead{}
	counts := map[int16]int{}
	for ofKey := range groups(h, reads, func(x, y *histories.Operation) bool { return x.Key == y.Key }) {
		newest := map[int16][]int32{} // by path, each read that told a newer version than all before it
		for _, i := range ofKey {
			op := &h.Operations[i]
			counts[op.Path]++
			steps := newest[op.Path]
			if n := len(steps); n == 0 || h.Operations[steps[n-1]].Version < op.Version {
				newest[op.Path] = append(steps, i)
			}
		}
		for _, i := range ofKey {
			op := &h.Operations[i]
			for path, steps := range newest {
				at, _ := slices.BinarySearchFunc(steps, op.Version+1, func(s int32, v int64) int { return cmp.Compare(h.Operations[s].Version, v) })
				if path == op.Path || at == len(steps) || !h.Operations[steps[at]].Precedes(op) {
					continue
				}
				older := pair{op.Path, path}
				found[older] = append(found[older], staleRead{op: i, missed: steps[at], lag: lag(h, steps[at], i)})
			}
		}
	}
	var out []Within
	for p, older := range found {
		lags, _ := summary(older)
		out = append(out, Within{
			Node: h.Nodes[h.Operations[reads[0]].Node], Behind: pathName(h.Paths[p.behind]), Ahead: pathName(h.Paths[p.ahead]),
			Reads: counts[p.behind], OlderReads: len(older), LagMS: lags,
		})
	}
	slices.SortFunc(out, func(a, b Within) int { return cmp.Or(cmp.Compare(a.Behind, b.Behind), cmp.Compare(a.Ahead, b.Ahead)) })
	return out
}

// groups splits operations where two neighbours do not belong together.
func groups(h *histories.History, all []int32, together func(x, y *histories.Operation) bool) func(yield func([]int32) bool) {
	return func(yield func([]int32) bool) {
		for len(all) > 0 {
			n := 1
			for n < len(all) && together(&h.Operations[all[n-1]], &h.Operations[all[n]]) {
				n++
			}
			if !yield(all[:n:n]) {
				return
			}
			all = all[n:]
		}
	}
}
