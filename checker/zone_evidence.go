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

// counts reports whether an operation that happened has a cluster, and so ends
// where it says it does.
func (z *zoneCheck) counts(i int32) bool {
	op := &z.h.Operations[i]
	if op.Outcome == histories.Failed {
		return false
	}
	_, returned := z.returned(op)
	return returned || op.F != histories.Read && !isNoop(op)
}

// clusterOf is the cluster that an operation which happened belongs to.
func (z *zoneCheck) clusterOf(op *histories.Operation) int32 {
	if value, ok := z.returned(op); ok {
		return z.values.find(z, value)
	}
	return z.values.find(z, valueLeft(op))
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
