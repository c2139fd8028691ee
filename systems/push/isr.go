package push

import (
	"errors"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// isrChanges are the changes of in-sync sets that a broker wants as leader.
type isrChanges struct {
	asking bool // an AlterPartition is under way
	// direct changes not yet told to the controller
	unsaid  []protocol.Partition
	telling bool
}

// considerExpansion asks to take a follower into the in-sync set once it has
// all that is committed, and all that its leader had when it became leader.
func (b *Broker) considerExpansion(p *replica, f *follower) {
	if p.wanted != nil || contains(p.isr, f.id) || f.end < p.highWatermark || f.end < p.epochStart {
		return
	}
	b.want(p, union(p.isr, []int32{f.id}))
}

// watchInSync looks from time to time for followers that have fallen behind.
func (b *Broker) watchInSync() {
	b.env.After(b.cfg.ReplicaLagTimeMax/2, func() {
		if b.stopped {
			return
		}
		now := b.env.Now()
		for _, p := range b.replicas {
			if p.role != leads || p.wanted != nil {
				continue
			}
			isr := p.isr
			for i := range p.followers {
				f := &p.followers[i]
				if contains(isr, f.id) && f.end != p.log.end() && now-f.caughtUpAt > b.cfg.ReplicaLagTimeMax {
					isr = without(isr, f.id)
				}
			}
			if len(isr) < len(p.isr) {
				b.want(p, isr)
			}
		}
		b.watchInSync()
	})
}

// want asks for another in-sync set. Until it is granted the high watermark
// waits for the members of both.
func (b *Broker) want(p *replica, isr []int32) {
	p.wanted = isr
	if b.cfg.DirectISR {
		b.writeISR(p)
		return
	}
	b.askForISR()
}

// askForISR sends what is wanted to the controller that the metadata cache
// names; if the cache is stale, that is a controller no more.
func (b *Broker) askForISR() {
	if b.isr.asking {
		return
	}
	request := &AlterPartitionRequest{Broker: b.id, BrokerEpoch: b.epoch}
	var asked []*replica
	for _, p := range b.replicas {
		if p.role == leads && p.wanted != nil && !p.refused {
			asked = append(asked, p)
			request.Partitions = append(request.Partitions, AlterPartition{
				Partition: p.id, LeaderEpoch: p.leaderEpoch, ISR: p.wanted, Version: p.version,
			})
		}
	}
	if len(asked) == 0 {
		return
	}
	b.isr.asking = true
	again := func() {
		b.env.After(b.cfg.RetryBackoff, func() {
			b.isr.asking = false
			b.askForISR()
		})
	}
	controller := nodeOf(b.cache.controller)
	if controller == "" {
		again()
		return
	}
	b.env.Call(controller, request, b.cfg.RequestTimeout, func(m node.Message, err error) {
		answer, ok := m.(*AlterPartitionResponse)
		if err != nil || !ok || answer.Error != protocol.None || len(answer.Partitions) != len(asked) {
			again()
			return
		}
		retry := false
		for i, p := range asked {
			if b.takeGranted(p, &request.Partitions[i], &answer.Partitions[i]) {
				retry = true
			}
		}
		if retry {
			again()
			return
		}
		b.isr.asking = false
		b.askForISR()
	})
}

// takeGranted takes over the controller's answer on one partition; true if it
// is worth asking again. A leader that is told that its epoch or version is
// behind waits for the LeaderAndIsr that must be on its way.
func (b *Broker) takeGranted(p *replica, asked *AlterPartition, a *AlterPartitionResult) (again bool) {
	if p.role != leads || p.wanted == nil || p.leaderEpoch != asked.LeaderEpoch {
		return false // it has another role by now
	}
	switch a.Error {
	case protocol.None:
		if a.LeaderEpoch == p.leaderEpoch && a.Version >= p.version {
			p.isr, p.version, p.wanted = a.ISR, a.Version, nil
			b.advance(p)
		}
	case protocol.NotController:
		return true
	case codeIneligibleReplica:
		p.wanted = nil
		b.advance(p)
	default:
		p.refused = true
	}
	return false
}

// writeISR writes an in-sync set to the store, as leaders did themselves before
// there was AlterPartition. The write is conditional on the version that the
// leader knows and on nothing else: no controller epoch is checked. When the
// version has moved on, the leader gives up and tries again later, in vain
// until it hears from the controller.
func (b *Broker) writeISR(p *replica) {
	s := State{Leader: b.id, LeaderEpoch: p.leaderEpoch, ControllerEpoch: p.controllerEpoch, ISR: p.wanted}
	set := node.StoreOp{Kind: node.Set, Path: StatePath(p.id), Data: s.Encode(), Version: p.version}
	if !b.cfg.Guards.ConditionalWrites {
		set.Version = node.AnyVersion
	}
	epoch := p.leaderEpoch
	mine := func() bool { return p.role == leads && p.leaderEpoch == epoch && p.wanted != nil }
	accept := func(version int32) {
		b.env.Trace(node.Trace{
			What: TraceISRWrite, Key: p.key, Leader: b.id, Epoch: s.LeaderEpoch, Version: int64(version),
		})
		b.notifyLater(p.id)
		if mine() {
			p.isr, p.version, p.wanted = s.ISR, version, nil
			b.advance(p)
		}
	}
	giveUp := func() {
		if mine() {
			p.wanted = nil
		}
	}
	b.session.multi([]node.StoreOp{set}, func(stats []node.Stat, err error) {
		switch {
		case err == nil:
			accept(stats[0].Version)
		case errors.Is(err, node.ErrBadVersion):
			b.session.get(set.Path, nil, func(stat node.Stat, data []byte, err error) {
				if err == nil && string(data) == string(set.Data) {
					accept(stat.Version)
				} else {
					giveUp()
				}
			})
		default:
			giveUp()
		}
	})
}

// forgetDirectChanges gives up direct changes whose answers went with the
// session.
func (b *Broker) forgetDirectChanges() {
	if !b.cfg.DirectISR {
		return
	}
	for _, p := range b.replicas {
		p.wanted = nil
	}
}

// notifyLater tells the controller of direct changes, several at once.
func (b *Broker) notifyLater(id protocol.Partition) {
	for _, p := range b.isr.unsaid {
		if p == id {
			return
		}
	}
	b.isr.unsaid = append(b.isr.unsaid, id)
	if b.isr.telling {
		return
	}
	b.isr.telling = true
	b.env.After(b.cfg.ISRNotification, func() {
		b.isr.telling = false
		var n isrChangeNode
		for _, p := range b.isr.unsaid {
			n.Partitions = append(n.Partitions, isrChangePartition{Topic: p.Topic, Partition: p.Index})
		}
		b.isr.unsaid = nil
		create := node.StoreOp{Kind: node.Create, Path: isrChangePrefix, Data: n.encode(), Sequential: true}
		b.session.multi([]node.StoreOp{create}, func([]node.Stat, error) {})
	})
}
