package checker

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/stalemate-io/stalemate/histories"
)

// orderResult is the answer of the one-order check, and what it learnt on the
// way.
type orderResult struct {
	Answer Answer
	Reason string // why Undecided
	flaws  []flaw
	// registers are the keys with their states, by index into History.Keys;
	// nil for keys without operations.
	registers []*keyOrder
	resolver  *resolver
}

// oneOrder says whether one order of all writes explains what every observer
// saw; see graph for what that means. On one key it is decided by that key's
// rules alone; across keys by the graph.
func oneOrder(v *view, s *spec) *orderResult {
	r := newResolver(v, s)
	res := &orderResult{Answer: Holds, resolver: r, registers: make([]*keyOrder, len(v.keys))}
	v.eachKey(func(key int32) {
		reg := r.resolve(key)
		r.checkKey(reg)
		// Here, while the key's operations are in the processor's cache.
		reg.stale, reg.sessions = r.staleReads(reg), r.sessionsOnKey(reg)
		res.registers[key] = reg
	})
	busy := 0
	for _, reg := range res.registers {
		if reg == nil {
			continue
		}
		busy++
		res.flaws = append(res.flaws, reg.flaws...)
		if why := cmp.Or(reg.undecided, reg.unplaced, reg.doubt); why != "" && res.Reason == "" {
			res.Reason = why
		}
	}
	switch {
	case len(res.flaws) > 0:
		res.Answer = Violated
	case busy > 1:
		res.acrossKeys()
	case res.Reason != "":
		res.Answer = Undecided
	}
	return res
}

// acrossKeys sorts the graph of the keys whose order is known. A cycle among
// them is a violation whatever the others hide.
func (res *orderResult) acrossKeys() {
	registers := slices.Clone(res.registers)
	for k, reg := range registers {
		if reg != nil && reg.undecided != "" {
			registers[k] = nil
		}
	}
	var g *graph
	if !allFresh(registers) {
		g = newGraph(res.resolver, registers)
	}
	if g == nil || g.sort() {
		if res.Reason != "" {
			res.Answer = Undecided
		}
		return
	}
	cycle := g.cycle()
	if len(cycle) == 0 {
		res.Answer, res.Reason = Undecided, "internal error: what cannot be sorted lies on no cycle; please report this history"
		return
	}
	if pair := res.guessed(cycle); pair != "" {
		res.Answer, res.Reason = Undecided, pair
		return
	}
	res.Answer = Violated
	res.flaws = append(res.flaws, flaw{kind: kindFork, ops: cycle, key: noState, observer: noObserver})
}

// allFresh reports whether every key has a known order, which its rules have
// found unbroken, and no stale read. Then each key is linearizable in that order,
// and so are all of them together, for linearizability is local (Herlihy & Wing
// 1990): the graph asks for no more than that and has no cycle.
func allFresh(registers []*keyOrder) bool {
	return !slices.ContainsFunc(registers, func(reg *keyOrder) bool {
		return reg != nil && (reg.chosen || len(reg.stale) > 0)
	})
}

// guessed names two writes of a cycle whose order was chosen and is not
// certain; empty where the whole cycle is.
func (res *orderResult) guessed(cycle []int32) string {
	h := res.resolver.v.history
	for n, i := range cycle {
		j := cycle[(n+1)%len(cycle)]
		a, b := &h.Operations[i], &h.Operations[j]
		if a.Key != b.Key {
			continue
		}
		reg := res.registers[a.Key]
		from, to := res.resolver.seen[i], res.resolver.seen[j]
		if !reg.chosen || from >= to || reg.relation.forced(from, to) {
			continue
		}
		return fmt.Sprintf("the order of writes is not decided: %s, and whether %s was overwritten by %s or the other way round%s nothing shows",
			res.resolver.whyRelated(a.Key), h.Data.Unpack(reg.states[from].value), h.Data.Unpack(reg.states[to].value), onKey(h, a.Key))
	}
	return ""
}

// sortedKeys gives the keys of a map in order, so that nothing depends on the
// order of a map.
func sortedKeys[V any](m map[int32]V) []int32 { return slices.Sorted(maps.Keys(m)) }

// isRead reports whether an operation, by index, is a read.
func (r *resolver) isRead(i int32) bool { return r.v.history.Operations[i].F == histories.Read }
