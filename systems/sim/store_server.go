package sim

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
)

// storeServer is one server of the store: what it has applied, who is connected
// to it, and what they wait to be told.
type storeServer struct {
	store   *Store
	host    *host
	random  *rand.Rand
	applied int64         // the newest write it has applied
	next    time.Duration // when it applies the last write it heard of
	forward time.Duration // when the last write it passed on is committed
	slow    time.Duration // added to its lag
	conns   []*storeConn  // in order of arrival
	watches map[watchKey][]*watch
}

type watchKey struct {
	path     string
	children bool
}

// watch is a one-shot wish to be told of a change.
type watch struct {
	key     watchKey
	existed bool // the node did when the watch was left
	conn    *storeConn
	fire    func()
}

// storeConn is one connection of a session to a server.
type storeConn struct {
	conn
	session *session
	server  *storeServer
	id      int64      // the session's number, once the server knows it
	pending []*storeOp // what the server has received and not answered, in order
	closed  bool

	// How many letters were sent and received each way. A gap in what arrives
	// breaks the connection, for it carries everything in order or nothing.
	sent, received, sentBack, receivedBack int
}

// storeOp is one request of a session.
type storeOp struct {
	conn     *storeConn
	path     string
	children bool
	watch    func()
	left     *watch         // what the server made of it
	ops      []node.StoreOp // of a write
	write    bool
	ready    bool // of a write: applied by the server that was asked

	zxid  int64 // up to where the server had applied when it answered
	stat  node.Stat
	data  []byte
	names []string
	stats []node.Stat
	err   error

	done func(*storeOp)
}

// post sends something from a server to the session at the other end.
func (s *storeServer) post(c *storeConn, f func()) {
	w := s.store.world
	h := c.session.env.host
	it := w.agenda.take()
	c.sentBack++
	it.kind, it.boot, it.store, it.number, it.run = storeReply, c.session.life, c, c.sentBack, f
	w.transmit(s.host.link(h), it, &c.back)
}

// greet receives the first request of a connection, which names the session or
// asks for a new one.
func (s *storeServer) greet(c *storeConn, id, seen int64, watches []*watch) {
	st := s.store
	if c.closed {
		return
	}
	session := st.sessions[id]
	switch {
	case id != 0 && session == nil:
		c.closed = true
		s.post(c, func() { c.session.expired(c) })
		return
	case s.applied < seen:
		// The session has seen newer data elsewhere and must not go back.
		c.closed = true
		s.post(c, func() { c.session.lost(c) })
		return
	case id == 0:
		session = st.open(c.session.env.host.id)
		seen = s.applied
	}
	if old := session.conn; old != nil && !old.closed {
		old.server.hangUp(old)
	}
	session.conn, session.heard = c, st.world.now
	c.id = session.id
	s.conns = append(slices.DeleteFunc(s.conns, func(c *storeConn) bool { return c.closed }), c)
	s.post(c, func() { c.session.established(c) })
	// What happened while the session was away is told at once.
	for _, watch := range watches {
		watch.conn = c
		now := st.tree.at(watch.key.path, s.applied)
		changed := now.zxid > seen
		if watch.key.children {
			changed = st.tree.childrenChanged(watch.key.path, s.applied) > seen
		}
		if changed || now.exists != watch.existed {
			s.tell(watch)
		} else {
			s.watches[watch.key] = append(s.watches[watch.key], watch)
		}
	}
}

// receive takes a request of a session.
func (s *storeServer) receive(op *storeOp) {
	c := op.conn
	if c.closed || c.id == 0 {
		return
	}
	s.hear(c)
	c.pending = append(c.pending, op)
	if op.write {
		// Writes are passed on at once, whatever waits before them.
		w := s.store.world
		s.forward = max(s.forward+1, w.now+s.store.config.Commit.draw(s.random))
		w.at(s.forward, func() { s.store.write(op) })
	}
	s.serve(c)
}

// hear notes that a session is alive.
func (s *storeServer) hear(c *storeConn) {
	if session := s.store.sessions[c.id]; session != nil && session.conn == c {
		session.heard = s.store.world.now
	}
}

// serve answers what can be answered, in order.
func (s *storeServer) serve(c *storeConn) {
	for len(c.pending) > 0 && !c.closed {
		op := c.pending[0]
		if op.write && !op.ready {
			return
		}
		c.pending = c.pending[1:]
		if !op.write {
			s.read(op)
		}
		op.zxid = s.applied
		s.post(c, func() { c.session.answered(op) })
	}
}

// read answers a read from what this server has applied.
func (s *storeServer) read(op *storeOp) {
	r := s.store.tree.at(op.path, s.applied)
	if !r.exists {
		op.err = node.ErrNoNode
	}
	if op.children {
		op.names = s.store.tree.childrenAt(op.path, s.applied)
	} else {
		op.stat, op.data = r.stat, r.data
	}
	if op.watch != nil && (r.exists || !op.children) {
		w := &watch{key: watchKey{op.path, op.children}, existed: r.exists, conn: op.conn, fire: op.watch}
		op.left = w
		s.watches[w.key] = append(s.watches[w.key], w)
	}
}

// learn has the server apply a commit after its lag.
func (s *storeServer) learn(c *commit) {
	w := s.store.world
	s.next = max(s.next+1, w.now+s.store.config.Lag.draw(s.random)+s.slow)
	it := w.agenda.take()
	it.kind, it.host, it.boot, it.run = callback, s.host, s.host.life, func() { s.apply(c) }
	w.agenda.add(s.next, it)
}

// apply applies a commit: first the watches fire, then the session that asked
// for it gets its answer.
func (s *storeServer) apply(c *commit) {
	s.applied = max(s.applied, c.zxid)
	for _, change := range c.changes {
		s.trigger(watchKey{path: change.Path})
		if change.Kind != node.Set {
			s.trigger(watchKey{path: parentOf(change.Path), children: true})
		}
		if change.Kind == node.Delete {
			s.trigger(watchKey{path: change.Path, children: true})
		}
	}
	if op := c.op; op != nil && op.conn.server == s {
		op.stats, op.err, op.ready = c.stats, c.err, true
		s.serve(op.conn)
	}
	if c.expired == 0 {
		return
	}
	for _, conn := range s.conns {
		if conn.id == c.expired && !conn.closed {
			s.hangUp(conn)
		}
	}
}

// catchUp has a server that comes back apply what it missed.
func (s *storeServer) catchUp() {
	s.next = 0
	for _, c := range s.store.commits {
		if c.zxid > s.applied {
			s.apply(c)
		}
	}
}

// trigger fires the watches that wait for something.
func (s *storeServer) trigger(key watchKey) {
	waiting := s.watches[key]
	if len(waiting) == 0 {
		return
	}
	delete(s.watches, key)
	for _, w := range waiting {
		s.tell(w)
	}
}

func (s *storeServer) tell(w *watch) {
	if c := w.conn; !c.closed {
		zxid := s.applied
		s.post(c, func() { c.session.fired(c, w, zxid) })
	}
}

// hangUp closes a connection, which the session learns where that reaches it.
func (s *storeServer) hangUp(c *storeConn) {
	if !c.closed {
		s.post(c, func() { c.session.lost(c) })
		c.closed = true
	}
}

// crash closes all connections of the server.
func (s *storeServer) crash() {
	for _, c := range s.conns {
		if !c.closed {
			s.hangUp(c)
		}
	}
	s.conns = nil
	clear(s.watches)
}
