package push

import (
	"slices"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// reassign moves a partition to other brokers. It answers once the move is
// recorded and under way; its end comes by itself, when the new replicas are in
// sync. Kafka keeps a leader that is part of the target; here the first of the
// target takes over, as the request asks.
//
// The steps bear the names of Kafka's: U writes down the plan, A brings the new
// replicas in, B takes the old ones out. The topic's node is the only durable
// copy of the plan, hence its last write (B6) comes after everything else.
func (c *Controller) reassign(r *protocol.AlterReassignmentRequest, reply func(node.Message), done func()) {
	p := c.cluster.byID[r.Partition]
	switch {
	case p == nil || !p.known:
		reply(c.answer(outcome{code: protocol.UnknownTopicOrPartition}))
		done()
		return
	case !c.eligible(r.Replicas):
		reply(c.answer(outcome{code: protocol.EligibleLeadersNotAvail}))
		done()
		return
	}
	origin := minus(p.replicas, p.adding)
	dropped := minus(p.adding, r.Replicas)
	before := *p
	p.adding, p.removing = minus(r.Replicas, origin), minus(origin, r.Replicas)
	p.replicas = union(r.Replicas, origin)
	c.writeTopic(p.topic, func(err error) { // U1
		if err != nil {
			p.replicas, p.adding, p.removing = before.replicas, before.adding, before.removing
			reply(c.answer(outcome{code: protocol.RequestTimedOut}))
			done()
			return
		}
		c.dropReplicas(p, dropped, func() { // U3
			c.advance(p, func(o outcome) {
				if o.code != protocol.None {
					o.code = protocol.RequestTimedOut // the plan stands and will be carried on
				}
				reply(c.answer(o))
				done()
			})
		})
	})
}

// eligible tells whether brokers can take a partition: live, and each once.
func (c *Controller) eligible(brokers []int32) bool {
	for i, b := range brokers {
		if !c.cluster.isLive(b) || contains(brokers[:i], b) {
			return false
		}
	}
	return len(brokers) > 0
}

// writeTopic writes a topic's assignments. The version makes sure that nobody
// else has written in between; after a lost answer the node may hold this very
// content already.
func (c *Controller) writeTopic(t *topic, then func(error)) {
	set := node.StoreOp{Kind: node.Set, Path: topicPath(t.name), Data: t.node().encode(), Version: t.version}
	if !c.cfg.Guards.ConditionalWrites {
		set.Version = node.AnyVersion
	}
	c.write([]node.StoreOp{set}, func(stats []node.Stat, err error) {
		if err == nil {
			t.version = stats[0].Version
			then(nil)
			return
		}
		c.session.get(set.Path, nil, func(stat node.Stat, data []byte, readErr error) {
			if readErr == nil {
				t.version = stat.Version
				if slices.Equal(data, set.Data) {
					err = nil
				}
			}
			then(err)
		})
	})
}

// advance takes a reassignment one phase further: to its end if the new replicas
// are in sync, otherwise it makes sure that they and the leader know of it.
func (c *Controller) advance(p *partition, then func(outcome)) {
	if subset(p.target(), p.state.ISR) {
		c.finishReassignment(p, then)
		return
	}
	b := c.newBatch()
	c.change([]*partition{p}, "reassignment-begun", c.bumpEpoch, b, func(out []outcome) { // A1, A2
		b.send()
		then(out[0])
	})
}

func (c *Controller) finishReassignment(p *partition, then func(outcome)) {
	leaving := p.removing
	p.replicas, p.adding, p.removing = p.target(), nil, nil // B1, B2
	b := c.newBatch()
	c.change([]*partition{p}, "reassignment-election", c.reassignElection, b, func(out []outcome) { // B3
		b.send()
		c.dropReplicas(p, leaving, func() { // B4, B5
			c.writeTopic(p.topic, func(error) { // B6, B7
				last := c.newBatch()
				last.updateMetadata(c.cluster.live, p) // B8
				last.send()
				then(out[0])
			})
		})
	})
}

// dropReplicas takes replicas out of the in-sync set and tells them to stop and
// to delete their data.
func (c *Controller) dropReplicas(p *partition, gone []int32, next func()) {
	if len(gone) == 0 {
		next()
		return
	}
	b := c.newBatch()
	c.change([]*partition{p}, "replica-dropped", c.withoutReplica(gone[0]), b, func([]outcome) {
		b.stopReplica(gone[:1], p, true)
		b.send()
		c.dropReplicas(p, gone[1:], next)
	})
}

// resumeReassignments goes on with reassignments found under way.
func (c *Controller) resumeReassignments(next func()) {
	var ps []*partition
	for _, p := range c.cluster.partitions {
		if p.known && p.reassigning() {
			ps = append(ps, p)
		}
	}
	c.resume(ps, next)
}

func (c *Controller) resume(ps []*partition, next func()) {
	if len(ps) == 0 {
		next()
		return
	}
	c.advance(ps[0], func(outcome) { c.resume(ps[1:], next) })
}

// caughtUp ends a reassignment whose new replicas have come in sync.
func (c *Controller) caughtUp(p *partition) {
	if !p.reassigning() || !subset(p.target(), p.state.ISR) {
		return
	}
	c.put(func(done func()) {
		if !p.reassigning() || !subset(p.target(), p.state.ISR) {
			done()
			return
		}
		c.finishReassignment(p, func(outcome) { done() })
	})
}
