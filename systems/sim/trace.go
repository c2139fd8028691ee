package sim

import (
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
)

// Entry is one line of a world's trace.
type Entry struct {
	At   time.Duration
	Kind EntryKind
	// Node is where it happened: the node itself, or the sender of a message.
	Node node.ID
	// Trace is what the node noted; for Noted only.
	Trace node.Trace
	// Message, its ID and its receiver, for what happened to a message. The
	// copies of a doubled message share its ID.
	Message node.Message
	ID      uint64
	To      node.ID
	Answer  bool
	// Why a message was lost.
	Why string
}

// EntryKind says what an Entry tells.
type EntryKind uint8

// The kinds of entries.
const (
	Noted     EntryKind = iota + 1 // a node traced something
	Booted                         // a node came up
	Crashed                        // a node died
	Paused                         // a node was stopped
	Resumed                        // a node goes on
	Sent                           // a message left
	Held                           // a message is kept back
	Doubled                        // a copy of a message was made
	Lost                           // a message will not arrive
	Delivered                      // a message was handed to the node
)

// String gives the kind in a word.
func (k EntryKind) String() string {
	if int(k) < len(entryKinds) && k > 0 {
		return entryKinds[k]
	}
	return "unknown"
}

var entryKinds = [...]string{
	Noted: "noted", Booted: "booted", Crashed: "crashed", Paused: "paused", Resumed: "resumed",
	Sent: "sent", Held: "held", Doubled: "doubled", Lost: "lost", Delivered: "delivered",
}

// Trace is everything that happened so far, in order, where the configuration
// asked for it. The caller changes nothing.
func (w *World) Trace() []Entry { return w.trace }

// OnTrace has f called with everything the nodes trace, as it happens: in the
// middle of a node's callback. f may crash or pause that node there.
func (w *World) OnTrace(f func(node.ID, node.Trace)) { w.listeners = append(w.listeners, f) }

// OnTurn has f called with each node and its machine after every callback of that
// node, which is all that changes a machine. It is not called for clients.
func (w *World) OnTurn(f func(node.ID, node.Machine)) { w.turns = append(w.turns, f) }

func (w *World) note(e Entry) {
	if w.config.Trace {
		e.At = w.now
		w.trace = append(w.trace, e)
	}
}

// message notes what happens to a message of the nodes.
func (w *World) message(k EntryKind, it *item, why string) {
	if w.config.Trace && (it.kind == request || it.kind == answer) {
		e := Entry{At: w.now, Kind: k, Message: it.message, ID: it.id, To: it.host.id, Answer: it.kind == answer, Why: why}
		if it.from != nil {
			e.Node = it.from.id
		}
		w.trace = append(w.trace, e)
	}
}
