package scenarios

import (
	"time"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/sim"
	"github.com/stalemate-io/stalemate/workloads/leadership"
)

// stage is where a scenario is played: a cluster that is up, and a client of it.
type stage interface {
	// nodes lists controllers and brokers in the order of their lanes.
	nodes() []node.ID
	brokers() []node.ID
	// active is the controller that is active, empty if none is.
	active() node.ID
	now() time.Duration
	wait(time.Duration) error
	// call sends a request of the client and returns when done was called.
	call(to node.ID, m node.Message, timeout time.Duration, done func(node.Message, error)) error
	fault(sim.Fault) error
	recording() leadership.Recording
	record(histories.Event)
	// trace is all that happened so far, in an order that does not change any
	// more.
	trace() ([]sim.Entry, error)
	// truth is what was committed so far; ok is false where that is only known
	// at the end.
	truth() (changes []leadership.Change, ok bool, err error)
	// end ends the play and gives what the client saw and what was committed.
	end() ([]histories.Event, []leadership.Change, error)
	close() error
}
