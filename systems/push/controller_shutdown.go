package push

import (
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// controlledShutdown moves leadership off a broker that is about to stop, then
// stops the replicas it follows and takes them out of the in-sync sets.
// Partitions with one replica stay where they are.
func (c *Controller) controlledShutdown(r *ControlledShutdownRequest, reply func(node.Message), done func()) {
	k := c.cluster
	if !k.isLive(r.Broker) || c.cfg.Guards.BrokerEpoch && r.BrokerEpoch < k.epochs[r.Broker] {
		reply(&ControlledShutdownResponse{Error: protocol.StaleBrokerEpoch})
		done()
		return
	}
	k.shuttingDown = union(k.shuttingDown, []int32{r.Broker})
	var led, followed []*partition
	for _, p := range k.hosted(r.Broker) {
		switch {
		case len(p.replicas) == 1:
		case p.state.Leader == r.Broker:
			led = append(led, p)
		default:
			followed = append(followed, p)
		}
	}
	b := c.newBatch()
	c.change(led, "controlled-shutdown", c.shutdownElection, b, func([]outcome) {
		b.send()
		var inSync []*partition
		stop := c.newBatch()
		for _, p := range followed {
			stop.stopReplica([]int32{r.Broker}, p, false)
			if contains(p.state.ISR, r.Broker) {
				inSync = append(inSync, p)
			}
		}
		stop.send()
		b := c.newBatch()
		c.change(inSync, "controlled-shutdown", c.withoutReplica(r.Broker), b, func([]outcome) {
			b.send()
			answer := &ControlledShutdownResponse{}
			for _, p := range led {
				if p.state.Leader == r.Broker {
					answer.Remaining = append(answer.Remaining, p.id)
				}
			}
			reply(answer)
			done()
		})
	})
}
