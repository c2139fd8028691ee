package checker

import (
	"fmt"
	"math/bits"

	"github.com/stalemate-io/stalemate/histories"
)

// setMachine is a set that only grows. A state is the number of a node of a
// hash-consed binary trie over the elements, numbered densely: equal sets have
// the same node, and adding an element makes at most one node a level, so that
// the many large sets a search walks through share nearly all of their memory.
type setMachine struct {
	depth   int
	element map[histories.Value]uint32 // element to its number
	nodes   [][2]uint32                // children; nodes 0 and 1 are the leaves "absent" and "present"
	index   []map[[2]uint32]uint32
	initial uint64
}

// newSetMachine numbers the elements and replaces, in the calls, elements by
// their numbers and the sets that reads returned by their states.
func newSetMachine(h *histories.History, initial histories.Datum, calls []call) (*setMachine, error) {
	m := &setMachine{element: map[histories.Value]uint32{}, nodes: make([][2]uint32, 2)}
	members := make([][]uint32, len(calls))
	start, err := m.elements(h, initial)
	if err != nil {
		return m, fmt.Errorf("initial value of a set: %w", err)
	}
	for i := range calls {
		c := &calls[i]
		if c.action == actAdd {
			c.arg = uint64(m.number(h.Data.Unpack(histories.Datum(c.arg))))
			continue
		}
		if members[i], err = m.elements(h, histories.Datum(c.res)); err != nil {
			return m, fmt.Errorf("operation %d on a set: %w", c.op, err)
		}
	}
	m.depth = bits.Len(uint(max(len(m.element), 1) - 1))
	m.index = make([]map[[2]uint32]uint32, m.depth+1)
	for level := range m.index {
		m.index[level] = map[[2]uint32]uint32{}
	}
	empty := uint32(0)
	for level := 1; level <= m.depth; level++ {
		empty = m.node(level, [2]uint32{empty, empty})
	}
	m.initial = m.of(empty, start)
	for i := range calls {
		if calls[i].action == actRead {
			calls[i].res = m.of(empty, members[i])
		}
	}
	return m, nil
}

// number gives an element its number.
func (m *setMachine) number(element histories.Value) uint32 {
	n, ok := m.element[element]
	if !ok {
		n = uint32(len(m.element))
		m.element[element] = n
	}
	return n
}

// elements unpacks a list or set; nil is empty.
func (m *setMachine) elements(h *histories.History, d histories.Datum) ([]uint32, error) {
	if d == nilDatum {
		return nil, nil
	}
	v := h.Data.Unpack(d)
	values, ok := v.Elements()
	if !ok {
		return nil, fmt.Errorf("expected a list or set of elements, found %v", v)
	}
	out := make([]uint32, len(values))
	for i, x := range values {
		out[i] = m.number(x)
	}
	return out, nil
}

// of is the state of a set with the given members.
func (m *setMachine) of(empty uint32, members []uint32) uint64 {
	root := empty
	for _, e := range members {
		root = m.add(root, m.depth, e)
	}
	return uint64(root)
}

// node gives the one node of a level that has these children. Each level has
// an index of its own, so that a node is never found at a level above its own.
func (m *setMachine) node(level int, children [2]uint32) uint32 {
	n, ok := m.index[level][children]
	if !ok {
		n = uint32(len(m.nodes))
		m.nodes = append(m.nodes, children)
		m.index[level][children] = n
	}
	return n
}

// add is the node of the set below at, a node of the given level, with
// element e as well.
func (m *setMachine) add(at uint32, level int, e uint32) uint32 {
	if level == 0 {
		return 1
	}
	side := e >> (level - 1) & 1
	children := m.nodes[at]
	below := m.add(children[side], level-1, e)
	if below == children[side] {
		return at
	}
	children[side] = below
	return m.node(level, children)
}

func (m *setMachine) start() uint64 { return m.initial }
func (m *setMachine) bytes() int64  { return int64(len(m.nodes)) * 40 }

func (m *setMachine) step(state uint64, c *call) (uint64, bool) {
	if c.action == actRead {
		return state, state == c.res
	}
	return uint64(m.add(uint32(state), m.depth, uint32(c.arg))), true
}
