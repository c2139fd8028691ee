package checker

import "slices"

// A chain may have thousands of stages, and a proof of few. What ties two
// stages of a chain together is the unbroken run of compare-and-sets from the
// one to the other, so a proof takes the shortest run that it finds: its first
// stage counts as a plain write of its value, and nothing before it matters.
// Every stage inside such a run was under way at one and the same instant, or
// during the whole of an operation that the run leaves no room for; so a run
// is as short as that.

// conflict is the violation of two clusters that stand each before the other,
// given the ends of their zones.
func (z *zoneCheck) conflict(a, b cluster) *zoneViolation {
	extents := z.extents()
	first := z.shortestRun(z.stages(a), extents, b)
	second := z.shortestRun(z.stages(b), extents, extentOf(first, extents))
	v := &zoneViolation{kind: violationOrder}
	z.addRun(v, first, extentOf(first, extents))
	z.addRun(v, second, extentOf(second, extents))
	return v
}

// disorder is the violation of a chain: some operation of the given stage was
// over before some operation of an earlier one began.
func (z *zoneCheck) disorder(stage int32) *zoneViolation {
	extents := z.extents()
	run := []int32{stage}
	for n := z.chain.parent[stage]; ; n = z.chain.parent[n] {
		run = append(run, n)
		if extents[n].last > extents[stage].first {
			break
		}
	}
	slices.Reverse(run)
	return z.backward(violationOrder, run, extents)
}

// backward is the violation of a run of which some operation of the last stage
// was over before some operation of the first one began.
func (z *zoneCheck) backward(kind string, run []int32, extents []cluster) *zoneViolation {
	v := &zoneViolation{kind: kind}
	first, last := run[0], run[len(run)-1]
	z.addRun(v, run, cluster{first: extents[last].first, last: extents[first].last})
	return v
}

// extents gives the zone of every cluster by itself, chains not merged.
func (z *zoneCheck) extents() []cluster {
	extents := make([]cluster, len(z.clusters))
	extents[0] = cluster{initialSource, beforeAll, beforeAll}
	for i := 1; i < len(extents); i++ {
		c := newCall(&z.h.Operations[z.clusters[i].source], 0, actWrite)
		extents[i] = cluster{z.clusters[i].source, c.completed, c.invoked}
	}
	for _, i := range z.ops {
		op := &z.h.Operations[i]
		if value, ok := z.returned(op); ok {
			c := &extents[z.values.find(z, value)]
			c.first, c.last = min(c.first, op.Completed), max(c.last, op.Invoked)
		}
	}
	return extents
}

// extentOf is the zone of some clusters merged.
func extentOf(stages []int32, extents []cluster) cluster {
	whole := extents[stages[0]]
	for _, n := range stages[1:] {
		whole.first, whole.last = min(whole.first, extents[n].first), max(whole.last, extents[n].last)
	}
	return whole
}

// stages lists the clusters of the chain that has a zone, from its root on.
func (z *zoneCheck) stages(zone cluster) []int32 {
	n := z.clusterAt(zone)
	if len(z.chain.parent) == 0 {
		return []int32{n}
	}
	for z.chain.parent[n] != noCluster {
		n = z.chain.parent[n]
	}
	var stages []int32
	for ; n != noCluster; n = z.chain.next[n] {
		stages = append(stages, n)
	}
	return stages
}

// clusterAt is the cluster of the operation that ends a zone. The initial
// value has no operation of its own, but its zone, where it is in a conflict,
// ends with one that read or changed it.
func (z *zoneCheck) clusterAt(zone cluster) int32 {
	for _, i := range z.ops {
		if op := &z.h.Operations[i]; op.Invoked == zone.last && z.counts(i) {
			return z.clusterOf(op)
		}
	}
	return 0
}

// shortestRun is the shortest run of stages that conflicts with a zone: one of
// its operations was over before the zone's last began, and one began after
// the zone's first was over.
func (z *zoneCheck) shortestRun(stages []int32, extents []cluster, zone cluster) []int32 {
	best := stages
	before, after := -1, -1 // the latest stages that have such an operation
	for i, n := range stages {
		if extents[n].first < zone.last {
			before = i
		}
		if extents[n].last > zone.first {
			after = i
		}
		if from := min(before, after); from >= 0 && i+1-from < len(best) {
			best = stages[from : i+1]
		}
	}
	return best
}

// addRun adds a run's updates, the two of its operations that ended and began
// where zone says, and what shows that the last update happened.
func (z *zoneCheck) addRun(v *zoneViolation, run []int32, zone cluster) {
	for _, i := range z.ops {
		op := &z.h.Operations[i]
		if (op.Completed == zone.first || op.Invoked == zone.last) && z.counts(i) {
			v.ops = append(v.ops, i)
		}
	}
	for i, n := range run {
		source := z.clusters[n].source
		if source == initialSource {
			continue
		}
		v.ops = append(v.ops, source)
		if i == 0 {
			v.asWrite = append(v.asWrite, source)
		}
	}
	if last := run[len(run)-1]; z.isCAS(last) {
		v.ops = append(v.ops, z.withReader(last)...)
	}
}

// maxRing is how many stages a ring may have before it is looked through for
// a shorter proof, and how many such a proof may have.
const maxRing = 64

// ring is the violation of a ring of stages. In a long one some stage is
// likely to contradict real time with one shortly before it.
func (z *zoneCheck) ring(start int32) *zoneViolation {
	stages := []int32{start}
	for n := z.chain.next[start]; n != start; n = z.chain.next[n] {
		stages = append(stages, n)
	}
	if len(stages) > maxRing {
		extents := z.extents()
		around := append(stages, stages[:maxRing]...) // a run may pass where the ring was entered
		for length := 2; length <= maxRing; length++ {
			for i := range stages {
				run := around[i : i+length]
				if extents[run[length-1]].first < extents[run[0]].last {
					return z.backward(violationRing, run, extents)
				}
			}
		}
	}
	v := &zoneViolation{kind: violationRing}
	for _, n := range stages {
		v.ops = append(v.ops, z.withReader(n)...)
	}
	return v
}
