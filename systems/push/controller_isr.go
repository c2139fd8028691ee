package push

import (
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// codeIneligibleReplica refuses an in-sync set with a member that is not live.
const codeIneligibleReplica protocol.Code = "INELIGIBLE_REPLICA"

// alterPartition commits in-sync sets that a leader asks for. They keep the
// leader epoch and go out as metadata alone: the leader learns them from the
// answer.
func (c *Controller) alterPartition(r *AlterPartitionRequest, reply func(node.Message), done func()) {
	if c.cfg.Guards.BrokerEpoch && (!c.cluster.isLive(r.Broker) || r.BrokerEpoch != c.cluster.epochs[r.Broker]) {
		reply(&AlterPartitionResponse{Error: protocol.StaleBrokerEpoch})
		done()
		return
	}
	answer := &AlterPartitionResponse{Partitions: make([]AlterPartitionResult, len(r.Partitions))}
	var ps []*partition
	asked := map[*partition]int{} // index in the request
	for i := range r.Partitions {
		a := &r.Partitions[i]
		p := c.cluster.byID[a.Partition]
		code, write := c.admit(p, r.Broker, a)
		switch {
		case code != protocol.None:
			answer.Partitions[i].Error = code
		case !write:
			answer.Partitions[i] = p.result()
		default:
			ps, asked[p] = append(ps, p), i
		}
	}
	choose := func(p *partition, now State, version int32) choice {
		a := &r.Partitions[asked[p]]
		if version != a.Version || now.LeaderEpoch != a.LeaderEpoch {
			// Someone else has changed it; remember what was seen.
			p.state, p.version = now, version
			return choice{code: protocol.InvalidUpdateVersion}
		}
		return choice{leader: now.Leader, isr: a.ISR, keepEpoch: true}
	}
	b := c.newBatch()
	c.change(ps, "alter-partition", choose, b, func(out []outcome) {
		for i, o := range out {
			if o.code != protocol.None {
				answer.Partitions[asked[ps[i]]].Error = o.code
				continue
			}
			answer.Partitions[asked[ps[i]]] = ps[i].result()
		}
		b.send()
		reply(answer)
		for _, p := range ps {
			c.caughtUp(p)
		}
		done()
	})
}

// admit checks what a leader asks for against the controller's memory, in
// Kafka's order. A leader that is ahead of that memory has met a newer
// controller, so this one must be the zombie.
func (c *Controller) admit(p *partition, broker int32, a *AlterPartition) (code protocol.Code, write bool) {
	switch {
	case p == nil || !p.known:
		return protocol.UnknownTopicOrPartition, false
	case a.Version > p.version || a.LeaderEpoch > p.state.LeaderEpoch:
		return protocol.NotController, false
	case a.LeaderEpoch < p.state.LeaderEpoch || p.state.Leader != broker:
		return protocol.FencedLeaderEpoch, false
	case sameSet(a.ISR, p.state.ISR):
		return protocol.None, false
	case a.Version < p.version:
		return protocol.InvalidUpdateVersion, false
	}
	for _, r := range a.ISR {
		if !c.cluster.serving(r) {
			return codeIneligibleReplica, false
		}
	}
	return protocol.None, true
}

func (p *partition) result() AlterPartitionResult {
	return AlterPartitionResult{
		Leader: p.state.Leader, LeaderEpoch: p.state.LeaderEpoch, ISR: p.state.ISR, Version: p.version,
	}
}

// isrChanged is the watch on notifications of leaders that changed an in-sync
// set in the store themselves.
func (c *Controller) isrChanged() {
	c.put(func(done func()) {
		c.session.children(isrChangesPath, c.isrChanged, func(names []string, _ error) {
			c.takeISRChanges(names, done)
		})
	})
}

// takeISRChanges reads the partitions named in notifications anew, tells all
// brokers, and deletes the notifications.
func (c *Controller) takeISRChanges(names []string, done func()) {
	nodes := make([]isrChangeNode, len(names))
	c.session.all(len(names), func(i int, one func()) {
		path := isrChangesPath + "/" + names[i]
		c.session.get(path, nil, func(_ node.Stat, data []byte, err error) {
			if err == nil {
				nodes[i], _ = decodeISRChange(path, data) // one that says nothing is deleted all the same
			}
			one()
		})
	}, func() {
		var ps []*partition
		for _, n := range nodes {
			for _, changed := range n.Partitions {
				id := protocol.Partition{Topic: changed.Topic, Index: changed.Partition}
				if p := c.cluster.byID[id]; p != nil {
					ps = append(ps, p)
				}
			}
		}
		c.session.all(len(ps), func(i int, one func()) { c.readState(ps[i], one) }, func() {
			if len(ps) > 0 {
				b := c.newBatch()
				b.updateMetadata(c.cluster.live, ps...)
				b.send()
			}
			for _, p := range ps {
				c.caughtUp(p)
			}
			c.deleteISRChanges(names, done)
		})
	})
}

// forgetISRChanges deletes notifications before the states are read, so that
// whatever they told of is seen anyway.
func (c *Controller) forgetISRChanges(next func()) {
	c.session.children(isrChangesPath, c.isrChanged, func(names []string, _ error) {
		c.deleteISRChanges(names, next)
	})
}

func (c *Controller) deleteISRChanges(names []string, next func()) {
	c.session.all(len(names), func(i int, one func()) {
		remove := node.StoreOp{Kind: node.Delete, Path: isrChangesPath + "/" + names[i], Version: node.AnyVersion}
		c.write([]node.StoreOp{remove}, func([]node.Stat, error) { one() })
	}, next)
}
