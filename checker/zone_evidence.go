package checker

import (
	"slices"

	"github.com/stalemate-io/stalemate/histories"
)

// Kinds of violation that have a name of their own.
const (
	violationPhantom    = "value nobody wrote"
	violationFailed     = "value of a failed write"
	violationFuture     = "value read before it was written"
	violationLostUpdate = "two compare-and-sets of one value"
	violationRing       = "compare-and-sets that expect each other's value"
	violationStale      = "stale read"
	violationOrder      = "operations that fit no one order"
)

// phantom names a value that has no cluster.
func (z *zoneCheck) phantom(f histories.Func, value histories.Datum) string {
	for _, i := range z.ops {
		op := &z.h.Operations[i]
		if op.Outcome == histories.Failed && op.F != histories.Read && valueLeft(op) == value {
			return violationFailed
		}
	}
	return violationPhantom
}

// conflict is the violation of two clusters that stand each before the other,
// given the ends of their zones.
func (z *zoneCheck) conflict(a, b cluster) *zoneViolation {
	v := &zoneViolation{kind: violationOrder}
	z.addExtent(v, a.first, a.last)
	z.addExtent(v, b.first, b.last)
	return v
}

// disorder is the violation of a chain: an operation completed at first,
// before one of an earlier stage began at last.
func (z *zoneCheck) disorder(first, last int32) *zoneViolation {
	v := &zoneViolation{kind: violationOrder}
	z.addExtent(v, first, last)
	return v
}

// addExtent adds the operation that completed at first, the one that began at
// last, and the writes that tie them together: that of their value or, in a
// chain, those of every stage from the one to the other. Of the earliest such
// write only the writing counts, so that the chain need not be followed back
// to its root.
func (z *zoneCheck) addExtent(v *zoneViolation, first, last int32) {
	from, to := int32(0), int32(0) // the initial value has no operation of its own
	for _, i := range z.ops {
		op := &z.h.Operations[i]
		if op.Outcome == histories.Failed {
			continue
		}
		if first != beforeAll && op.Completed == first {
			v.ops = append(v.ops, i)
			from = z.clusterOf(op)
		}
		if last != beforeAll && op.Invoked == last {
			v.ops = append(v.ops, i)
			to = z.clusterOf(op)
		}
	}
	if !z.leads(from, to) {
		from, to = to, from
	}
	if s := z.clusters[from].source; s != initialSource {
		v.ops, v.asWrite = append(v.ops, s), append(v.asWrite, s)
	}
	for n := from; n != to; {
		n = z.chain.next[n]
		v.ops = append(v.ops, z.clusters[n].source)
	}
	if z.isCAS(to) {
		v.ops = append(v.ops, z.withReader(to)...)
	}
}

// clusterOf is the cluster that an operation which happened belongs to.
func (z *zoneCheck) clusterOf(op *histories.Operation) int32 {
	if value, ok := z.returned(op); ok {
		return z.values.find(z, value)
	}
	return z.values.find(z, valueLeft(op))
}

// leads reports whether a chain leads from one cluster to another.
func (z *zoneCheck) leads(from, to int32) bool {
	for n := from; n != to; n = z.chain.next[n] {
		if len(z.chain.next) == 0 || z.chain.next[n] == noCluster {
			return false
		}
	}
	return true
}

// withReader gives the update that made a cluster and, where its outcome is
// unknown, the operations that show that it happened.
func (z *zoneCheck) withReader(n int32) []int32 {
	var ops []int32
	visited := map[int32]bool{n: true}
	for todo := []int32{n}; len(todo) > 0; todo = todo[1:] {
		n, source := todo[0], z.clusters[todo[0]].source
		ops = append(ops, source)
		if z.h.Operations[source].Outcome == histories.Happened {
			continue
		}
		value := z.valueOf(int(n))
		reader := slices.IndexFunc(z.ops, func(i int32) bool {
			got, ok := z.returned(&z.h.Operations[i])
			return ok && got == value
		})
		if reader >= 0 {
			ops = append(ops, z.ops[reader])
			continue
		}
		for m := range z.clusters {
			if m := int32(m); z.isCAS(m) && z.happened(m) && z.expected(m) == n && !visited[m] {
				visited[m] = true
				todo = append(todo, m)
			}
		}
	}
	return ops
}

// calls makes a violation's operations ready for a model.
func (z *zoneCheck) calls(v *zoneViolation) []call {
	slices.Sort(v.ops)
	v.ops = slices.Compact(v.ops)
	calls := make([]call, 0, len(v.ops))
	for _, i := range v.ops {
		c := newCall(&z.h.Operations[i], i, actions[z.spec.model][z.h.Operations[i].F])
		if c.action == actCAS && slices.Contains(v.asWrite, i) {
			c.action, c.arg = actWrite, c.res
		}
		calls = append(calls, c)
	}
	return calls
}
