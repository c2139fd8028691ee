package sim

import (
	"errors"
	"fmt"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
)

// Fault is one thing done to a world, as data: it can be written down, drawn
// from a profile, and left out when a schedule is shrunk.
type Fault struct {
	// At is when it is injected, or, with an On or an Effect, from when on it
	// waits for its moment.
	At time.Duration
	// For is how long it lasts; 0 means until everything is healed. Faults
	// that are over at once (see Kinds) have none.
	For  time.Duration
	Kind string
	// Nodes are whom it strikes. A name that begins with @ is a role, looked up
	// at the moment of injection (see World.Role).
	Nodes []node.ID
	// Peers are those at the other end of the links it strikes; none means
	// every node and every server of the store, and no client.
	Peers []node.ID
	// Amount is a duration, for the kinds that take one.
	Amount time.Duration
	// PerMille is a share of a thousand, for the kinds that take one.
	PerMille int
	// Message and Nth pick a message: the Nth (from 1) of that kind (see
	// Envelope.Kind) that is sent from one of Nodes to one of Peers.
	Message string
	Nth     int
	// On injects the fault right where something is traced; Effect when the
	// first of Nodes is about to have its Effect-th effect (from 1). For kinds
	// that strike a node.
	On     *Trigger
	Effect int
}

// Trigger picks the Nth time (from 1) that a node traces something.
type Trigger struct {
	Node node.ID // or a role; empty for any node
	What string
	Key  string // empty for any
	Nth  int
}

// Kind describes one kind of fault. Those that nemesis knows too bear the same
// names there.
type Kind struct {
	Name string
	// About says in a few words what it does.
	About string
	// Needs says which fields of a Fault the kind uses beyond Nodes.
	Links, Sides, Amount, PerMille, Message bool
	// Instant faults are over at once and need no healing.
	Instant bool
	// Stores faults strike servers of the store, not nodes.
	Store bool
	// Stops tells the kinds that may have a trigger or an effect.
	Stops bool

	inject func(*World, *Fault, []*host) (undo func())
}

// kinds lists the kinds of faults, always in the same order.
var kinds = []Kind{
	{Name: "kill-node", About: "the node crashes, and boots again when the fault is over", Stops: true, inject: kill},
	{Name: "pause-node", About: "the node stands still", Stops: true, inject: pauseNode},
	{Name: "isolate-node", About: "nothing gets to the node or away from it, but for clients", Stops: true, inject: isolate},
	{Name: "cut-one-way", About: "nothing gets from the nodes to their peers", Links: true, Stops: true, inject: cut},
	{Name: "halves", About: "nothing gets from one side to the other", Links: true, Sides: true, inject: halves},
	{Name: "slow-link", About: "messages take so much longer", Links: true, Amount: true, inject: slowLink},
	{Name: "hold-link", About: "messages are kept back until the fault is over", Links: true, inject: holdLink},
	{Name: "lose", About: "a share of the messages is lost", Links: true, PerMille: true, inject: lose},
	{Name: "duplicate", About: "a share of the messages arrives twice", Links: true, PerMille: true, inject: duplicate},
	{Name: "reorder", About: "messages overtake each other", Links: true, inject: reorder},
	{Name: "lose-message", About: "one message is lost", Links: true, Message: true, Instant: true},
	{Name: "delay-message", About: "one message arrives so much later and is overtaken", Links: true, Message: true, Amount: true, Instant: true},
	{Name: "double-message", About: "one message arrives twice", Links: true, Message: true, Instant: true},
	{Name: "slow-node", About: "whatever the node does takes so long", Amount: true, inject: slowNode},
	{Name: "slow-disk", About: "making writes durable takes so much longer", Amount: true, inject: slowDisk},
	{Name: "clock-jump", About: "the node's clock jumps ahead", Amount: true, Instant: true, inject: clockJump},
	{Name: "clock-drift", About: "the node's clock runs fast, or slow where the share is negative", PerMille: true, inject: clockDrift},
	{Name: "expire-session", About: "the store gives up the node's session", Instant: true, Stops: true, inject: expireSession},
	{Name: "store-lag", About: "a server of the store applies writes so much later", Amount: true, Store: true, inject: storeLag},
}

func kindNamed(name string) *Kind {
	for i := range kinds {
		if kinds[i].Name == name {
			return &kinds[i]
		}
	}
	return nil
}

// Validate reports what is wrong with a fault, in itself.
func (f *Fault) Validate() error {
	k := kindNamed(f.Kind)
	switch {
	case k == nil:
		return fmt.Errorf("unknown fault %q; expected one of %s", f.Kind, kindNames())
	case f.At < 0 || f.For < 0:
		return errors.New("a fault cannot begin before 0 or last a negative time")
	case len(f.Nodes) == 0:
		return fmt.Errorf("%s needs a node to strike", f.Kind)
	case len(f.Peers) > 0 && !k.Links:
		return fmt.Errorf("%s strikes nodes, not links, and takes no peers", f.Kind)
	case k.Sides && len(f.Peers) == 0:
		return fmt.Errorf("%s needs two sides; expected a b | c d", f.Kind)
	case k.Amount && f.Amount <= 0:
		return fmt.Errorf("%s needs a duration above 0, such as 50ms", f.Kind)
	case !k.Amount && f.Amount != 0:
		return fmt.Errorf("%s takes no duration of its own", f.Kind)
	case k.PerMille && (f.PerMille == 0 || f.PerMille > 1000 || f.PerMille < 0 && f.Kind != "clock-drift" || f.PerMille <= -1000):
		return fmt.Errorf("%s needs a share up to 100%%, such as 20%%", f.Kind)
	case !k.PerMille && f.PerMille != 0:
		return fmt.Errorf("%s takes no share", f.Kind)
	case k.Message && (f.Message == "" || f.Nth < 1):
		return fmt.Errorf("%s needs a message, such as UpdateMetadata #1", f.Kind)
	case !k.Message && (f.Message != "" || f.Nth != 0):
		return fmt.Errorf("%s takes no message", f.Kind)
	case k.Instant && f.For != 0:
		return fmt.Errorf("%s is over at once; leave out for %v", f.Kind, f.For)
	case (f.On != nil || f.Effect != 0) && !k.Stops:
		return fmt.Errorf("%s cannot wait for a trace or an effect", f.Kind)
	case f.On != nil && f.Effect != 0:
		return errors.New("a fault waits for a trace or for an effect, not for both")
	case f.On != nil && (f.On.What == "" || f.On.Nth < 1):
		return errors.New("a trigger needs what is traced and which time, such as store-write #1")
	case f.Effect < 0:
		return errors.New("effects are counted from 1")
	}
	return nil
}

func kindNames() string {
	var names string
	for i, k := range kinds {
		if i > 0 {
			names += ", "
		}
		names += k.Name
	}
	return names
}
