package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
)

// StoreConfig is what the modelled coordination service is like. The zero value
// of every field stands for its default.
type StoreConfig struct {
	// Servers is how many there are, named s1, s2, …; default 3.
	Servers int
	// SessionTimeout is after how much silence a session expires; default
	// 18 s, as in Kafka since 2.5.
	SessionTimeout time.Duration
	// Commit is how long it takes from a write's arrival at a server to its
	// place in the order; default 2 ms with a tail.
	Commit Delay
	// Lag is how long after that a server takes to apply it, each server by
	// itself; default 1 ms with a longer tail.
	Lag Delay
}

// Store is a model of ZooKeeper: one committed order of writes, and servers that
// apply it with a lag. A session is attached to one server, which answers reads
// from what it has applied, so reads may be stale; writes go through the order.
// Requests of a session are answered in their order, a session never goes back to
// an older state, and a watch fires before its session can see the newer data.
//
// The ensemble as such never fails: a server may be cut off from the nodes, lag,
// pause or crash, and the others go on committing. (What happens to a real
// ensemble is what the zookeeper system is for.)
type Store struct {
	world    *World
	config   StoreConfig
	tree     tree
	log      []Txn
	zxid     int64
	commits  []*commit // every commit, for servers that must catch up
	servers  []*storeServer
	sessions map[int64]*ensembleSession
	lastID   int64
	random   *rand.Rand
}

// Txn is one committed write.
type Txn struct {
	Zxid    int64
	At      time.Duration // when it was committed
	By      node.ID       // whose session wrote it; empty for what was there from the start
	Session int64
	// Expiry tells the removal of a dead session's ephemerals.
	Expiry  bool
	Changes []Change
}

// Change is one node changed by a Txn, as it was afterwards.
type Change struct {
	Kind node.StoreOpKind // Create, Set or Delete
	Path string
	Data []byte
	Stat node.Stat

	owner   int64 // the session whose ephemeral it is
	deleted int64 // of a deletion, its zxid
}

// ensembleSession is what the ensemble knows of a session.
type ensembleSession struct {
	id         int64
	by         node.ID
	conn       *storeConn // the connection it is attached by
	heard      time.Duration
	ephemerals []string // sorted
}

func newStore(w *World, config StoreConfig) *Store {
	if config.Servers <= 0 {
		config.Servers = 3
	}
	if config.SessionTimeout <= 0 {
		config.SessionTimeout = 18 * time.Second
	}
	if config.Commit == (Delay{}) {
		config.Commit = LogNormal(2*time.Millisecond, 0.5)
	}
	if config.Lag == (Delay{}) {
		config.Lag = LogNormal(time.Millisecond, 0.8)
	}
	s := &Store{
		world:    w,
		config:   config,
		tree:     tree{},
		sessions: map[int64]*ensembleSession{},
		random:   w.stream("store", 0),
	}
	s.tree.node("/").revisions = []revision{{exists: true}}
	for i := range config.Servers {
		// Names are free: the store's servers are the first hosts there are.
		h, _ := w.addHost(node.ID(fmt.Sprintf("s%d", i+1)))
		server := &storeServer{store: s, host: h, random: w.stream("store server", uint64(i)), watches: map[watchKey][]*watch{}}
		h.server, h.up = server, true
		s.servers = append(s.servers, server)
	}
	return s
}

// Store gives the coordination service; nil where the world has none.
func (w *World) Store() *Store { return w.store }

// Servers lists the names of the store's servers.
func (s *Store) Servers() []node.ID {
	ids := make([]node.ID, len(s.servers))
	for i, server := range s.servers {
		ids[i] = server.host.id
	}
	return ids
}

// Log is every committed write, in order. The caller changes nothing.
func (s *Store) Log() []Txn { return s.log }

// Get reads the newest committed state of a node, which is the truth.
func (s *Store) Get(path string) (node.Stat, []byte, bool) {
	r := s.tree.newest(path)
	return r.stat, r.data, r.exists
}

// Init creates a node before the nodes boot, and what of its parents is missing.
// Every server has it at once.
func (s *Store) Init(path string, data []byte) error {
	if parent := parentOf(path); !s.tree.newest(parent).exists {
		if err := s.Init(parent, nil); err != nil {
			return err
		}
	}
	c := s.commit(nil, []node.StoreOp{{Kind: node.Create, Path: path, Data: data}})
	if c.err != nil {
		return fmt.Errorf("initial state of the store: %w", c.err)
	}
	for _, server := range s.servers {
		server.apply(c)
	}
	return nil
}

// Write has somebody who is no node of this world write to the store, at once.
func (s *Store) Write(ops ...node.StoreOp) ([]node.Stat, error) {
	c := s.commit(nil, ops)
	if c.err == nil {
		s.spread(c)
	}
	return c.stats, c.err
}

// commit is a write that got its place in the order, or was refused there.
type commit struct {
	zxid    int64
	changes []Change
	stats   []node.Stat
	err     error
	op      *storeOp // the request it answers, if any
	expired int64    // the session whose end it is
}

// commit gives a write of a session its place in the order.
func (s *Store) commit(session *ensembleSession, ops []node.StoreOp) *commit {
	c := &commit{}
	txn := Txn{Zxid: s.zxid + 1, At: s.world.now}
	if session != nil {
		txn.By, txn.Session = session.by, session.id
	}
	c.changes, c.stats, c.err = s.tree.multi(ops, txn.Zxid, txn.Session)
	if c.err == nil {
		s.zxid++
	}
	c.zxid = s.zxid
	s.commits = append(s.commits, c)
	if len(c.changes) == 0 {
		return c
	}
	txn.Changes = c.changes
	s.log = append(s.log, txn)
	oldest := s.oldestApplied()
	for _, change := range c.changes {
		s.tree.put(change, oldest)
		owner := s.sessions[change.owner]
		if owner == nil {
			continue
		}
		i, found := slices.BinarySearch(owner.ephemerals, change.Path)
		switch {
		case change.Kind == node.Create && !found:
			owner.ephemerals = slices.Insert(owner.ephemerals, i, change.Path)
		case change.Kind == node.Delete && found:
			owner.ephemerals = slices.Delete(owner.ephemerals, i, i+1)
		}
	}
	return c
}

// oldestApplied is how far the server has come that is furthest behind.
func (s *Store) oldestApplied() int64 {
	oldest := s.zxid
	for _, server := range s.servers {
		oldest = min(oldest, server.applied)
	}
	return oldest
}

// spread has the servers learn of a commit, each in its own time.
func (s *Store) spread(c *commit) {
	for _, server := range s.servers {
		server.learn(c)
	}
}

// write puts a session's write into the order, unless the session is over or
// has moved to another connection: then nobody waits for it any more.
func (s *Store) write(op *storeOp) {
	session := s.sessions[op.conn.id]
	if session == nil || session.conn != op.conn {
		return
	}
	c := s.commit(session, op.ops)
	c.op = op
	if c.err != nil {
		// Nothing changed; only the asked server needs to know.
		op.conn.server.learn(c)
		return
	}
	s.spread(c)
}

// open makes a new session.
func (s *Store) open(by node.ID) *ensembleSession {
	s.lastID++
	session := &ensembleSession{id: s.lastID, by: by, heard: s.world.now}
	s.sessions[session.id] = session
	s.watchOver(session)
	return session
}

// watchOver expires a session once nothing was heard of it for too long.
func (s *Store) watchOver(session *ensembleSession) {
	s.world.at(session.heard+s.config.SessionTimeout, func() {
		switch {
		case s.sessions[session.id] != session:
		case s.world.now-session.heard >= s.config.SessionTimeout:
			s.expire(session)
		default:
			s.watchOver(session)
		}
	})
}

// expire ends a session and removes its ephemerals in one write.
func (s *Store) expire(session *ensembleSession) {
	delete(s.sessions, session.id)
	ops := make([]node.StoreOp, len(session.ephemerals))
	for i, path := range session.ephemerals {
		ops[i] = node.StoreOp{Kind: node.Delete, Path: path, Version: node.AnyVersion}
	}
	c := s.commit(session, ops)
	c.expired = session.id
	if len(c.changes) > 0 {
		s.log[len(s.log)-1].Expiry = true
	}
	s.spread(c)
}

// ExpireSession ends a node's session at once, as if nothing had been heard of
// it for too long. The node learns of it from the store, later.
func (s *Store) ExpireSession(of node.ID) {
	for id := int64(1); id <= s.lastID; id++ {
		if session := s.sessions[id]; session != nil && session.by == of {
			s.expire(session)
		}
	}
}
