package checker

import (
	"fmt"

	"github.com/stalemate-io/stalemate/histories"
)

// queueMachine is a first-in-first-out queue. A state is the number of a
// sequence of elements; equal sequences have one number.
type queueMachine struct {
	queues [][]uint64
	index  map[string]uint64
	held   int64 // bytes
}

// newQueueMachine starts with the elements of the initial value, and numbers
// the elements of the calls from 1; 0 is the nil of a dequeue that found
// nothing.
func newQueueMachine(h *histories.History, initial histories.Datum, calls []call) (*queueMachine, error) {
	m := &queueMachine{index: map[string]uint64{}}
	element := map[histories.Value]uint64{}
	number := func(v histories.Value) uint64 {
		n, ok := element[v]
		if !ok {
			n = uint64(len(element)) + 1
			element[v] = n
		}
		return n
	}
	var first []uint64
	if initial != nilDatum {
		v := h.Data.Unpack(initial)
		values, ok := v.Elements()
		if !ok {
			return m, fmt.Errorf("initial value of a queue: expected a list, found %v", v)
		}
		for _, x := range values {
			first = append(first, number(x))
		}
	}
	for i := range calls {
		c := &calls[i]
		switch {
		case c.action == actEnqueue:
			c.arg = number(h.Data.Unpack(histories.Datum(c.arg)))
		case c.res != uint64(nilDatum):
			c.res = number(h.Data.Unpack(histories.Datum(c.res)))
		}
	}
	m.number(first)
	return m, nil
}

func (m *queueMachine) start() uint64 { return 0 }
func (m *queueMachine) bytes() int64  { return m.held }

func (m *queueMachine) number(queue []uint64) uint64 {
	key := make([]byte, 0, 8*len(queue))
	for _, x := range queue {
		key = append(key, byte(x), byte(x>>8), byte(x>>16), byte(x>>24),
			byte(x>>32), byte(x>>40), byte(x>>48), byte(x>>56))
	}
	n, ok := m.index[string(key)]
	if !ok {
		n = uint64(len(m.queues))
		m.queues = append(m.queues, queue)
		m.index[string(key)] = n
		m.held += int64(64 + 16*len(queue))
	}
	return n
}

func (m *queueMachine) step(state uint64, c *call) (uint64, bool) {
	queue := m.queues[state]
	switch {
	case c.action == actEnqueue:
		return m.number(append(queue[:len(queue):len(queue)], c.arg)), true
	case !c.known: // an unknown dequeue takes what it finds, if anything
		if len(queue) == 0 {
			return state, true
		}
		return m.number(queue[1:]), true
	case c.res == 0:
		return state, len(queue) == 0
	case len(queue) > 0 && queue[0] == c.res:
		return m.number(queue[1:]), true
	}
	return state, false
}
