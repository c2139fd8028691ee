package sim

import (
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
)

// item is one thing that is going to happen. Items of messages are pooled;
// timers and the time-outs of calls are not, since others hold on to them.
type item struct {
	kind   kind
	state  state
	pooled bool
	// host is whom it happens to, in its boot-th life; nil for the world's own.
	host *host
	boot uint32
	// run is what happens, for all kinds but requests and answers.
	run func()

	// Messages only.
	from    *host
	message node.Message
	id      uint64
	call    *call // nil where nobody waits for an answer
	conn    *conn
	store   *storeConn     // of what goes to the store and comes from there
	number  int            // its place among what goes the same way over that connection
	err     error          // of an answer
	last    *time.Duration // of a message kept back: the arrival of the one before it

	// local is the time of the host's own clock at which a timer is due.
	local time.Duration

	next *item // in the list of free items
}

type kind uint8

const (
	worldEvent  kind = iota // of the world itself
	callback                // something inside a host's process: disk, store, time-out
	timer                   // an Env.After
	timeout                 // the end of a call's patience
	request                 // a message to a machine
	answer                  // the answer to a call
	storeLetter             // a message to a server of the store
	storeReply              // a message from there
)

type state uint8

const (
	idle      state = iota
	scheduled       // on the agenda
	queued          // waiting for a host that is paused or busy
	cancelled
)

// Stop makes an item of kind timer a node.Timer.
func (it *item) Stop() {
	if it.state == scheduled {
		it.host.world.agenda.cancel(it)
		return
	}
	it.state = cancelled
}
