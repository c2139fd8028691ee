package processes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/tcp"
)

// Client runs a client of the cluster in this process: a machine that calls nodes
// and that nobody calls. Its random numbers follow from the seed.
func (c *Cluster) Client(id node.ID, new node.New, seed uint64) (*tcp.Node, error) {
	addresses := map[node.ID]string{}
	for id, p := range c.nodes {
		addresses[id] = p.address
	}
	return tcp.Start(tcp.Config{
		Self: id, New: new, Protocol: wireProtocol(c.options.System, addresses), Peers: addresses, Seed: seed,
	})
}

const (
	// askTimeout is how long a node that is asked for its state is waited for.
	askTimeout = 2 * time.Second
	// askEvery is the pause before it is asked again.
	askEvery = 25 * time.Millisecond
)

// asker is the machine by which the cluster itself asks nodes.
type asker struct{ env node.Env }

func (asker) Start()                                            {}
func (asker) Receive(node.ID, node.Message, func(node.Message)) {}

func (c *Cluster) newAdmin() (*tcp.Node, error) {
	return c.Client("admin", func(env node.Env) node.Machine { return asker{env} }, 0)
}

// ask sends a request to one node.
func (c *Cluster) ask(ctx context.Context, p *process, m node.Message) (node.Message, error) {
	if err := p.Asleep(); err != nil {
		return nil, err
	}
	type result struct {
		m   node.Message
		err error
	}
	done := make(chan result, 1)
	c.admin.Post(func(a node.Machine) {
		a.(asker).env.Call(p.id, m, askTimeout, func(m node.Message, err error) { done <- result{m, err} })
	})
	select {
	case r := <-done:
		return r.m, r.err
	case <-c.admin.Done():
		return nil, c.admin.Err()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// believes asks a node who leads a partition.
func (c *Cluster) believes(ctx context.Context, p *process, partition protocol.Partition, path protocol.ReadPath) (*protocol.MetadataResponse, error) {
	m, err := c.ask(ctx, p, &protocol.MetadataRequest{Partition: partition, Path: path})
	if err != nil {
		return nil, err
	}
	a, ok := m.(*protocol.MetadataResponse)
	if !ok {
		return nil, fmt.Errorf("%s answers %T", p.id, m)
	}
	return a, nil
}

// until asks again until cond gives no error. When ctx is over first, or a node
// has died, the error says so, and what cond said last.
func (c *Cluster) until(ctx context.Context, what string, cond func() error) error {
	for {
		err := cond()
		if err == nil {
			return nil
		}
		if died := c.Died(); died != nil {
			return died
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited for %s: %w (%w)", what, context.Cause(ctx), err)
		case <-time.After(askEvery):
		}
	}
}

// awaitLeaders waits until each broker knows a leader of each partition.
func (c *Cluster) awaitLeaders(ctx context.Context) error {
	for _, id := range c.options.BrokerIDs() {
		for _, partition := range c.options.Topic() {
			err := c.until(ctx, fmt.Sprintf("%s to know who leads %s", id, partition), func() error {
				a, err := c.believes(ctx, c.nodes[id], partition, protocol.ReadBroker)
				switch {
				case err != nil:
					return err
				case a.Error != protocol.None:
					return errors.New(string(a.Error))
				case a.Leader == protocol.NoLeader:
					return errors.New("it knows of none")
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// awaitAnswer waits until a node answers, whatever it says.
func (c *Cluster) awaitAnswer(ctx context.Context, p *process) error {
	return c.until(ctx, string(p.id)+" to answer", func() error {
		_, err := c.believes(ctx, p, protocol.Partition{Topic: "t"}, protocol.ReadBroker)
		return err
	})
}

// Leader names the active controller: one that a majority confirms, or, where the
// system confirms nothing, one that takes itself for it.
func (c *Cluster) Leader(ctx context.Context) (string, error) {
	path := protocol.ReadLeader
	if c.options.System == "kraft" {
		path = protocol.ReadQuorum
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ids := c.options.ControllerIDs()
	type answer struct {
		id  node.ID
		err error
	}
	answers := make(chan answer, len(ids))
	for _, id := range ids {
		go func() { answers <- answer{id, c.active(ctx, c.nodes[id], path)} }()
	}
	err := errors.New("no controller says that it is active")
	for range ids {
		a := <-answers
		if a.err == nil {
			return string(a.id), nil
		}
		err = fmt.Errorf("%w; %s: %w", err, a.id, a.err)
	}
	return "", err
}

// active says why a controller is not the active one, to its own knowledge.
func (c *Cluster) active(ctx context.Context, p *process, path protocol.ReadPath) error {
	a, err := c.believes(ctx, p, protocol.Partition{Topic: "t"}, path)
	if err == nil && a.Error == protocol.NotController {
		err = errors.New(string(a.Error))
	}
	return err
}
