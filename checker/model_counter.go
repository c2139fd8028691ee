package checker

import (
	"fmt"

	"github.com/stalemate-io/stalemate/histories"
)

// counterMachine is a sum. Its state is the sum as a two's complement word.
type counterMachine struct{ initial uint64 }

// newCounterMachine turns the packed integers of the calls into words.
func newCounterMachine(h *histories.History, initial histories.Datum, calls []call) (counterMachine, error) {
	var m counterMachine
	if initial != nilDatum {
		n, err := integer(h, initial)
		if err != nil {
			return m, fmt.Errorf("initial value of a counter: %w", err)
		}
		m.initial = n
	}
	for i := range calls {
		c := &calls[i]
		word := &c.arg
		if c.action == actRead {
			word = &c.res
			if histories.Datum(*word) == nilDatum {
				*word = 0 // a counter that is absent: nothing was added yet
				continue
			}
		}
		n, err := integer(h, histories.Datum(*word))
		if err != nil {
			return m, fmt.Errorf("operation %d on a counter: %w", c.op, err)
		}
		*word = n
	}
	return m, nil
}

func (m counterMachine) start() uint64 { return m.initial }
func (m counterMachine) bytes() int64  { return 0 }

func (m counterMachine) step(state uint64, c *call) (uint64, bool) {
	if c.action == actRead {
		return state, state == c.res
	}
	return state + c.arg, true
}

// integer unpacks an integer.
func integer(h *histories.History, d histories.Datum) (uint64, error) {
	v := h.Data.Unpack(d)
	n, ok := v.AsInt()
	if !ok {
		return 0, fmt.Errorf("expected an integer, found %v", v)
	}
	return uint64(n), nil
}
