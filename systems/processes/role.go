package processes

import (
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

// role is a node's logic. It is that of one boot.
type role struct {
	boot node.New
	// machine is what boot made, without what wire puts round it.
	machine node.Machine
	// retire has the machine leave in good order; done is called when it has.
	// Nil where a node can just go.
	retire func(m node.Machine, self node.ID, done func())
}

// new makes the machine for peers and for any client of Kafka.
func (r *role) new(env node.Env) node.Machine {
	return wire.ForClients(func(env node.Env) node.Machine {
		r.machine = r.boot(env)
		return r.machine
	})(env)
}

func (c *NodeConfig) role() (*role, error) {
	name, err := c.Role()
	if err != nil {
		return nil, err
	}
	r := &role{}
	if c.Cluster.System == "kraft" {
		cfg, err := c.Cluster.kraft()
		if err != nil {
			return nil, err
		}
		if r.boot = kraft.NewBroker(cfg); name == "kraft-controller" {
			r.boot, r.retire = kraft.NewController(cfg), resign
		}
		return r, nil
	}
	cfg, err := c.Cluster.push()
	if err != nil {
		return nil, err
	}
	if r.boot, r.retire = push.NewBroker(cfg), shutdown; name == "push-controller" {
		r.boot, r.retire = push.NewController(cfg), nil
	}
	return r, nil
}

// resign has an active controller tell the others that they may elect another.
func resign(m node.Machine, _ node.ID, done func()) {
	m.(*kraft.Controller).Replica().Resign()
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
