// Package node is the ground on which the nodes of the toy systems stand. A
// node is a deterministic state machine: something happens to it (a request, an
// answer, a timer, a store's reply) and it acts on the world through an Env and
// in no other way. It starts no goroutine, reads no clock and draws no random
// number of its own, so the same code runs in a simulator, where one seed
// decides everything, and as a process among processes.
//
// A node's callbacks never run at the same time, and a call to an Env method
// never calls back before it returns. A node that crashes loses everything but
// what its Disk had made durable; callbacks still waiting are dropped with it.
package node

import (
	"errors"
	"math/rand/v2"
	"time"
)

// ID names a node or a client within one cluster.
type ID string

// Message is a request or a response. Messages are values: neither side changes
// one after it was sent.
type Message any

// Machine is one node's logic, made anew by a New at every boot.
type Machine interface {
	// Start is called once, before anything else.
	Start()
	// Receive takes a request. The machine answers by calling reply at most
	// once, now or later; reply is nil where the sender does not wait.
	Receive(from ID, request Message, reply func(Message))
}

// New boots a machine on an Env, whose Disk holds what earlier boots made
// durable.
type New func(Env) Machine

// Errors of Env.Call. A timed-out request may still arrive, and be acted upon,
// at any later time: the outcome is unknown.
var (
	ErrTimeout     = errors.New("no answer in time")
	ErrUnreachable = errors.New("refused: nobody listens there")
)

// Env is everything a node can do to the world.
type Env interface {
	// Self is the node's own name.
	Self() ID
	// Now is the node's own clock, since an arbitrary start. It may drift and
	// jump; it never goes back.
	Now() time.Duration
	// Rand is the node's source of randomness.
	Rand() *rand.Rand
	// Send sends a message that expects no answer.
	Send(to ID, m Message)
	// Call sends a request; done is called once, with the answer or an error.
	Call(to ID, request Message, timeout time.Duration, done func(Message, error))
	// After calls f once d has passed on the node's clock, unless stopped.
	After(d time.Duration, f func()) Timer
	// Disk is the node's disk.
	Disk() Disk
	// Store is the coordination service; nil in systems that have none.
	Store() Store
	// Trace records something that happened inside the node, so that an
	// anomaly can be traced to its cause. It costs nothing when nobody listens.
	Trace(Trace)
}

// Timer is a pending After.
type Timer interface {
	// Stop prevents the callback; it does nothing if it already ran.
	Stop()
}

// Disk is append-only logs and small files, by name. Writes are visible to
// later reads at once and durable once a Sync that began after them is done: a
// crash keeps a prefix of what came after the last completed Sync, possibly
// empty, and never a part of a record.
type Disk interface {
	// Append adds records to the end of a log.
	Append(log string, records ...[]byte)
	// Truncate keeps the first n records of a log and drops the rest.
	Truncate(log string, n int)
	// Records gives a log's records, oldest first. The caller changes nothing.
	Records(log string) [][]byte
	// Write replaces a file as a whole: after a crash the old or the new
	// content is there, never a mixture.
	Write(file string, data []byte)
	// Read gives a file's content, nil where there is none.
	Read(file string) []byte
	// Sync makes everything written so far durable and then calls done.
	Sync(done func())
}
