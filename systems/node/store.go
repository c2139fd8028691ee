package node

import "errors"

// Store is a node's session with a coordination service in the manner of
// ZooKeeper: a tree of small nodes with versions, ephemeral nodes that vanish
// with the session, one-shot watches, and conditional multi-writes. Requests of
// one session are answered in order. Every callback may come with ErrSession,
// after which the outcome of a write is unknown, or ErrExpired, after which the
// session's ephemerals are gone and the node gets a new session.
type Store interface {
	// Get reads a node; with a watch, called once when the node is next
	// created, changed or deleted. A node that is missing (ErrNoNode) is
	// watched too, for its creation.
	Get(path string, watch func(), done func(Stat, []byte, error))
	// Children lists the children of a node in lexical order; watch is called
	// once when a child is next created or deleted, or the node itself is
	// deleted. A node that is missing is not watched.
	Children(path string, watch func(), done func([]string, error))
	// Multi applies all operations or none. The stats are those of the nodes
	// after the operations; an *OpError says which check or operation was
	// refused. Parents must exist, and a node with children cannot go.
	Multi(ops []StoreOp, done func([]Stat, error))
	// OnSession is called when the session is lost (expired) and when a new
	// one has been established, the first of a boot included. Requests made
	// while there is no connection wait for one; at an expiry OnSession is
	// called before they fail, and the watches are dropped.
	OnSession(func(established bool))
}

// Stat is what the store says of a node, next to its data.
type Stat struct {
	Czxid   int64 // transaction that created it
	Mzxid   int64 // transaction that last changed it
	Version int32 // number of changes since its creation
}

// StoreOp is one operation of a Multi. Exactly one of the kinds.
type StoreOp struct {
	Kind StoreOpKind
	Path string
	Data []byte
	// Version is the version the node must have for Set, Check and Delete;
	// AnyVersion asks for none.
	Version int32
	// Ephemeral nodes go with the session; Sequential ones get a number.
	Ephemeral, Sequential bool
}

// StoreOpKind is what a StoreOp does.
type StoreOpKind uint8

// The kinds of store operations.
const (
	Create StoreOpKind = iota + 1
	Set
	Delete
	Check
)

// AnyVersion makes a Set, Delete or Check unconditional.
const AnyVersion int32 = -1

// Errors of a Store.
var (
	ErrNoNode     = errors.New("no such node in the store")
	ErrNodeExists = errors.New("node exists in the store")
	ErrBadVersion = errors.New("node has another version")
	ErrSession    = errors.New("connection to the store lost: the outcome is unknown")
	ErrExpired    = errors.New("session with the store expired")
)
