package sim

import (
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
)

// call is a request that waits for its answer.
type call struct {
	caller     *host
	life       uint32
	target     *host // nil where there is no such node
	conn       *conn
	done       func(node.Message, error)
	over       bool
	patience   item
	prev, next *call // in the caller's list
}

// callList holds a host's open calls, oldest first.
type callList struct{ first, last *call }

func (l *callList) add(c *call) {
	c.prev = l.last
	if l.last != nil {
		l.last.next = c
	} else {
		l.first = c
	}
	l.last = c
}

func (l *callList) remove(c *call) {
	if c.prev != nil {
		c.prev.next = c.next
	} else {
		l.first = c.next
	}
	if c.next != nil {
		c.next.prev = c.prev
	} else {
		l.last = c.prev
	}
	c.prev, c.next = nil, nil
}

func (h *host) call(to node.ID, m node.Message, patience time.Duration, done func(node.Message, error)) {
	w := h.world
	c := &call{caller: h, life: h.life, target: w.byID[to], done: done}
	h.calls.add(c)
	c.patience = item{kind: timeout, call: c}
	h.schedule(&c.patience, patience)
	if c.target == nil {
		w.respond(c, nil, node.ErrUnreachable, w.now+loopback)
		return
	}
	l := h.link(c.target)
	c.conn = l.connection()
	it := w.agenda.take()
	it.kind, it.message, it.call, it.conn = request, m, c, c.conn
	w.transmit(l, it, &c.conn.forth)
}

// answer sends the answer to a call.
func (h *host) answer(c *call, m node.Message) {
	w := h.world
	if c.over {
		return // the caller has closed the connection
	}
	it := w.agenda.take()
	it.kind, it.message, it.call, it.boot = answer, m, c, c.life
	w.transmit(h.link(c.caller), it, &c.conn.back)
}

// refuse has the caller learn from the target's host, not from its node, that no
// answer will come.
func (w *World) refuse(c *call, err error) {
	l := c.target.link(c.caller)
	if c.over || l.cut > 0 {
		return
	}
	at := w.now + loopback
	if l.from != l.to {
		at = w.now + w.config.Delay.draw(l.delays) + l.slow
	}
	w.respond(c, nil, err, at)
}

func (w *World) respond(c *call, m node.Message, err error, at time.Duration) {
	it := w.agenda.take()
	it.kind, it.message, it.err, it.call, it.boot = answer, m, err, c, c.life
	it.host, it.from = c.caller, c.target
	w.agenda.add(at, it)
}

// arriveAnswer brings an answer to the caller.
func (w *World) arriveAnswer(it *item) {
	c := it.call
	if it.from != nil && it.from != it.host && it.from.link(it.host).cut > 0 {
		w.drop(it, "the link is cut")
		return
	}
	if c.over {
		w.drop(it, "the caller waits no longer")
		return
	}
	it.host.accept(it)
}

// finish ends a call with its answer or an error.
func (c *call) finish(m node.Message, err error) {
	if c.over {
		return // answered twice
	}
	w := c.caller.world
	w.agenda.cancel(&c.patience)
	c.patience.state = cancelled
	c.close()
	c.done(m, err)
}

// expire ends a call that ran out of time, and with it its connection.
func (c *call) expire() {
	if c.over {
		return
	}
	if c.target != nil {
		if l := c.caller.link(c.target); l.conn == c.conn {
			l.conn = nil
		}
	}
	c.close()
	c.done(nil, node.ErrTimeout)
}

func (c *call) close() {
	c.over = true
	c.caller.calls.remove(c)
}

// closeConnections is what a host's kernel does when its process dies: those
// who wait for an answer are told that none will come, where that reaches them,
// and what is still under way to the dead process is refused. What the process
// had sent is sent.
func (h *host) closeConnections() {
	w := h.world
	for h.calls.first != nil {
		c := h.calls.first
		w.agenda.cancel(&c.patience)
		c.close()
	}
	for _, l := range h.links {
		if l != nil {
			l.conn = nil
		}
	}
	for _, other := range w.hosts {
		if other == h || h.index >= len(other.links) || other.links[h.index] == nil {
			continue
		}
		l := other.links[h.index]
		if l.conn != nil {
			l.conn.broken = true
			l.conn = nil
		}
		for c := other.calls.first; c != nil; c = c.next {
			if c.target == h {
				c.conn.broken = true
				w.refuse(c, node.ErrReset)
			}
		}
	}
}
