package push

import (
	"bytes"
	"errors"
	"strconv"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// register creates the broker's ephemeral node, whose czxid becomes its broker
// epoch. While the node of a former life is there, it waits for that to vanish.
func (b *Broker) register() {
	path := brokerPath(b.id)
	host := string(b.env.Self())
	const port = 9092
	data := brokerNode{
		Version: 5, Host: host, Port: port, Endpoints: []string{"PLAINTEXT://" + host + ":" + strconv.Itoa(port)},
		JMXPort: -1, Timestamp: strconv.FormatUint(b.env.Rand().Uint64(), 10),
	}.encode()
	b.registerAs(path, data)
}

func (b *Broker) registerAs(path string, data []byte) {
	create := node.StoreOp{Kind: node.Create, Path: path, Data: data, Ephemeral: true}
	b.session.multiOnce([]node.StoreOp{create}, func(stats []node.Stat, err error) {
		switch {
		case err == nil:
			b.registered(stats[0].Czxid)
		case errors.Is(err, node.ErrNodeExists), errors.Is(err, node.ErrSession):
			b.findRegistration(path, data)
		default: // a parent is missing
			b.session.again(func() { b.session.ensure(topLevelPaths, func() { b.registerAs(path, data) }) })
		}
	})
}

// findRegistration looks whose registration is there: this one's, the answer to
// which was lost, or that of a former life.
func (b *Broker) findRegistration(path string, data []byte) {
	retry := func() { b.registerAs(path, data) }
	left := false // for a watch that fires in the meantime
	b.session.get(path, func() {
		if !left {
			left = true
			retry()
		}
	}, func(stat node.Stat, found []byte, err error) {
		switch {
		case left:
		case err == nil && bytes.Equal(found, data):
			left = true
			b.registered(stat.Czxid)
		case err != nil:
			left = true
			b.session.again(retry)
		}
	})
}

func (b *Broker) registered(epoch int64) {
	b.epoch = epoch
	b.env.Trace(node.Trace{What: TraceRegistered, Leader: protocol.NoLeader, Version: epoch})
	waiting := b.waiting
	b.waiting = nil
	for _, serve := range waiting {
		serve()
	}
}

// shutdown stops the broker in an orderly way. It asks the controller it
// believes in, again and again, to take its leaderships; then takes back its
// registration, answers, and falls silent until it is booted anew.
func (b *Broker) shutdown(reply func(node.Message)) {
	request := &ControlledShutdownRequest{Broker: b.id, BrokerEpoch: b.epoch}
	again := func() { b.env.After(b.cfg.RetryBackoff, func() { b.shutdown(reply) }) }
	controller := nodeOf(b.cache.controller)
	if controller == "" {
		again()
		return
	}
	b.env.Call(controller, request, b.cfg.RequestTimeout, func(m node.Message, err error) {
		answer, ok := m.(*ControlledShutdownResponse)
		if err != nil || !ok || answer.Error != protocol.None {
			again()
			return
		}
		remove := node.StoreOp{Kind: node.Delete, Path: brokerPath(b.id), Version: node.AnyVersion}
		b.session.multi([]node.StoreOp{remove}, func([]node.Stat, error) {
			b.stopped = true
			reply(&ShutdownResponse{Remaining: answer.Remaining})
		})
	})
}
