package checker

import (
	"github.com/stalemate-io/stalemate/histories"
)

// The fast engine decides registers whose written values are all different, by
// zones (Gibbons & Korach, "Testing shared memories", SIAM J. Comput. 26(4),
// 1997), with compare-and-set added. It takes O(n log n) time whatever the
// number of clients, of unknown writes and of violations, and about 25 bytes
// of memory an operation.
//
// Cluster. A value is current during one stretch of any legal order, since it
// is written once; so its write and the reads that returned it stand together.
// A successful cas(a,b) took effect while a was current and made b current at
// once: nothing stands between the cluster of a and that of b, and the two
// merge into one chain. In a chain the order of the stages is given, so
// whether it can be laid out in agreement with real time is seen stage by
// stage (see chains). What is left to find is an order of the clusters, and an
// order of clusters is all there is to choose: real time asks that cluster A
// stand before B iff some operation of A was over before some operation of B
// began, that is iff first(A) < last(B), with
//
//	first = the earliest completion in the cluster
//	last  = the latest invocation in the cluster
//
// and a legal order exists iff this relation has no cycle. If there is a cycle
// there is one of two clusters: in a cycle let C be the cluster whose first is
// least, B the one before it and A the one before B. Then first(C) <= first(A)
// < last(B), so C stands before B as well as after it. Two clusters stand each
// before the other iff first(A) < last(B) and first(B) < last(A), which with
// zone = the interval between first and last means
//
//	two forward zones (first < last: the value was current throughout) overlap, or
//	a backward zone (last < first: some instant in it will do) lies inside a forward zone.
//
// Unknown outcomes. An unknown write completes never, so if nobody returned
// its value its zone is backward and without end, lies inside nothing and
// constrains nothing; if somebody did, it happened. An unknown cas happened
// iff its value was seen: by a read, or by a cas that itself happened. An
// unseen one may be left out, since leaving it out of a legal order leaves it
// legal: between it and the next update nothing depended on its value.
//
// Positions in a history are all different, so there are no ties between
// operations. The initial value is a cluster written before everything.

// zoneCheck is the working memory of the fast engine, reused from key to key.
type zoneCheck struct {
	h       *histories.History
	ops     []int32
	spec    *spec
	initial histories.Datum

	clusters []cluster
	values   valueIndex
	zones    []uint64 // forward zones, first<<32 | last
	spare    []uint64
	chain    chains
	counted  int // operations that constrain something
}

// cluster is a value's write and, once gathered, the extent of all operations
// on that value. Cluster 0 is the initial value.
type cluster struct {
	source int32 // the write or cas, as an index into History.Operations; -1 for the initial value
	first  int32 // earliest completion
	last   int32 // latest invocation
}

const (
	beforeAll     int32 = -1 // position of the write of the initial value
	initialSource int32 = -1
)

// notUniqueError says that the fast engine does not apply.
type notUniqueError struct{ op int32 }

func (e *notUniqueError) Error() string {
	return "the fast engine needs every written value to be different from all others and from the initial value; use the windowed engine"
}

// zoneViolation is what the fast engine found, before it is made a witness.
type zoneViolation struct {
	kind    string
	ops     []int32 // operations that prove it, in no order
	asWrite []int32 // those of ops which, where they are a cas, count as a write
}

// applies reports whether the fast engine knows the model.
func zoneApplies(m model) bool { return m == modelRegister || m == modelCASRegister }

// check decides one key. It returns nil for a linearizable one, and an error
// where zones do not apply.
func (z *zoneCheck) check(h *histories.History, ops []int32, spec *spec, key int32) (*zoneViolation, error) {
	z.h, z.ops, z.spec, z.initial = h, ops, spec, spec.start(key)
	z.chain.reset(0)
	hasCAS, err := z.gatherWrites()
	if err != nil {
		return nil, err
	}
	if err := z.values.build(z); err != nil {
		return nil, err
	}
	if v := z.gatherReads(); v != nil {
		return v, nil
	}
	if hasCAS {
		if v := z.mergeChains(); v != nil {
			return v, nil
		}
	}
	return z.compareZones(), nil
}

// valueLeft is the value that an update leaves behind.
func valueLeft(op *histories.Operation) histories.Datum {
	if op.F == histories.CAS {
		return op.Result
	}
	return op.Argument
}

// isNoop reports whether an operation is a cas of a value to itself: while it
// succeeds it is nothing but a read of that value.
func isNoop(op *histories.Operation) bool {
	return op.F == histories.CAS && op.Argument == op.Result
}

// gatherWrites makes a cluster of every value that was or may have been
// written, and validates the operations.
func (z *zoneCheck) gatherWrites() (hasCAS bool, err error) {
	z.counted = 0
	z.clusters = append(z.clusters[:0], cluster{initialSource, beforeAll, beforeAll})
	last := int32(-1)
	for _, i := range z.ops {
		op := &z.h.Operations[i]
		if op.Invoked <= last {
			return false, &malformedError{i, "is not in order of invocation"}
		}
		last = op.Invoked
		if op.Outcome == histories.Failed {
			continue
		}
		completed := op.Completed
		if op.Outcome == histories.Unknown {
			completed = histories.Open
		} else if completed <= op.Invoked {
			return false, &malformedError{i, "completes before it is invoked"}
		}
		switch {
		case op.F == histories.Read:
			continue
		case op.F == histories.CAS && z.spec.model == modelCASRegister:
			if isNoop(op) {
				continue
			}
			hasCAS = true
		case op.F != histories.Write:
			return false, &unsupportedError{z.spec.model, functionName(z.h, op.F)}
		}
		z.counted++
		z.clusters = append(z.clusters, cluster{i, completed, op.Invoked})
	}
	return hasCAS, nil
}

// returned gives the value that an operation saw and left as it was, if it is
// such a one and its outcome is known.
func (z *zoneCheck) returned(op *histories.Operation) (histories.Datum, bool) {
	if op.Outcome != histories.Happened {
		return 0, false
	}
	switch {
	case op.F == histories.Read:
		return op.Result, !skipsRead(z.spec, op, actRead)
	case isNoop(op):
		return op.Argument, true
	}
	return 0, false
}

// gatherReads widens each cluster by the reads of its value. A read of a value
// that nobody wrote, or that was over before the write began, is a violation
// by itself.
func (z *zoneCheck) gatherReads() *zoneViolation {
	for _, i := range z.ops {
		op := &z.h.Operations[i]
		value, ok := z.returned(op)
		if !ok {
			continue
		}
		z.counted++
		n := z.values.find(z, value)
		if n == noCluster {
			return &zoneViolation{kind: z.phantom(op.F, value), ops: []int32{i}}
		}
		c := &z.clusters[n]
		if c.source != initialSource && op.Completed < z.h.Operations[c.source].Invoked {
			return &zoneViolation{kind: violationFuture, ops: []int32{c.source, i}, asWrite: []int32{c.source}}
		}
		c.first = min(c.first, op.Completed)
		c.last = max(c.last, op.Invoked)
	}
	return nil
}

// compareZones looks for two clusters that stand each before the other.
func (z *zoneCheck) compareZones() *zoneViolation {
	z.zones = z.zones[:0]
	for i := range z.clusters {
		if c := &z.clusters[i]; c.first < c.last {
			// +1 makes room for beforeAll among unsigned words.
			z.zones = append(z.zones, uint64(uint32(c.first+1))<<32|uint64(uint32(c.last+1)))
		}
	}
	z.zones, z.spare = sortByHigh(z.zones, z.spare)
	for i := 1; i < len(z.zones); i++ {
		a, b := zoneOf(z.zones[i-1]), zoneOf(z.zones[i])
		if b.first < a.last {
			return z.conflict(a, b)
		}
	}
	at := 0 // clusters come by invocation of their write, so zones are near the last one found
	for i := range z.clusters {
		c := &z.clusters[i]
		if c.first < c.last {
			continue
		}
		var ok bool
		if at, ok = lastBefore(z.zones, c.last, at); !ok {
			continue
		}
		// Forward zones are disjoint by now, so the last one to start before
		// this backward zone is the only one that can hold it.
		if a := zoneOf(z.zones[at]); c.first < a.last {
			return z.conflict(a, *c)
		}
	}
	return nil
}

// zoneOf unpacks a forward zone.
func zoneOf(word uint64) cluster {
	return cluster{first: int32(uint32(word>>32)) - 1, last: int32(uint32(word)) - 1}
}

// lastBefore finds, in forward zones sorted by first, the last that starts
// before a position, looking outward from a guess.
func lastBefore(zones []uint64, position int32, guess int) (int, bool) {
	starts := func(i int) bool { return zoneOf(zones[i]).first < position }
	if len(zones) == 0 {
		return 0, false
	}
	lo, hi := guess, guess+1 // starts holds at lo and does not at hi, once widened
	for step := 1; lo >= 0 && !starts(lo); step *= 2 {
		lo, hi = lo-step, lo
	}
	lo = max(lo, -1)
	for step := 1; hi < len(zones) && starts(hi); step *= 2 {
		lo, hi = hi, hi+step
	}
	hi = min(hi, len(zones))
	for hi-lo > 1 {
		mid := int(uint(lo+hi) / 2)
		if starts(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	if lo < 0 {
		return 0, false
	}
	return lo, true
}
