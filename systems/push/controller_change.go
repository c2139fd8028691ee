package push

import (
	"errors"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// chooser decides on a partition's next state from the one in the store. It
// names the replicas that are to get a LeaderAndIsr (none: the change goes out
// as metadata alone), or says why nothing is to change. Both epochs of the next
// state are filled in by change, which keeps the leader epoch only on keepEpoch.
type chooser func(p *partition, now State, version int32) choice

type choice struct {
	leader     int32
	isr        []int32
	recipients []int32
	keepEpoch  bool
	code       protocol.Code // the change is refused
}

// outcome is what became of one partition of a change: the state that was
// written, or why none was. RequestTimedOut says that nobody knows.
type outcome struct {
	code    protocol.Code
	state   State
	version int32
}

// change writes new states for partitions and gathers in b what the brokers
// have to be told. It reads each state anew, chooses, writes under the version
// that it read and under its controller epoch, and starts over with those that
// someone else changed in between. Nothing is pushed before then runs; a
// controller that dies in between has changed the store and told nobody.
//
// When the store says that another controller has been elected, this one
// resigns and then is not called.
func (c *Controller) change(ps []*partition, why string, choose chooser, b *batch, then func([]outcome)) {
	m := &changing{c: c, ps: ps, why: why, choose: choose, b: b, out: make([]outcome, len(ps)), work: make([]work, len(ps))}
	todo := make([]int, len(ps))
	for i := range todo {
		todo[i] = i
	}
	m.then = func() { then(m.out) }
	m.round(todo)
}

type changing struct {
	c      *Controller
	ps     []*partition
	why    string
	choose chooser
	b      *batch
	then   func()
	out    []outcome
	work   []work
}

// work is the state of the change of one partition within and across rounds.
type work struct {
	seen        State
	seenVersion int32
	missing     error
	next        State
	recipients  []int32
	// unknown says that the answer to the last write was lost, so that the
	// state in the store may be this very change; doubt that this was ever so.
	unknown, doubt bool
	again          bool
}

func (m *changing) round(todo []int) {
	if len(todo) == 0 {
		m.then()
		return
	}
	m.c.session.all(len(todo), func(k int, one func()) { m.read(todo[k], one) }, func() {
		var writes []int
		for _, i := range todo {
			m.work[i].again = false
			if m.decide(i) {
				writes = append(writes, i)
			}
		}
		m.c.session.all(len(writes), func(k int, one func()) { m.write(writes[k], one) }, func() {
			var rest []int
			for _, i := range writes {
				if m.work[i].again {
					rest = append(rest, i)
				}
			}
			m.round(rest)
		})
	})
}

func (m *changing) read(i int, one func()) {
	p, w := m.ps[i], &m.work[i]
	m.c.session.get(p.statePath, nil, func(stat node.Stat, data []byte, err error) {
		if err == nil {
			w.seen, err = DecodeState(p.statePath, data)
		}
		w.seenVersion, w.missing = stat.Version, err
		one()
	})
}

// decide chooses the next state of a partition; false where nothing is to be
// written.
func (m *changing) decide(i int) bool {
	p, w := m.ps[i], &m.work[i]
	if w.missing != nil {
		m.c.traceState(TraceStoreRefused, p, State{Leader: protocol.NoLeader}, -1, w.missing.Error())
		m.refused(i, protocol.UnknownTopicOrPartition)
		return false
	}
	if w.unknown && w.seen.equal(w.next) {
		m.written(i, w.seenVersion)
		return false
	}
	if w.seen.ControllerEpoch > m.c.epoch {
		m.c.traceState(TraceStoreRefused, p, w.seen, w.seenVersion, "written by a newer controller")
		m.refused(i, protocol.NotController)
		return false
	}
	choice := m.choose(p, w.seen, w.seenVersion)
	if choice.code != protocol.None {
		m.refused(i, choice.code)
		return false
	}
	w.next = State{
		Leader: choice.leader, LeaderEpoch: w.seen.LeaderEpoch + 1, ControllerEpoch: m.c.epoch, ISR: choice.isr,
	}
	if choice.keepEpoch {
		w.next.LeaderEpoch--
	}
	w.recipients = choice.recipients
	return true
}

// refused ends the change of a partition. Where an earlier write may have gone
// through after all, no more can be said than that nobody knows.
func (m *changing) refused(i int, code protocol.Code) {
	if m.work[i].doubt {
		code = protocol.RequestTimedOut
	}
	m.out[i] = outcome{code: code}
}

func (m *changing) write(i int, one func()) {
	p, w := m.ps[i], &m.work[i]
	set := node.StoreOp{Kind: node.Set, Path: p.statePath, Data: w.next.Encode(), Version: w.seenVersion}
	if !m.c.cfg.Guards.ConditionalWrites {
		set.Version = node.AnyVersion
	}
	m.c.session.multiOnce(m.c.checked(set), func(stats []node.Stat, err error) {
		w.unknown = errors.Is(err, node.ErrSession)
		w.doubt = w.doubt || w.unknown
		switch {
		case err == nil:
			m.written(i, stats[1].Version)
		case w.unknown:
			w.again = true
			m.c.session.again(one)
			return
		case failedOp(err) == 0:
			m.c.traceState(TraceStoreRefused, p, w.next, w.seenVersion, "controller epoch check failed")
			m.c.moved()
			return
		default:
			m.c.traceState(TraceStoreRefused, p, w.next, w.seenVersion, err.Error())
			w.again = true
		}
		one()
	})
}

// written takes over a state that the store has acknowledged.
func (m *changing) written(i int, version int32) {
	p, w := m.ps[i], &m.work[i]
	p.known, p.state, p.version = true, w.next, version
	m.out[i] = outcome{state: w.next, version: version}
	m.c.traceState(TraceStoreWrite, p, w.next, version, m.why)
	if w.recipients == nil {
		m.b.updateMetadata(m.c.cluster.live, p)
	} else {
		m.b.leaderAndISR(w.recipients, p, false)
	}
}

// equal tells whether two states are the same, byte for byte.
func (s State) equal(t State) bool {
	if s.Leader != t.Leader || s.LeaderEpoch != t.LeaderEpoch || s.ControllerEpoch != t.ControllerEpoch || len(s.ISR) != len(t.ISR) {
		return false
	}
	for i := range s.ISR {
		if s.ISR[i] != t.ISR[i] {
			return false
		}
	}
	return true
}
