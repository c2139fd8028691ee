package push

import (
	"errors"

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

// Look reads a node of the store as it stands, at no node's expense.
type Look func(path string) (node.Stat, []byte, bool)

// Add adds the nodes of a cluster to a world, controllers first, and names the
// role @controller for faults that are to strike whoever is active.
func Add(w World, store Look, cfg Config) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	if store == nil {
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
		if id := ActiveController(w, store); id != "" {
			return []node.ID{id}
		}
		return nil
	})
	return nil
}

// ActiveController is the controller that holds /controller in the store and is
// up and knows it; empty if there is none. A deposed one that has not noticed
// believes the same of itself and is not meant.
func ActiveController(w World, store Look) node.ID {
	_, data, ok := store(controllerPath)
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
