package systems

import (
	"context"

	"github.com/stalemate-io/stalemate/histories"
)

// Op is one operation that a workload asks a client to do.
type Op struct {
	// F is what to do, in the words of package histories: read, write, cas, …
	F string
	// Key names what to do it to.
	Key string
	// Value is what to write; Nil for a read.
	Value histories.Value
	// Path is the way a read takes; empty for anything that is not a read.
	Path string
	// Conditional asks for a write that only succeeds if nobody else wrote
	// since the client last looked. Prepare finds out what to compare with.
	Conditional bool
	// Expected and ExpectedVersion are what a conditional operation compares
	// with, filled in by Prepare. Expected stays Nil where only the version
	// was looked at.
	Expected        histories.Value
	ExpectedVersion int64
}

// Outcome is what came of an Op.
type Outcome struct {
	// Type is OK, Fail (it certainly did not happen) or Info (unknown). A
	// read that got no answer is a Fail: it changed nothing.
	Type histories.Type
	// Value is what was read, Nil for a write.
	Value histories.Value
	// Version is the order token of what was read or written, where the system
	// gave one.
	Version histories.Version
	// Err says why the outcome is not OK.
	Err error
}

// Client is one client's connection to one node of a system. It does one thing
// at a time, and retries nothing: what it was asked to do is tried once, and
// what came of that is the outcome.
type Client interface {
	// Prepare completes a conditional op by looking at what is there now. It
	// changes nothing; where it fails, the op is not sent.
	Prepare(ctx context.Context, op *Op) error
	// Invoke does op and returns once its outcome is known or ctx is over.
	Invoke(ctx context.Context, op Op) Outcome
	// Identity tells clients of the system apart: when it changes, as a
	// ZooKeeper session's id does after the session expired, the system takes
	// this for a new client, and so must the history.
	Identity() string
	// Close ends the connection. It may abandon what does not end by itself,
	// but does not return before it is certain to end.
	Close() error
}

// Path is one way to read from a system, with what it promises.
type Path struct {
	// Name is the path's name on the command line and in histories.
	Name string
	// Promise is the consistency level that the path is held to, in the words
	// of checker.Level.
	Promise string
	// Text says in a few words what the path does.
	Text string
}
