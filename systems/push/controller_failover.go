package push

import (
	"github.com/stalemate-io/stalemate/systems/node"
)

// failover makes a newly elected controller active. What it knows comes from
// separate reads of the store, made one after another while the cluster goes
// on: it is no snapshot of any one moment.
func (c *Controller) failover(done func()) {
	steps := []func(next func()){
		c.forgetISRChanges,
		c.readBrokers,
		c.readTopics,
		c.readStates,
		c.announceBrokers,
		c.resendAll,
		c.removeOfflineReplicas,
		c.electLeaderless,
		c.resumeReassignments,
		c.bootstrap,
	}
	var run func(i int)
	run = func(i int) {
		if i == len(steps) {
			done()
			return
		}
		steps[i](func() { run(i + 1) })
	}
	c.scheduleBootstrap()
	c.schedulePreferredElection()
	run(0)
}

// readBrokers reads who is registered, and opens a channel to each.
func (c *Controller) readBrokers(next func()) {
	c.session.children(brokerIDsPath, c.brokersChanged, func(names []string, _ error) {
		c.brokerEpochs(names, func(ids []int32, epochs []int64) {
			for i, id := range ids {
				c.addBroker(id, epochs[i])
			}
			next()
		})
	})
}

// brokerEpochs reads the registrations of brokers. One that is gone by now is
// left out.
func (c *Controller) brokerEpochs(names []string, then func(ids []int32, epochs []int64)) {
	found := make([]int64, len(names))
	c.session.all(len(names), func(i int, one func()) {
		c.session.get(brokerIDsPath+"/"+names[i], nil, func(stat node.Stat, _ []byte, err error) {
			if err == nil {
				found[i] = stat.Czxid
			}
			one()
		})
	}, func() {
		var ids []int32
		var epochs []int64
		for i, name := range names {
			if id := atoi(name); id > 0 && found[i] != 0 {
				ids, epochs = append(ids, id), append(epochs, found[i])
			}
		}
		then(ids, epochs)
	})
}

func (c *Controller) addBroker(id int32, epoch int64) {
	c.cluster.addLive(id, epoch)
	c.cluster.channels[id] = &channel{c: c, to: nodeOf(id)}
}

func (c *Controller) readTopics(next func()) {
	c.session.children(topicsPath, c.topicsChanged, func(names []string, _ error) {
		c.readTopicNodes(names, func([]*topic) { next() })
	})
}

// readTopicNodes reads the assignments of topics and remembers them.
func (c *Controller) readTopicNodes(names []string, then func([]*topic)) {
	nodes := make([]topicNode, len(names))
	versions := make([]int32, len(names))
	ok := make([]bool, len(names))
	c.session.all(len(names), func(i int, one func()) {
		path := topicPath(names[i])
		c.session.get(path, nil, func(stat node.Stat, data []byte, err error) {
			if err == nil {
				nodes[i], err = decodeTopic(path, data)
				versions[i], ok[i] = stat.Version, err == nil
			}
			one()
		})
	}, func() {
		var topics []*topic
		for i, name := range names {
			if ok[i] && c.cluster.topic(name) == nil {
				topics = append(topics, c.cluster.addTopic(name, nodes[i], versions[i]))
			}
		}
		then(topics)
	})
}

// readStates reads the state of every partition, each by a read of its own.
func (c *Controller) readStates(next func()) {
	ps := c.cluster.partitions
	c.session.all(len(ps), func(i int, one func()) {
		c.readState(ps[i], one)
	}, next)
}

// readState reads the state of one partition into the cache.
func (c *Controller) readState(p *partition, then func()) {
	c.session.get(p.statePath, nil, func(stat node.Stat, data []byte, err error) {
		if err == nil {
			if s, err := DecodeState(p.statePath, data); err == nil {
				p.known, p.state, p.version = true, s, stat.Version
				c.traceState(TraceSnapshotRead, p, s, stat.Version, "")
			}
		}
		then()
	})
}

// announceBrokers tells the live brokers about each other before any role names
// one of them as a leader.
func (c *Controller) announceBrokers(next func()) {
	if c.cfg.Guards.AnnounceBrokersFirst {
		b := c.newBatch()
		b.updateMetadata(c.cluster.live)
		b.send()
	}
	next()
}

// resendAll pushes everything that was read, to everyone.
func (c *Controller) resendAll(next func()) {
	if c.cfg.Guards.ResendOnFailover {
		b := c.newBatch()
		for _, p := range c.cluster.partitions {
			if p.known {
				b.leaderAndISR(p.replicas, p, false)
			}
		}
		b.send()
	}
	next()
}

// removeOfflineReplicas shrinks in-sync sets by brokers that are not live
// (KAFKA-3143).
func (c *Controller) removeOfflineReplicas(next func()) {
	var dead []int32
	for _, p := range c.cluster.partitions {
		dead = union(dead, minus(p.replicas, c.cluster.live))
	}
	c.replicasOffline(dead, next)
}

// electLeaderless elects leaders for new partitions and for those whose leader
// is not live.
func (c *Controller) electLeaderless(next func()) {
	c.createStates(func() {
		b := c.newBatch()
		c.change(c.cluster.leaderless(), "offline-election", c.offlineElection, b, func([]outcome) {
			b.send()
			next()
		})
	})
}

func (c *Controller) traceState(what string, p *partition, s State, version int32, why string) {
	c.env.Trace(node.Trace{
		What: what, Key: p.key, Leader: s.Leader, Epoch: s.LeaderEpoch, Version: int64(version), Why: why,
	})
}
