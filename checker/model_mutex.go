package checker

import "github.com/stalemate-io/stalemate/histories"

// mutexMachine is a lock. Its state is 0 while free, 1 while held.
type mutexMachine struct{ initial uint64 }

func newMutexMachine(h *histories.History, initial histories.Datum) (mutexMachine, error) {
	held := initial != nilDatum && h.Data.Unpack(initial) != histories.Bool(false)
	if held {
		return mutexMachine{1}, nil
	}
	return mutexMachine{0}, nil
}

func (m mutexMachine) start() uint64 { return m.initial }
func (m mutexMachine) bytes() int64  { return 0 }

func (m mutexMachine) step(state uint64, c *call) (uint64, bool) {
	want, next := uint64(0), uint64(1)
	if c.action == actRelease {
		want, next = 1, 0
	}
	if state == want {
		return next, true
	}
	return state, !c.known
}
