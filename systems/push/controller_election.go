package push

import (
	"errors"
	"strconv"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// elect looks who the controller is, and claims the place if nobody is. A
// controller that finds itself there without having been elected in this
// session has met the ephemeral node of its former life; it waits for that to
// vanish.
func (c *Controller) elect(done func()) {
	if c.active {
		done()
		return
	}
	c.session.get(controllerPath, c.controllerChanged, func(_ node.Stat, data []byte, err error) {
		if errors.Is(err, node.ErrNoNode) {
			c.claim(done)
			return
		}
		c.activeID = c.holder(data)
		done()
	})
}

// holder reads the payload of /controller; whoever wrote something else there
// is a controller nobody knows.
func (c *Controller) holder(data []byte) int32 {
	n, err := decodeController(data)
	if err != nil {
		return noController
	}
	return n.BrokerID
}

// controllerChanged is the watch on /controller.
func (c *Controller) controllerChanged() {
	c.queue.put(event{run: func(done func()) {
		if !c.active {
			c.elect(done)
			return
		}
		c.session.get(controllerPath, c.controllerChanged, func(_ node.Stat, data []byte, err error) {
			if err == nil && c.holder(data) == c.id {
				done()
				return
			}
			c.moved()
		})
	}})
}

// claim tries to become the controller: the ephemeral node and the bump of the
// epoch go in one transaction.
func (c *Controller) claim(done func()) {
	c.session.get(controllerEpochPath, nil, func(stat node.Stat, data []byte, err error) {
		if errors.Is(err, node.ErrNoNode) {
			c.session.multi([]node.StoreOp{{Kind: node.Create, Path: controllerEpochPath, Data: []byte("0")}},
				func([]node.Stat, error) { c.claim(done) })
			return
		}
		old, err := decodeEpoch(data)
		if err != nil {
			done() // no epoch to build on: leave the place to a repair by hand
			return
		}
		create := node.StoreOp{
			Kind: node.Create, Path: controllerPath, Ephemeral: true,
			Data: controllerNode{BrokerID: c.id, Timestamp: c.timestamp()}.encode(),
		}
		bump := node.StoreOp{
			Kind: node.Set, Path: controllerEpochPath, Version: stat.Version,
			Data: strconv.AppendInt(nil, int64(old)+1, 10),
		}
		c.session.multiOnce([]node.StoreOp{create, bump}, func(stats []node.Stat, err error) {
			switch {
			case err == nil:
				c.won(old+1, stats[1].Version, done)
			case errors.Is(err, node.ErrSession):
				c.session.again(func() { c.whoWon(old+1, done) })
			default:
				c.whoWon(old+1, done)
			}
		})
	})
}

// whoWon finds out what became of a claim that failed, or whose answer was
// lost: it may have been the winner without having heard of it.
func (c *Controller) whoWon(epoch int32, done func()) {
	c.session.get(controllerPath, nil, func(_ node.Stat, data []byte, err error) {
		if errors.Is(err, node.ErrNoNode) {
			c.session.again(func() { c.elect(done) })
			return
		}
		c.activeID = c.holder(data)
		c.session.get(controllerEpochPath, nil, func(stat node.Stat, data []byte, err error) {
			now, decodeErr := decodeEpoch(data)
			if err == nil && decodeErr == nil && c.activeID == c.id && now == epoch {
				c.won(epoch, stat.Version, done)
				return
			}
			done()
		})
	})
}

func (c *Controller) won(epoch, epochVersion int32, done func()) {
	c.active, c.activeID = true, c.id
	c.epoch, c.epochVersion = epoch, epochVersion
	c.pushes, c.bootstrapDue = 0, false
	c.cluster = newCluster()
	c.env.Trace(node.Trace{What: TraceElected, Leader: protocol.NoLeader, Epoch: epoch, Version: int64(epochVersion)})
	c.failover(done)
}

// timestamp is the time in ms on the node's clock, as Kafka writes it.
func (c *Controller) timestamp() string {
	return strconv.FormatInt(c.env.Now().Milliseconds(), 10)
}

// checked puts the guard before the operations of a write: they are refused,
// as operation 0, once another controller has been elected.
func (c *Controller) checked(ops ...node.StoreOp) []node.StoreOp {
	version := c.epochVersion
	if !c.cfg.Guards.ControllerEpochCheck {
		version = node.AnyVersion
	}
	check := node.StoreOp{Kind: node.Check, Path: controllerEpochPath, Version: version}
	return append([]node.StoreOp{check}, ops...)
}

// write is a checked multi for changes that are not a partition's state. A
// failed check makes the controller resign, and done is not called.
func (c *Controller) write(ops []node.StoreOp, done func([]node.Stat, error)) {
	c.session.multi(c.checked(ops...), func(stats []node.Stat, err error) {
		if failedOp(err) == 0 {
			c.moved()
			return
		}
		if err == nil {
			stats = stats[1:]
		}
		done(stats, err)
	})
}
