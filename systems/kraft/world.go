package kraft

import (
	"fmt"

	"github.com/stalemate-io/stalemate/systems/node"
)

// World is where nodes live: the simulator's, say.
type World interface {
	Add(node.ID, node.New) error
	// Machine is a node that is up, nil for one that is not.
	Machine(node.ID) node.Machine
	// Role names whoever fills a role at the moment.
	Role(name string, who func() []node.ID)
}

// Add adds a cluster's controllers and brokers to a world, and names the role
// @controller for faults that are to strike whoever is active.
func Add(w World, cfg Config) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	for _, id := range cfg.Controllers {
		if err := w.Add(id, NewController(cfg)); err != nil {
			return fmt.Errorf("kraft: %w", err)
		}
	}
	for _, b := range cfg.Brokers {
		if err := w.Add(BrokerNode(b), NewBroker(cfg)); err != nil {
			return fmt.Errorf("kraft: %w", err)
		}
	}
	w.Role("controller", func() []node.ID {
		if id := ActiveController(w, cfg); id != "" {
			return []node.ID{id}
		}
		return nil
	})
	return nil
}

// ActiveController is the active controller of a cluster in a world, the one of
// the latest epoch where a deposed one does not know yet; empty if there is none.
func ActiveController(w World, cfg Config) node.ID {
	best, epoch := node.ID(""), int32(-1)
	for _, id := range cfg.Controllers {
		if c, ok := w.Machine(id).(*Controller); ok && c.Active() && c.replica.Standing().Epoch > epoch {
			best, epoch = id, c.replica.Standing().Epoch
		}
	}
	return best
}
