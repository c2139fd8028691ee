package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems/node"
)

// Config is what a world is made of. Together with the machines that are added
// and the faults that are scheduled, it decides every byte of the outcome.
type Config struct {
	// Seed decides everything that is left to chance.
	Seed uint64
	// Delay is how long a message takes from one node to another; the zero
	// Delay stands for that of an ordinary local network, 400 µs with a tail.
	Delay Delay
	// Sync is how long a disk takes to make writes durable; the zero Delay
	// stands for 1 ms with a tail.
	Sync Delay
	// Unordered lets messages on one connection overtake each other, which
	// TCP forbids.
	Unordered bool
	// Store configures the coordination service; nil where the system has none.
	Store *StoreConfig
	// Trace keeps what happened to every message and every node.Trace.
	Trace bool
	// Record, if set, takes every event of the history as it happens, and the
	// world keeps none. It must not keep the event.
	Record func(*histories.Event)
}

// World is a simulated cluster. It is made by New and used by one goroutine.
type World struct {
	config Config
	now    time.Duration
	agenda agenda
	hosts  []*host
	byID   map[node.ID]*host
	store  *Store

	messages   uint64 // how many were sent
	events     uint64 // how many steps were taken
	intercepts []*interceptor
	listeners  []func(node.ID, node.Trace)
	turns      []func(node.ID, node.Machine)
	trace      []Entry
	recorder   recorder

	roles  map[string]func() []node.ID
	active []*active // faults in force, oldest first
	healed bool
}

// New makes an empty world at time 0.
func New(config Config) *World {
	if config.Delay == (Delay{}) {
		config.Delay = LogNormal(400*time.Microsecond, 0.5)
	}
	if config.Sync == (Delay{}) {
		config.Sync = LogNormal(time.Millisecond, 0.5)
	}
	w := &World{config: config, byID: map[node.ID]*host{}}
	if config.Store != nil {
		w.store = newStore(w, *config.Store)
	}
	return w
}

// Add adds a node and boots it at the present time, as the next thing that
// happens. Nodes are told apart by their ID; a second one of the same ID is an
// error.
func (w *World) Add(id node.ID, boot node.New) error {
	h, err := w.addHost(id)
	if err != nil {
		return err
	}
	h.boot = boot
	w.at(w.now, h.start)
	return nil
}

// AddClient adds a client of the cluster: a machine like any other, but one that
// faults between nodes leave alone.
func (w *World) AddClient(id node.ID, boot node.New) error {
	if err := w.Add(id, boot); err != nil {
		return err
	}
	w.byID[id].client = true
	return nil
}

func (w *World) addHost(id node.ID) (*host, error) {
	if w.byID[id] != nil {
		return nil, fmt.Errorf("there is a node %q already; give every node a name of its own", id)
	}
	h := &host{world: w, id: id, index: len(w.hosts)}
	h.disk = &disk{host: h}
	h.clock.local = time.Duration(w.stream("clock "+string(id), 0).Uint64N(uint64(time.Hour)))
	w.hosts = append(w.hosts, h)
	w.byID[id] = h
	return h, nil
}

// Now is the world's time since its start.
func (w *World) Now() time.Duration { return w.now }

// Seed is the seed the world was made from.
func (w *World) Seed() uint64 { return w.config.Seed }

// Events counts the steps taken so far.
func (w *World) Events() uint64 { return w.events }

// Nodes lists the nodes in the order in which they were added: no clients, no
// servers of the store.
func (w *World) Nodes() []node.ID {
	var ids []node.ID
	for _, h := range w.hosts {
		if !h.client && h.server == nil {
			ids = append(ids, h.id)
		}
	}
	return ids
}

// Machine is the machine that runs on a node at present, nil while it is down.
func (w *World) Machine(id node.ID) node.Machine {
	if h := w.byID[id]; h != nil && h.up {
		return h.machine
	}
	return nil
}

// Run lets everything happen up to and including a time, at which the world
// then stands.
func (w *World) Run(until time.Duration) {
	for w.step(until) {
	}
	w.now = max(w.now, until)
}

// Step lets the next thing happen. It returns false when nothing ever will.
func (w *World) Step() bool { return w.step(1<<63 - 1) }

func (w *World) step(until time.Duration) bool {
	e, ok := w.agenda.next(until)
	if !ok {
		return false
	}
	w.now = e.at
	w.events++
	it := e.item
	it.state = idle
	switch it.kind {
	case worldEvent:
		it.run()
		w.agenda.recycle(it)
	case request:
		w.arrive(it)
	case answer:
		w.arriveAnswer(it)
	case storeLetter:
		w.arriveAtStore(it)
	case storeReply:
		w.arriveFromStore(it)
	default:
		it.host.accept(it)
	}
	return true
}

// At has the world do something at a time, or now where that is past.
func (w *World) At(t time.Duration, f func()) { w.at(max(t, w.now), f) }

func (w *World) at(t time.Duration, f func()) *item {
	it := w.agenda.take()
	it.kind, it.run = worldEvent, f
	w.agenda.add(t, it)
	return it
}

// stream gives the world's source of randomness for one purpose.
func (w *World) stream(purpose string, number uint64) *rand.Rand {
	return stream(w.config.Seed, purpose, number)
}
