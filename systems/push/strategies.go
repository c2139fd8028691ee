package push

import "github.com/stalemate-io/stalemate/systems/protocol"

// The ways to elect a leader. Each reads the in-sync set from the store and
// liveness from the controller's memory.

// offlineElection makes the first live in-sync replica of the assignment the
// leader, for partitions whose leader is gone.
func (c *Controller) offlineElection(p *partition, now State, _ int32) choice {
	live := c.cluster.liveOf(p.replicas)
	for _, r := range live {
		if contains(now.ISR, r) {
			return choice{leader: r, isr: c.cluster.liveOf(now.ISR), recipients: live}
		}
	}
	if !c.cfg.Guards.ISROnlyElection && len(live) > 0 {
		return choice{leader: live[0], isr: live[:1], recipients: live}
	}
	return choice{code: protocol.EligibleLeadersNotAvail}
}

// targetElection makes one given replica the leader.
func (c *Controller) targetElection(target int32) chooser {
	return func(p *partition, now State, _ int32) choice {
		switch {
		case now.Leader == target:
			return choice{code: protocol.ElectionNotNeeded}
		case !contains(p.replicas, target), !c.cluster.serving(target), !contains(now.ISR, target):
			return choice{code: protocol.EligibleLeadersNotAvail}
		}
		return choice{leader: target, isr: now.ISR, recipients: p.replicas}
	}
}

// preferredElection gives leadership back to the first of the assignment.
func (c *Controller) preferredElection(p *partition, now State, version int32) choice {
	return c.targetElection(p.replicas[0])(p, now, version)
}

// shutdownElection moves leadership away from brokers about to stop.
func (c *Controller) shutdownElection(p *partition, now State, _ int32) choice {
	isr := minus(now.ISR, c.cluster.shuttingDown)
	for _, r := range p.replicas {
		if c.cluster.serving(r) && contains(isr, r) {
			return choice{leader: r, isr: isr, recipients: c.cluster.liveOf(p.replicas)}
		}
	}
	return choice{code: protocol.EligibleLeadersNotAvail}
}

// reassignElection makes the first eligible replica of the new assignment the
// leader. A leader that stays gets a new leader epoch all the same, so that
// replicas take notice of the new assignment.
func (c *Controller) reassignElection(p *partition, now State, _ int32) choice {
	target := p.target()
	for _, r := range target {
		if c.cluster.serving(r) && contains(now.ISR, r) {
			return choice{leader: r, isr: now.ISR, recipients: p.replicas}
		}
	}
	return choice{code: protocol.EligibleLeadersNotAvail}
}

// bumpEpoch changes nothing but the leader epoch, which makes replicas accept
// the LeaderAndIsr that tells them a new assignment.
func (c *Controller) bumpEpoch(p *partition, now State, _ int32) choice {
	return choice{leader: now.Leader, isr: now.ISR, recipients: p.replicas}
}

// withoutReplica takes a replica out of the in-sync set, and leadership from it
// if it led. The last in-sync replica stays (KAFKA-5083).
func (c *Controller) withoutReplica(gone int32) chooser {
	return func(p *partition, now State, _ int32) choice {
		if !contains(now.ISR, gone) && now.Leader != gone {
			return choice{code: protocol.ElectionNotNeeded}
		}
		next := choice{leader: now.Leader, isr: now.ISR, recipients: without(p.replicas, gone)}
		if len(now.ISR) > 1 {
			next.isr = without(now.ISR, gone)
		}
		if now.Leader == gone {
			next.leader = protocol.NoLeader
		}
		return next
	}
}
