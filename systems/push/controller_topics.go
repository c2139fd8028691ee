package push

import "github.com/stalemate-io/stalemate/systems/node"

// topicsChanged is the watch on the list of topics.
func (c *Controller) topicsChanged() {
	c.put(func(done func()) {
		c.session.children(topicsPath, c.topicsChanged, func(names []string, _ error) {
			var added []string
			for _, name := range names {
				if c.cluster.topic(name) == nil {
					added = append(added, name)
				}
			}
			c.readTopicNodes(added, func([]*topic) { c.electLeaderless(done) })
		})
	})
}

// scheduleBootstrap stops waiting for brokers once their time is over.
func (c *Controller) scheduleBootstrap() {
	c.session.after(c.cfg.BootstrapWait, func() {
		c.put(func(done func()) {
			c.bootstrapDue = true
			c.bootstrap(done)
		})
	})
}

// bootstrap creates the configured topics that are missing, as an operator
// would, once the brokers are there to host them. The watch on the list of
// topics brings the rest about.
func (c *Controller) bootstrap(next func()) {
	if len(c.cluster.live) < c.cfg.Brokers && !c.bootstrapDue {
		next()
		return
	}
	var missing []Topic
	for _, t := range c.cfg.Topics {
		if c.cluster.topic(t.Name) == nil {
			missing = append(missing, t)
		}
	}
	c.session.all(len(missing), func(i int, one func()) {
		n := topicNode{Partitions: map[string][]int32{}}
		for p, replicas := range missing[i].Replicas {
			n.Partitions[itoa(int32(p))] = replicas
		}
		create := node.StoreOp{Kind: node.Create, Path: topicPath(missing[i].Name), Data: n.encode()}
		c.write([]node.StoreOp{create}, func([]node.Stat, error) { one() })
	}, next)
}

// createStates gives partitions without a state their first one: all live
// replicas in sync, the first of them the leader. A partition without live
// replicas has to wait.
func (c *Controller) createStates(next func()) {
	var ps []*partition
	var topics []*topic
	for _, p := range c.cluster.partitions {
		if !p.known && len(c.cluster.liveOf(p.replicas)) > 0 {
			ps = append(ps, p)
			if len(topics) == 0 || topics[len(topics)-1] != p.topic {
				topics = append(topics, p.topic)
			}
		}
	}
	if len(ps) == 0 {
		next()
		return
	}
	b := c.newBatch()
	create := func(path string, one func()) { // an existing node is as good
		c.write([]node.StoreOp{{Kind: node.Create, Path: path}}, func([]node.Stat, error) { one() })
	}
	c.session.all(len(topics), func(i int, one func()) { create(partsPath(topics[i].name), one) }, func() {
		c.session.all(len(ps), func(i int, one func()) { create(partitionDir(ps[i].id), one) }, func() {
			c.session.all(len(ps), func(i int, one func()) { c.createState(ps[i], b, one) }, func() {
				b.send()
				next()
			})
		})
	})
}

func (c *Controller) createState(p *partition, b *batch, one func()) {
	live := c.cluster.liveOf(p.replicas)
	s := State{Leader: live[0], LeaderEpoch: 0, ControllerEpoch: c.epoch, ISR: live}
	create := node.StoreOp{Kind: node.Create, Path: p.statePath, Data: s.Encode()}
	c.write([]node.StoreOp{create}, func(stats []node.Stat, err error) {
		if err == nil {
			p.known, p.state, p.version = true, s, stats[0].Version
			c.traceState(TraceStoreWrite, p, s, p.version, "new-partition")
			b.leaderAndISR(live, p, true)
			one()
			return
		}
		// It was there already: by a predecessor, or by this very write whose
		// first answer was lost.
		c.readState(p, func() {
			if p.known {
				b.leaderAndISR(p.replicas, p, false)
			}
			one()
		})
	})
}
