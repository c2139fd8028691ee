package histories

import "math"

// Outcome is what is known of an operation once the history is over.
type Outcome uint8

// The outcomes. The zero value is Unknown, which constrains least.
const (
	Unknown  Outcome = iota // info, or no completion: open to the end
	Happened                // ok
	Failed                  // fail: certainly did not happen
)

// Open is the Completed position of an operation whose outcome is unknown: it
// returns after everything else.
const Open int32 = math.MaxInt32

// OpenTime is the Return time of an operation whose outcome is unknown.
const OpenTime int64 = math.MaxInt64

// Operation is an invoke joined with its completion. It is small and holds no
// pointers, so that histories of many millions of operations fit in memory and
// cost the garbage collector nothing; names and values are indexes into the
// History that holds the operation.
type Operation struct {
	// Call and Return are the times of the two events in nanoseconds since
	// the start of the run. They measure lag and never order.
	Call, Return int64
	// Argument is what was asked: the value written, added or enqueued, the
	// expected value of a compare-and-set. Nil for a read.
	Argument Datum
	// Result is what came of it: the value read or dequeued, the new value of
	// a compare-and-set.
	Result Datum
	// Version is the system's order token; UnknownVersion where there is none.
	Version int64
	// Invoked and Completed are the positions of the two events in the
	// history. Operation a precedes b iff a.Completed < b.Invoked. Positions
	// are all different, so there are no ties.
	Invoked, Completed int32
	// Process is the client's number after retired ones have been renumbered.
	Process int32
	// Key, Node and Path are indexes into the History's tables of names.
	Key  int32
	Node int16
	Path int16
	// F says what was done; an index into the History's Functions.
	F       Func
	Outcome Outcome
}

// Precedes reports whether a was over before b began.
func (a *Operation) Precedes(b *Operation) bool { return a.Completed < b.Invoked }

// Func is what an operation does. Those below have fixed numbers; any other
// name a history uses is added behind them in History.Functions.
type Func uint8

// The functions the models know.
const (
	Read Func = iota
	Write
	CAS
	Acquire
	Release
	Add
	Enqueue
	Dequeue
	Txn
	knownFuncs
)
