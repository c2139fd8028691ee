package sim

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
)

// session is a node's end of its session with the store. It runs inside the
// node: it stands still while the node is paused and counts on the node's clock,
// so a session may long be over at the store before the node hears of it.
type session struct {
	env     *env
	store   *Store
	life    uint32
	random  *rand.Rand
	id      int64      // 0 until the store gave one
	conn    *storeConn // connected, or about to be
	up      bool       // connected
	server  int        // tried last
	heard   time.Duration
	seen    int64      // the newest write the session knows of
	flight  []*storeOp // sent and not answered, in order
	waiting []*storeOp // not sent
	watches []*watch   // left and not fired, in order
	changed func(bool)
}

var _ node.Store = (*session)(nil)

func newSession(e *env, store *Store) *session {
	h := e.host
	random := h.world.stream("session "+string(h.id), uint64(h.life))
	return &session{env: e, store: store, life: h.life, random: random, server: random.IntN(len(store.servers))}
}

func (s *session) start() { s.connect() }

// patience is a part of the session time-out.
func (s *session) patience(parts, of int) time.Duration {
	return s.store.config.SessionTimeout * time.Duration(parts) / time.Duration(of)
}

// after runs f after d on the node's clock, in the node.
func (s *session) after(d time.Duration, f func()) {
	s.env.host.schedule(&item{kind: timer, run: f}, d)
}

// post sends something over the connection to its server.
func (s *session) post(c *storeConn, f func()) {
	h := s.env.host
	w := h.world
	it := w.agenda.take()
	c.sent++
	it.kind, it.store, it.number, it.run = storeLetter, c, c.sent, f
	w.transmit(h.link(c.server.host), it, &c.forth)
}

// connect tries the next server.
func (s *session) connect() {
	s.up = false
	s.server = (s.server + 1) % len(s.store.servers)
	c := &storeConn{session: s, server: s.store.servers[s.server]}
	s.conn = c
	id, seen, watches := s.id, s.seen, slices.Clone(s.watches)
	s.post(c, func() { c.server.greet(c, id, seen, watches) })
	s.after(s.patience(1, 3), func() {
		if s.conn == c && !s.up {
			s.connect()
		}
	})
}

// established is the answer to the first request of a connection.
func (s *session) established(c *storeConn) {
	if s.conn != c {
		return
	}
	fresh := s.id == 0
	s.id, s.up = c.id, true
	s.heard = s.env.Now()
	s.after(s.patience(1, 3), func() { s.ping(c) })
	waiting := s.waiting
	s.waiting = nil
	for _, op := range waiting {
		s.submit(op)
	}
	if fresh && s.changed != nil {
		s.changed(true)
	}
}

// ping shows the store that the session lives, or finds the server silent.
func (s *session) ping(c *storeConn) {
	if s.conn != c {
		return
	}
	if s.env.Now()-s.heard >= s.patience(2, 3) {
		s.lost(c)
		return
	}
	s.post(c, func() {
		if !c.closed {
			c.server.hear(c)
			c.server.post(c, func() { s.pong(c) })
		}
	})
	s.after(s.patience(1, 3), func() { s.ping(c) })
}

func (s *session) pong(c *storeConn) {
	if s.conn == c {
		s.heard = s.env.Now()
	}
}

// lost is the end of a connection. What was under way has an unknown outcome.
func (s *session) lost(c *storeConn) {
	if s.conn != c {
		return
	}
	s.up, s.conn = false, nil
	// Leave a refused or dead server alone for a moment.
	pause := time.Millisecond + time.Duration(s.random.Int64N(int64(s.patience(1, 60))+1))
	s.after(pause, func() {
		if s.conn == nil {
			s.connect()
		}
	})
	failed := s.flight
	s.flight = nil
	s.fail(failed, node.ErrSession)
}

// expired is the news that the session is over. The node hears of it before its
// requests fail, so that it knows what to make of that.
func (s *session) expired(c *storeConn) {
	if s.conn != c {
		return
	}
	s.id, s.seen, s.watches = 0, 0, nil
	failed := append(s.flight, s.waiting...)
	s.flight, s.waiting = nil, nil
	s.connect()
	if s.changed != nil {
		s.changed(false)
	}
	s.fail(failed, node.ErrExpired)
}

func (s *session) fail(ops []*storeOp, err error) {
	for _, op := range ops {
		if s.env.dead {
			return
		}
		op.err = err
		op.done(op)
	}
}

// answered brings the answer to the oldest request under way.
func (s *session) answered(op *storeOp) {
	if s.conn != op.conn || len(s.flight) == 0 || s.flight[0] != op {
		return
	}
	s.heard = s.env.Now()
	s.seen = max(s.seen, op.zxid)
	s.flight = s.flight[1:]
	if op.left != nil {
		s.watches = append(s.watches, op.left)
	}
	op.done(op)
}

// fired brings the news of a change that was watched.
func (s *session) fired(c *storeConn, w *watch, zxid int64) {
	i := slices.Index(s.watches, w)
	if s.conn != c || i < 0 {
		return
	}
	s.heard = s.env.Now()
	s.seen = max(s.seen, zxid)
	s.watches = slices.Delete(s.watches, i, i+1)
	w.fire()
}

// request sends a request, now or once there is a connection.
func (s *session) request(op *storeOp) {
	if !s.env.effect() {
		return
	}
	if s.env.host.pauses > 0 && s.env.interrupted(func() { s.submit(op) }) {
		return
	}
	s.submit(op)
}

func (s *session) submit(op *storeOp) {
	if !s.up {
		s.waiting = append(s.waiting, op)
		return
	}
	op.conn = s.conn
	s.flight = append(s.flight, op)
	s.post(op.conn, func() { op.conn.server.receive(op) })
}

func (s *session) Get(path string, watch func(), done func(node.Stat, []byte, error)) {
	s.request(&storeOp{path: path, watch: watch, done: func(op *storeOp) { done(op.stat, op.data, op.err) }})
}

func (s *session) Children(path string, watch func(), done func([]string, error)) {
	s.request(&storeOp{path: path, children: true, watch: watch, done: func(op *storeOp) { done(op.names, op.err) }})
}

func (s *session) Multi(ops []node.StoreOp, done func([]node.Stat, error)) {
	s.request(&storeOp{write: true, ops: slices.Clone(ops), done: func(op *storeOp) { done(op.stats, op.err) }})
}

func (s *session) OnSession(f func(established bool)) { s.changed = f }
