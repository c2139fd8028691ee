package checker

import "github.com/stalemate-io/stalemate/histories"

// chains is the working memory of mergeChains.
type chains struct {
	parent []int32 // cluster whose value a cas expected, or noCluster
	next   []int32 // cluster made by the cas of this cluster's value, or noCluster
	seen   []bool  // the value was returned by a read or changed by a cas that happened
	merged []bool
}

// reset makes room for n clusters.
func (c *chains) reset(n int) {
	if cap(c.parent) < n {
		c.parent, c.next = make([]int32, n), make([]int32, n)
		c.seen, c.merged = make([]bool, n), make([]bool, n)
	}
	c.parent, c.next = c.parent[:n], c.next[:n]
	c.seen, c.merged = c.seen[:n], c.merged[:n]
	for i := range n {
		c.parent[i], c.next[i], c.seen[i], c.merged[i] = noCluster, noCluster, false, false
	}
}

// mergeChains joins the clusters that successful cas link, each chain into its
// first cluster, after seeing that the chain itself agrees with real time.
func (z *zoneCheck) mergeChains() *zoneViolation {
	z.chain.reset(len(z.clusters))
	z.markSeen()
	if v := z.linkChains(); v != nil {
		return v
	}
	for i := range z.clusters {
		if z.chain.parent[i] == noCluster && z.chain.next[i] != noCluster {
			if v := z.mergeChain(int32(i)); v != nil {
				return v
			}
		}
	}
	return z.findRing()
}

// isCAS reports whether a cluster's value came of a cas.
func (z *zoneCheck) isCAS(n int32) bool {
	s := z.clusters[n].source
	return s != initialSource && z.h.Operations[s].F == histories.CAS
}

// happened reports whether the cas that made a cluster is known to have
// happened, by its own answer or because its value was seen.
func (z *zoneCheck) happened(n int32) bool {
	return z.h.Operations[z.clusters[n].source].Outcome == histories.Happened || z.chain.seen[n]
}

// markSeen marks the values that were seen, from reads and known cas upward
// through the unknown cas that must have happened for them.
func (z *zoneCheck) markSeen() {
	for _, i := range z.ops {
		if v, ok := z.returned(&z.h.Operations[i]); ok {
			z.chain.seen[z.values.find(z, v)] = true
		}
	}
	for i := int32(0); int(i) < len(z.clusters); i++ {
		// Walk up while a cas is newly known to have happened. Each walk ends
		// at a value already seen, so all walks together are linear.
		for n := i; z.isCAS(n) && z.happened(n); {
			up := z.expected(n)
			if up == noCluster || z.chain.seen[up] {
				break
			}
			z.chain.seen[up] = true
			n = up
		}
	}
}

// expected is the cluster of the value that a cluster's cas expected.
func (z *zoneCheck) expected(n int32) int32 {
	return z.values.find(z, z.h.Operations[z.clusters[n].source].Argument)
}

// linkChains links every cas that happened to the value it changed. That value
// must have been written, and can be changed only once.
func (z *zoneCheck) linkChains() *zoneViolation {
	for i := int32(1); int(i) < len(z.clusters); i++ {
		if !z.isCAS(i) || !z.happened(i) {
			continue
		}
		source := z.clusters[i].source
		up := z.expected(i)
		if up == noCluster {
			value := z.h.Operations[source].Argument
			return &zoneViolation{kind: z.phantom(histories.CAS, value), ops: z.withReader(i)}
		}
		if other := z.chain.next[up]; other != noCluster {
			v := &zoneViolation{kind: violationLostUpdate, ops: append(z.withReader(i), z.withReader(other)...)}
			if s := z.clusters[up].source; s != initialSource {
				v.ops, v.asWrite = append(v.ops, s), append(v.asWrite, s)
			}
			return v
		}
		z.chain.parent[i], z.chain.next[up] = up, i
	}
	return nil
}

// mergeChain lays out one chain, from its root on. A stage is a cluster; all of
// it stands after all of the stages before it, which real time allows iff
// nothing in it was over before something in them began. Within a stage the
// write comes first, which gatherReads has seen to.
func (z *zoneCheck) mergeChain(root int32) *zoneViolation {
	whole := z.clusters[root]
	for n := z.chain.next[root]; n != noCluster; n = z.chain.next[n] {
		stage := &z.clusters[n]
		if stage.first < whole.last {
			return z.disorder(n)
		}
		whole.first = min(whole.first, stage.first)
		whole.last = max(whole.last, stage.last)
		z.dissolve(n)
	}
	z.clusters[root].first, z.clusters[root].last = whole.first, whole.last
	return nil
}

// dissolve takes a merged cluster out of the comparison: its zone becomes
// backward and without end.
func (z *zoneCheck) dissolve(n int32) {
	z.chain.merged[n] = true
	z.clusters[n].first, z.clusters[n].last = histories.Open, histories.Open
}

// findRing finds cas that happened and form a ring: each expected the value
// that another one made, so none can have been the first.
func (z *zoneCheck) findRing() *zoneViolation {
	for i := range z.clusters {
		if z.chain.parent[i] != noCluster && !z.chain.merged[i] {
			return z.ring(int32(i))
		}
	}
	return nil
}
