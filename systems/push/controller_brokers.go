package push

// brokersChanged is the watch on the registrations. The event reads them when
// its turn comes, not when it arose (KAFKA-5642).
func (c *Controller) brokersChanged() {
	c.put(func(done func()) {
		c.session.children(brokerIDsPath, c.brokersChanged, func(names []string, _ error) {
			c.brokerEpochs(names, func(ids []int32, epochs []int64) { c.brokerChange(ids, epochs, done) })
		})
	})
}

// brokerChange compares who is registered with whom it knew: brokers that are
// new, that are gone, and that came back as a new incarnation before they were
// missed (KIP-380).
func (c *Controller) brokerChange(ids []int32, epochs []int64, done func()) {
	k := c.cluster
	var added, bounced []int32
	epochOf := map[int32]int64{}
	for i, id := range ids {
		epochOf[id] = epochs[i]
		switch {
		case !k.isLive(id):
			added = append(added, id)
		case epochs[i] > k.epochs[id] && c.cfg.Guards.BrokerEpoch:
			bounced = append(bounced, id)
		}
	}
	dead := minus(k.live, ids)

	// Channels first. The queue of a broker that is gone goes with it.
	for _, id := range bounced {
		k.channels[id].close("broker " + itoa(id) + " was restarted")
		k.channels[id] = &channel{c: c, to: nodeOf(id)}
	}
	for _, id := range dead {
		k.channels[id].close("broker " + itoa(id) + " is gone")
		delete(k.channels, id)
	}

	for _, id := range added {
		c.addBroker(id, epochOf[id])
	}
	c.startup(added, func() {
		for _, id := range bounced {
			k.removeLive(id)
		}
		c.failure(bounced, func() {
			for _, id := range bounced {
				k.addLive(id, epochOf[id])
			}
			c.startup(bounced, func() {
				for _, id := range dead {
					k.removeLive(id)
				}
				c.failure(dead, func() { c.bootstrap(done) })
			})
		})
	})
}

// startup brings in brokers that have registered: the others learn who is live,
// they learn everything, and partitions that wait for a leader may get one.
func (c *Controller) startup(ids []int32, next func()) {
	if len(ids) == 0 {
		next()
		return
	}
	others := c.newBatch()
	others.updateMetadata(minus(c.cluster.live, ids))
	others.send()
	all := c.newBatch()
	all.updateMetadata(ids, c.cluster.partitions...)
	all.send()
	// Roles come last and, like every LeaderAndIsr, bring the state of their
	// partitions to all brokers.
	roles := c.newBatch()
	for _, id := range ids {
		for _, p := range c.cluster.hosted(id) {
			roles.leaderAndISR([]int32{id}, p, false)
		}
	}
	roles.send()
	c.electLeaderless(func() { c.resumeReassignments(next) })
}

// failure handles brokers that are gone: elections where they led, then
// in-sync sets without them. Nobody tells a broker that was deposed this way,
// since it is taken for dead.
func (c *Controller) failure(ids []int32, next func()) {
	if len(ids) == 0 {
		next()
		return
	}
	before := c.pushes
	c.electLeaderless(func() {
		c.replicasOffline(ids, func() {
			if c.pushes == before {
				b := c.newBatch()
				b.updateMetadata(c.cluster.live)
				b.send()
			}
			next()
		})
	})
}

// replicasOffline takes brokers out of the in-sync sets of their partitions, one
// broker after the other.
func (c *Controller) replicasOffline(ids []int32, next func()) {
	if len(ids) == 0 {
		next()
		return
	}
	gone := ids[0]
	var affected []*partition
	for _, p := range c.cluster.hosted(gone) {
		if contains(p.state.ISR, gone) || p.state.Leader == gone {
			affected = append(affected, p)
		}
	}
	b := c.newBatch()
	c.change(affected, "replica-offline", c.withoutReplica(gone), b, func([]outcome) {
		b.send()
		c.replicasOffline(ids[1:], next)
	})
}
