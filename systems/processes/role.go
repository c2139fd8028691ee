package processes

import (
	"fmt"

	"github.com/stalemate-io/stalemate/systems/kraft"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/push"
	"github.com/stalemate-io/stalemate/systems/tcp"
	"github.com/stalemate-io/stalemate/systems/wire"
)

// Roles lists what a node can be.
func Roles() []string {
	return []string{"push-controller", "push-broker", "kraft-controller", "kraft-broker"}
}

// role is a node's logic.
type role struct {
	new node.New
	// retire has the machine leave in good order; done is called, on the
	// node's loop, when it has. Nil where a node can just go.
	retire func(m node.Machine, self node.ID, done func())
}

func (c *NodeConfig) role() (role, error) {
	name, err := c.Role()
	if err != nil {
		return role{}, err
	}
	switch c.Cluster.System {
	case "kraft":
		cfg, err := c.Cluster.kraft()
		if err != nil {
			return role{}, err
		}
		if name == "kraft-controller" {
			return role{kraft.NewController(cfg), resign}, nil
		}
		return role{kraft.NewBroker(cfg), nil}, nil
	case "push":
		cfg, err := c.Cluster.push()
		if err != nil {
			return role{}, err
		}
		if name == "push-controller" {
			return role{push.NewController(cfg), nil}, nil
		}
		return role{push.NewBroker(cfg), shutdown}, nil
	}
	return role{}, fmt.Errorf("no role %s", name)
}

// resign has an active controller tell the others that they may elect another.
func resign(m node.Machine, _ node.ID, done func()) {
	if c, ok := m.(*kraft.Controller); ok {
		c.Replica().Resign()
	}
	done()
}

// shutdown has a broker hand over what it leads.
func shutdown(m node.Machine, self node.ID, done func()) {
	m.Receive(self, &push.ShutdownRequest{}, func(node.Message) { done() })
}

// wireProtocol is what the nodes of a system speak.
func wireProtocol(system string, advertised map[node.ID]string) tcp.Protocol {
	c := wire.Cluster{ID: "stalemate", Addresses: advertised}
	if system == "push" {
		return wire.Push(c)
	}
	return wire.Kraft(c)
}
