package histories

import "strconv"

// Type says which moment of an operation an Event records.
type Type uint8

// The types of events, as Jepsen names them.
const (
	Invoke Type = iota + 1 // the client is about to send the operation
	OK                     // it happened
	Fail                   // it certainly did not happen
	Info                   // unknown: it may have happened, or may yet happen
)

// String gives the name used in files: invoke, ok, fail or info.
func (t Type) String() string {
	switch t {
	case Invoke:
		return "invoke"
	case OK:
		return "ok"
	case Fail:
		return "fail"
	case Info:
		return "info"
	}
	return "type(" + strconv.Itoa(int(t)) + ")"
}

// Process is who an event belongs to: a client, which is a number and does one
// thing at a time, or something else that has a name, usually the nemesis.
// The zero Process is client 0.
type Process struct {
	Client int    // the client's number; meaningless where Name is set
	Name   string // set for whoever is not a client
}

// Nemesis is the process under which faults are recorded.
var Nemesis = Process{Name: "nemesis"}

// IsClient reports whether the process is a client, so that its events make
// operations.
func (p Process) IsClient() bool { return p.Name == "" }

// String gives the number or the name.
func (p Process) String() string {
	if p.IsClient() {
		return strconv.Itoa(p.Client)
	}
	return p.Name
}

// Event is one line of a history.
type Event struct {
	// Index is the event's position in its history, from 0. Order of index is
	// the authority on what happened before what.
	Index int
	// Time is in nanoseconds since the start of the run, on one monotonic
	// clock; UnknownTime where the source has none.
	Time    int64
	Process Process
	Type    Type
	// F is what was done: read, write, cas, acquire, …
	F string
	// Key is the register, lock or partition it was done to; Nil where the
	// history has only one.
	Key Value
	// Value is the argument on an invoke and the result on a completion. A
	// compare-and-set carries the list [expected new].
	Value Value
	// Node is the server that was asked, and answered; empty where unknown.
	Node string
	// Path is the read path that was taken (get, sync, write, …); empty where
	// the system has one.
	Path string
	// Version is the order token that the system itself gave for what was
	// written or read.
	Version Version
	// Error says why an operation failed or its outcome is unknown. Where a
	// source gave it as something else than text, Extra has it as it was, under
	// the name "error".
	Error string
	// Extra keeps what a source carried beyond the fields above, in its
	// order, so that converting a history loses nothing.
	Extra []Field
}

// Field is one further named value of an event.
type Field struct {
	Name  string
	Value Value
}

// Marks for what a source did not say. UnknownVersion is how an Operation marks
// it; an Event has the zero Version.
const (
	UnknownTime    int64 = -1
	UnknownVersion int64 = -1
)
