package kraft

import (
	"fmt"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/sim"
)

// cluster is a simulated cluster under test, watched at every step.
type cluster struct {
	*sim.World
	cfg        Config
	invariants *Invariants
	nodes      []node.ID
	client     *caller
}

// caller is a client that only lends its Env.
type caller struct{ env node.Env }

func (c *caller) Start()                                            {}
func (c *caller) Receive(node.ID, node.Message, func(node.Message)) {}

func newCluster(t testing.TB, seed uint64, cfg Config) *cluster {
	t.Helper()
	return newClusterWith(t, sim.Config{Seed: seed}, cfg)
}

func newClusterWith(t testing.TB, world sim.Config, cfg Config) *cluster {
	t.Helper()
	c := &cluster{World: sim.New(world), cfg: cfg, invariants: NewInvariants(), client: &caller{}}
	if err := Add(c.World, cfg); err != nil {
		t.Fatal(err)
	}
	c.nodes = c.Nodes()
	err := c.AddClient("x1", func(env node.Env) node.Machine {
		c.client.env = env
		return c.client
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// run lets everything happen up to a time and checks the invariants at every step.
func (c *cluster) run(until time.Duration) error {
	done := false
	c.At(until, func() { done = true })
	for !done && c.Step() {
		if err := c.check(); err != nil {
			return err
		}
	}
	return nil
}

func (c *cluster) check() error {
	for _, id := range c.nodes {
		if m := c.Machine(id); m != nil {
			if err := c.invariants.Check(c.Now(), id, m); err != nil {
				return fmt.Errorf("seed %d at %v: %w", c.Seed(), c.Now(), err)
			}
		}
	}
	return nil
}

func (c *cluster) mustRun(t testing.TB, until time.Duration) {
	t.Helper()
	if err := c.run(until); err != nil {
		t.Fatal(err)
	}
}

// controller is a controller that is up, nil if it is not.
func (c *cluster) controller(id node.ID) *Controller {
	m, _ := c.Machine(id).(*Controller)
	return m
}

func (c *cluster) broker(n int32) *Broker {
	m, _ := c.Machine(BrokerNode(n)).(*Broker)
	return m
}

func (c *cluster) active() node.ID { return ActiveController(c.World, c.cfg) }

// ask sends a request from the client and gives the answer, which is nil until
// there is one or if there is none.
func ask[A any](c *cluster, to node.ID, request node.Message) *answerTo[A] {
	a := &answerTo[A]{}
	c.client.env.Call(to, request, 5*time.Second, func(m node.Message, err error) {
		a.done, a.err = true, err
		a.message, _ = m.(*A)
	})
	return a
}

type answerTo[A any] struct {
	message *A
	err     error
	done    bool
}

// await runs the cluster until a condition holds, for a minute at the most.
func (c *cluster) await(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for end := c.Now() + time.Minute; !condition(); {
		if c.Now() > end {
			t.Fatalf("after a minute: not %s", what)
		}
		c.mustRun(t, c.Now()+10*time.Millisecond)
	}
}

// ready runs the cluster until its topics are there and every broker serves.
func (c *cluster) ready(t testing.TB) {
	t.Helper()
	c.await(t, "ready", func() bool {
		for _, n := range c.cfg.Brokers {
			b := c.broker(n)
			if b == nil || !b.Serving() || len(b.image.Topics()) < len(c.cfg.Topics) {
				return false
			}
		}
		return c.active() != ""
	})
}

var t0 = protocol.Partition{Topic: "t", Index: 0}
