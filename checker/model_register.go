package checker

import "github.com/stalemate-io/stalemate/histories"

// registerMachine is a register with or without compare-and-set. Its state is
// the value.
type registerMachine struct{ initial uint64 }

func (m registerMachine) start() uint64 { return m.initial }
func (m registerMachine) bytes() int64  { return 0 }

func (m registerMachine) step(state uint64, c *call) (uint64, bool) {
	switch c.action {
	case actRead:
		return state, state == c.res
	case actWrite:
		return c.arg, true
	default: // actCAS
		if state == c.arg {
			return c.res, true
		}
		return state, !c.known
	}
}

// versionedMachine is a cas-register that counts its changes. Its states are
// numbers of (value, version) pairs.
type versionedMachine struct {
	states []versioned
	index  map[versioned]uint64
}

// versioned is a value and the version under which it stands.
type versioned struct {
	value   uint64
	version int64
}

func newVersionedMachine(initial uint64, version int64) *versionedMachine {
	first := versioned{initial, version}
	return &versionedMachine{
		states: []versioned{first},
		index:  map[versioned]uint64{first: 0},
	}
}

func (m *versionedMachine) start() uint64 { return 0 }
func (m *versionedMachine) bytes() int64  { return int64(len(m.states)) * 64 }

func (m *versionedMachine) step(state uint64, c *call) (uint64, bool) {
	at := m.states[state]
	switch c.action {
	case actRead:
		return state, at.value == c.res && told(c.version, at.version)
	case actCAS:
		if at.value != c.arg {
			return state, !c.known
		}
		return m.change(state, c.res, c.version)
	default: // actWrite
		return m.change(state, c.arg, c.version)
	}
}

// change is the state after value was written and the writer was told that
// this made version want.
func (m *versionedMachine) change(state uint64, value uint64, want int64) (uint64, bool) {
	next := versioned{value, m.states[state].version + 1}
	if !told(want, next.version) {
		return state, false
	}
	n, ok := m.index[next]
	if !ok {
		n = uint64(len(m.states))
		m.states = append(m.states, next)
		m.index[next] = n
	}
	return n, true
}

// told reports whether a client that was told one version, or none, may have
// met the other.
func told(was, is int64) bool { return was == histories.UnknownVersion || was == is }
