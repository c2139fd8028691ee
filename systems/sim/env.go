package sim

import (
	"math/rand/v2"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
)

// env is one life of a node: what it sees of the world from a boot to a crash.
// After the crash its methods have no effect, so a callback in whose middle the
// node died runs to its end and changes nothing.
type env struct {
	host    *host
	rand    *rand.Rand
	session *session
	dead    bool
}

var _ node.Env = (*env)(nil)

// effect counts an effect the node is about to have, and reports whether it
// lives to have it.
func (e *env) effect() bool {
	if e.dead {
		return false
	}
	h := e.host
	h.effects++
	if h.fuse > 0 {
		if h.fuse--; h.fuse == 0 {
			if h.blow == nil {
				h.crash()
			} else {
				h.blow()
			}
		}
	}
	return !e.dead
}

// interrupted puts an effect off where the node was paused in the middle of the
// callback that wants it.
func (e *env) interrupted(f func()) bool {
	if e.host.pauses == 0 {
		return false
	}
	e.host.deferred = append(e.host.deferred, func() {
		if !e.dead {
			f()
		}
	})
	return true
}

func (e *env) Self() node.ID      { return e.host.id }
func (e *env) Now() time.Duration { return e.host.clock.at(e.host.world.now) }
func (e *env) Rand() *rand.Rand   { return e.rand }

func (e *env) Send(to node.ID, m node.Message) {
	if !e.effect() {
		return
	}
	if e.host.pauses > 0 && e.interrupted(func() { e.host.send(to, m) }) {
		return
	}
	e.host.send(to, m)
}

func (e *env) Call(to node.ID, m node.Message, patience time.Duration, done func(node.Message, error)) {
	if !e.effect() {
		return
	}
	if e.host.pauses > 0 && e.interrupted(func() { e.host.call(to, m, patience, done) }) {
		return
	}
	e.host.call(to, m, patience, done)
}

func (e *env) reply(c *call, m node.Message) {
	if !e.effect() {
		return
	}
	if e.host.pauses > 0 && e.interrupted(func() { e.host.answer(c, m) }) {
		return
	}
	e.host.answer(c, m)
}

func (e *env) After(d time.Duration, f func()) node.Timer {
	it := &item{kind: timer, run: f}
	if !e.effect() {
		it.state = cancelled
		return it
	}
	e.host.schedule(it, d)
	return it
}

func (e *env) Disk() node.Disk { return diskView{e} }

func (e *env) Store() node.Store {
	if e.session == nil {
		return nil
	}
	return e.session
}

func (e *env) Trace(t node.Trace) {
	if !e.effect() {
		return
	}
	w := e.host.world
	if w.config.Trace {
		w.note(Entry{Kind: Noted, Node: e.host.id, Trace: t})
	}
	for _, f := range w.listeners {
		if f(e.host.id, t); e.dead {
			return
		}
	}
}
