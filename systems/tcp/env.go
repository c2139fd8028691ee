package tcp

import (
	"math/rand/v2"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
)

// env is what a machine sees of its Node.
type env struct {
	n    *Node
	rand *rand.Rand
}

var _ node.Env = (*env)(nil)

func (e *env) Self() node.ID      { return e.n.config.Self }
func (e *env) Now() time.Duration { return Now() }
func (e *env) Rand() *rand.Rand   { return e.rand }
func (e *env) Disk() node.Disk    { return e.n.disk }
func (e *env) Trace(t node.Trace) { e.n.trace.write(t) }

// Store is nil, and not a nil pointer in an interface, where there is none.
func (e *env) Store() node.Store { return e.n.store }

// sendPatience is for how long a message that nobody waits for is kept for a peer
// that cannot be reached.
const sendPatience = 10 * time.Second

func (e *env) Send(to node.ID, m node.Message) {
	e.Call(to, m, sendPatience, func(node.Message, error) {})
}

func (e *env) Call(to node.ID, m node.Message, timeout time.Duration, done func(node.Message, error)) {
	p, ok := e.n.peers[to]
	if !ok {
		e.n.loop.post(func() { done(nil, node.ErrUnreachable) })
		return
	}
	p.call(m, timeout, done)
}

func (e *env) After(d time.Duration, f func()) node.Timer {
	t := &timer{run: f}
	if d <= 0 {
		e.n.loop.post(t.ring)
		return t
	}
	t.clock = time.AfterFunc(d, func() { e.n.loop.post(t.ring) })
	return t
}

// timer is a pending callback. stopped belongs to the loop, which both rings and
// stops it, so a timer that was stopped never rings, however late that was.
type timer struct {
	clock   *time.Timer
	run     func()
	stopped bool
}

func (t *timer) ring() {
	if !t.stopped {
		t.stopped = true
		t.run()
	}
}

func (t *timer) Stop() {
	t.stopped = true
	if t.clock != nil {
		t.clock.Stop()
	}
}
