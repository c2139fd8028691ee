package push

import (
	"errors"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/sim"
)

// Add adds the nodes of a cluster to a simulated world, controllers first, and
// names the role @controller for faults that are to strike whoever is active.
func Add(w *sim.World, cfg Config) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	if w.Store() == nil {
		return errors.New("push: the controllers need a store; configure one in the world")
	}
	for _, id := range cfg.ControllerIDs() {
		if err := w.Add(id, NewController(cfg)); err != nil {
			return err
		}
	}
	for _, id := range cfg.BrokerIDs() {
		if err := w.Add(id, NewBroker(cfg)); err != nil {
			return err
		}
	}
	w.Role("controller", func() []node.ID {
		if id := ActiveController(w); id != "" {
			return []node.ID{id}
		}
		return nil
	})
	return nil
}

// ActiveController is the controller that holds /controller in the store and is
// up and knows it; empty if there is none. A deposed one that has not noticed
// believes the same of itself and is not meant.
func ActiveController(w *sim.World) node.ID {
	_, data, ok := w.Store().Get(controllerPath)
	if !ok {
		return ""
	}
	n, err := decodeController(data)
	if err != nil {
		return ""
	}
	id := nodeOf(n.BrokerID)
	if c, ok := w.Machine(id).(*Controller); !ok || !c.active {
		return ""
	}
	return id
}
