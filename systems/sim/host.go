package sim

import (
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
)

// host is the place where a node lives: it outlives the node's crashes and
// keeps its disk and its clock.
type host struct {
	world  *World
	id     node.ID
	index  int
	client bool // a client of the cluster

	boot    node.New
	server  *storeServer // of the store's hosts, which have no machine
	life    uint32       // counts the boots and crashes
	up      bool
	machine node.Machine
	env     *env

	// downs and pauses count the faults that keep the host so.
	downs, pauses int
	// inbox holds what waits for a paused or busy host, and deferred the
	// effects of a callback in whose middle the host was paused.
	inbox    []*item
	deferred []func()
	// cost is how long every callback keeps the host busy.
	cost      time.Duration
	busyUntil time.Duration

	links []*link // to every other host, by index; made when first used
	calls callList
	disk  *disk
	clock clock

	effects uint64 // counts calls to the Env
	fuse    uint64 // effects left until the host crashes; 0 means none is lit
	blow    func() // what happens then, if not that
}

// start boots the node, unless it is up or something keeps it down.
func (h *host) start() {
	if h.up || h.downs > 0 {
		return
	}
	w := h.world
	h.life++
	h.up = true
	if h.server != nil {
		w.note(Entry{Kind: Booted, Node: h.id})
		h.server.catchUp()
		return
	}
	h.effects, h.fuse = 0, 0
	h.env = &env{host: h, rand: w.stream("node "+string(h.id), uint64(h.life))}
	if w.store != nil && !h.client {
		h.env.session = newSession(h.env, w.store)
	}
	w.note(Entry{Kind: Booted, Node: h.id})
	h.machine = h.boot(h.env)
	if h.env.session != nil {
		h.env.session.start()
	}
	it := w.agenda.take()
	it.kind, it.host, it.boot, it.run = callback, h, h.life, h.machine.Start
	h.accept(it)
}

// crash ends the node's life at once: whatever it was in the middle of has no
// further effect.
func (h *host) crash() {
	if !h.up {
		return
	}
	w := h.world
	w.note(Entry{Kind: Crashed, Node: h.id})
	h.up = false
	h.life++
	for _, it := range h.inbox {
		w.drop(it, "the node crashed")
	}
	h.inbox, h.deferred = nil, nil
	h.busyUntil = 0
	if h.server != nil {
		h.server.crash()
		return
	}
	h.env.dead = true
	h.machine = nil
	h.closeConnections()
	h.disk.crash()
}

// accept has something happen to the node: now, or once it is able to.
func (h *host) accept(it *item) {
	if it.boot != h.life || !h.up {
		h.world.agenda.recycle(it)
		return
	}
	if h.pauses > 0 || len(h.inbox) > 0 || h.busyUntil > h.world.now {
		it.state = queued
		h.inbox = append(h.inbox, it)
		return
	}
	h.perform(it)
}

// perform has something happen to the node now.
func (h *host) perform(it *item) {
	if it.state == cancelled {
		return // a timer that was stopped while it waited
	}
	it.state = idle
	switch it.kind {
	case request:
		h.receive(it)
	case answer:
		it.call.finish(it.message, it.err)
	case timeout:
		it.call.expire()
	default:
		it.run()
	}
	h.world.agenda.recycle(it)
	if h.machine != nil && !h.client {
		for _, f := range h.world.turns {
			f(h.id, h.machine)
		}
	}
	if h.cost > 0 && h.up {
		h.busyUntil = h.world.now + h.cost
		h.world.at(h.busyUntil, h.drain)
	}
}

// drain performs what waits in the inbox for as long as the host is able to.
func (h *host) drain() {
	for h.up && h.pauses == 0 && h.busyUntil <= h.world.now && len(h.inbox) > 0 {
		it := h.inbox[0]
		h.inbox[0] = nil
		h.inbox = h.inbox[1:]
		h.perform(it)
	}
	if len(h.inbox) == 0 {
		h.inbox = nil
	}
}

func (h *host) pause() {
	h.pauses++
	h.world.note(Entry{Kind: Paused, Node: h.id})
}

// resume undoes one pause. The rest of an interrupted callback comes first.
func (h *host) resume() {
	if h.pauses == 0 {
		return
	}
	h.pauses--
	if h.pauses > 0 {
		return
	}
	h.world.note(Entry{Kind: Resumed, Node: h.id})
	for len(h.deferred) > 0 && h.up && h.pauses == 0 {
		f := h.deferred[0]
		h.deferred = h.deferred[1:]
		f()
	}
	h.drain()
}

// setClock changes the host's clock and puts its timers where they now belong.
func (h *host) setClock(jump time.Duration, drift int64) {
	w := h.world
	h.clock.set(w.now, jump, drift)
	w.agenda.rebuild(func(e *entry) bool {
		if it := e.item; it.host == h && (it.kind == timer || it.kind == timeout) {
			e.at = h.clock.when(it.local, w.now)
		}
		return true
	})
}

// schedule puts a timer of the host on the agenda.
func (h *host) schedule(it *item, d time.Duration) {
	now := h.world.now
	it.host, it.boot = h, h.life
	it.local = h.clock.at(now) + max(0, d)
	h.world.agenda.add(h.clock.when(it.local, now), it)
}

// Crash ends a node without warning; Restart boots it again, on what its disk
// had made durable.
func (w *World) Crash(id node.ID) {
	if h := w.byID[id]; h != nil {
		h.crash()
	}
}

// Restart boots a node that is down.
func (w *World) Restart(id node.ID) {
	if h := w.byID[id]; h != nil {
		h.start()
	}
}

// Pause stops a node's execution, at whatever effect it is about to have;
// Resume lets it go on. Pauses count: a node paused twice is to be resumed
// twice.
func (w *World) Pause(id node.ID) {
	if h := w.byID[id]; h != nil {
		h.pause()
	}
}

// Resume undoes one Pause.
func (w *World) Resume(id node.ID) {
	if h := w.byID[id]; h != nil {
		h.resume()
	}
}

// CrashAfter has a node crash when it is about to have its n-th effect from now
// (n from 1): the n-1 effects before it happen, that one does not.
func (w *World) CrashAfter(id node.ID, n uint64) {
	if h := w.byID[id]; h != nil {
		h.fuse, h.blow = n, nil
	}
}
