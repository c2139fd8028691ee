package checker

import "github.com/stalemate-io/stalemate/histories"

// noObserver is the observer of what concerns no single one.
const noObserver int32 = -1

// observerOf says through whose eyes an operation saw: the node that answered
// where the history tells it, else the client. Nodes come first.
func observerOf(h *histories.History, op *histories.Operation) int32 {
	if op.Node > 0 {
		return int32(op.Node)
	}
	return int32(len(h.Nodes)) + op.Process
}
