package sim

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
)

// link is what one host sends to another. Faults on a link are counted, since
// several may hold at once.
type link struct {
	from, to *host
	delays   *rand.Rand
	luck     *rand.Rand // decides loss and duplication

	conn *conn // the connection from the one host to the other, while there is one

	cut       int           // drops everything
	held      int           // keeps everything back until released
	unordered int           // lets messages overtake each other
	slow      time.Duration // added to every delay
	loss      int           // messages in a thousand that are lost
	twice     int           // messages in a thousand that arrive twice
	waiting   []*item       // what is kept back
}

// conn is one connection, over which the host that opened it sends requests and
// gets answers, each in order. A call that ran out of time closes its
// connection and the next call opens a new one; what was sent over the old one
// may still arrive, after what was sent later over the new one.
type conn struct {
	forth, back time.Duration // when the last message each way arrives
	broken      bool          // the host that accepted it has crashed
}

// loopback is how long a message to oneself takes.
const loopback = time.Microsecond

func (h *host) link(to *host) *link {
	for len(h.links) <= to.index {
		h.links = append(h.links, make([]*link, len(h.world.hosts)-len(h.links))...)
	}
	l := h.links[to.index]
	if l == nil {
		name := string(h.id) + ">" + string(to.id)
		l = &link{from: h, to: to, delays: h.world.stream("delay "+name, 0)}
		h.links[to.index] = l
	}
	return l
}

func (l *link) connection() *conn {
	if l.conn == nil {
		l.conn = &conn{}
	}
	return l.conn
}

// chance reports whether something that happens to so many messages in a
// thousand happens to this one.
func (l *link) chance(perMille int) bool {
	if perMille <= 0 {
		return false
	}
	if l.luck == nil {
		l.luck = l.from.world.stream("luck "+string(l.from.id)+">"+string(l.to.id), 0)
	}
	return l.luck.IntN(1000) < perMille
}

// transmit puts a message on a link. last is when the message before it on the
// same connection arrives.
func (w *World) transmit(l *link, it *item, last *time.Duration) {
	w.messages++
	it.id = w.messages
	it.from, it.host = l.from, l.to
	if l.from == l.to {
		w.message(Sent, it, "")
		w.agenda.add(w.now+loopback, it)
		return
	}
	if it.store != nil {
		w.transmitStore(l, it, last)
		return
	}
	var fate Fate
	if len(w.intercepts) > 0 {
		fate = w.decide(it)
	}
	w.message(Sent, it, "")
	switch {
	case fate.Lose:
		w.drop(it, "picked out")
		return
	case l.cut > 0:
		w.drop(it, "the link is cut")
		return
	case l.chance(l.loss):
		w.drop(it, "chance")
		return
	case l.held > 0:
		it.last = last
		l.waiting = append(l.waiting, it)
		w.message(Held, it, "")
		return
	}
	if fate.Copies > 0 || l.chance(l.twice) {
		w.again(l, it, max(1, fate.Copies))
	}
	ordered := fate.Delay == 0 && l.unordered == 0 && !w.config.Unordered
	w.carry(l, it, last, fate.Delay, ordered)
}

// retransmission is how much later something arrives that was lost once on a
// connection that sends it again.
const retransmission = 200 * time.Millisecond

// transmitStore sends something over a connection with the store. Unlike the
// messages between nodes it is sent again when it is lost, is never doubled and
// never overtakes; only a cut loses it, and breaks the connection.
func (w *World) transmitStore(l *link, it *item, last *time.Duration) {
	switch {
	case l.cut > 0:
		w.drop(it, "")
	case l.held > 0:
		it.last = last
		l.waiting = append(l.waiting, it)
	case l.chance(l.loss):
		w.carry(l, it, last, retransmission, true)
	default:
		w.carry(l, it, last, 0, true)
	}
}

// carry has a message arrive.
func (w *World) carry(l *link, it *item, last *time.Duration, extra time.Duration, ordered bool) {
	at := w.now + w.config.Delay.draw(l.delays) + l.slow + extra
	if ordered && last != nil {
		at = max(at, *last+1)
		*last = at
	}
	w.agenda.add(at, it)
}

// again sends copies of a message, each on a way of its own.
func (w *World) again(l *link, it *item, copies int) {
	for range copies {
		double := w.agenda.take()
		free := double.next
		*double = *it
		double.next, double.pooled = free, true
		w.message(Doubled, double, "")
		w.carry(l, double, nil, 0, false)
	}
}

// release lets go what a link kept back, in order.
func (l *link) release() {
	waiting := l.waiting
	l.waiting = nil
	for _, it := range waiting {
		l.from.world.carry(l, it, it.last, 0, true)
	}
}

// reaches reports whether a message that comes to the end of its way gets in.
func (w *World) reaches(it *item) bool {
	if it.from != it.host && it.from.link(it.host).cut > 0 {
		w.message(Lost, it, "the link is cut")
		return false
	}
	if it.conn != nil && it.conn.broken {
		w.message(Lost, it, "the connection is closed")
		return false
	}
	if !it.host.up {
		w.message(Lost, it, "the node is down")
		return false
	}
	return true
}

// arrive brings a request, or a message that expects no answer, to its node.
func (w *World) arrive(it *item) {
	h, c := it.host, it.call
	if w.reaches(it) {
		it.boot = h.life
		h.accept(it)
		return
	}
	if c != nil && !h.up && h.link(it.from).cut == 0 {
		// Nobody listens there; the host itself says so.
		w.refuse(c, node.ErrUnreachable)
	}
	w.agenda.recycle(it)
}

// arriveAtStore brings what a session sends to the server at the other end.
func (w *World) arriveAtStore(it *item) {
	h, c := it.host, it.store
	if w.reaches(it) {
		if c.received++; it.number != c.received {
			c.received = it.number
			it.run = func() { c.server.hangUp(c) }
		}
		it.boot = h.life
		h.accept(it)
		return
	}
	if !h.up {
		c.server.post(c, func() { c.session.lost(c) }) // refused
	}
	w.agenda.recycle(it)
}

// arriveFromStore brings what a server sends to the session at the other end.
func (w *World) arriveFromStore(it *item) {
	c := it.store
	if !w.reaches(it) {
		w.agenda.recycle(it)
		return
	}
	if c.receivedBack++; it.number != c.receivedBack {
		c.receivedBack = it.number
		it.run = func() { c.session.lost(c) }
	}
	it.host.accept(it)
}

func (h *host) receive(it *item) {
	h.world.message(Delivered, it, "")
	if it.call == nil {
		h.machine.Receive(it.from.id, it.message, nil)
		return
	}
	c, e := it.call, h.env
	h.machine.Receive(it.from.id, it.message, func(m node.Message) { e.reply(c, m) })
}

func (h *host) send(to node.ID, m node.Message) {
	w := h.world
	target := w.byID[to]
	if target == nil {
		return
	}
	l := h.link(target)
	c := l.connection()
	it := w.agenda.take()
	it.kind, it.message, it.conn = request, m, c
	w.transmit(l, it, &c.forth)
}

// drop is the end of a message that does not arrive.
func (w *World) drop(it *item, why string) {
	switch it.kind {
	case request, answer:
		w.message(Lost, it, why)
	}
	w.agenda.recycle(it)
}

// Envelope is a message on its way, as those see it who listen in.
type Envelope struct {
	// ID counts messages from 1.
	ID       uint64
	At       time.Duration
	From, To node.ID
	Message  node.Message
	// Answer tells the answer to a call from a request.
	Answer bool
}

// Kind names what sort of message it is: by its own method Kind() string where
// it has one, else by the name of its Go type without package.
func (e *Envelope) Kind() string { return kindOf(e.Message) }

func kindOf(m node.Message) string {
	if k, ok := m.(interface{ Kind() string }); ok {
		return k.Kind()
	}
	if m == nil {
		return ""
	}
	t := reflect.TypeOf(m)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return strings.TrimPrefix(t.Name(), "*")
}

// Fate is what becomes of a message. The zero Fate leaves it to the network.
type Fate struct {
	Lose   bool          // it never arrives
	Delay  time.Duration // it arrives so much later and may be overtaken
	Copies int           // it arrives so many more times
}

type interceptor struct {
	decide func(*Envelope, *Fate)
}

// Intercept has f decide the fate of every message between nodes before it
// leaves, until remove is called. f sees what earlier interceptors decided and
// must not keep the envelope.
func (w *World) Intercept(f func(*Envelope, *Fate)) (remove func()) {
	i := &interceptor{f}
	w.intercepts = append(w.intercepts, i)
	return func() {
		for n, other := range w.intercepts {
			if other == i {
				w.intercepts = append(w.intercepts[:n:n], w.intercepts[n+1:]...)
				return
			}
		}
	}
}

func (w *World) decide(it *item) Fate {
	e := Envelope{ID: it.id, At: w.now, From: it.from.id, To: it.host.id, Message: it.message, Answer: it.kind == answer}
	var fate Fate
	for _, i := range w.intercepts {
		i.decide(&e, &fate)
	}
	return fate
}
