package push

import (
	"fmt"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/sim"
)

// testCluster is a push cluster in a simulated world, with a client that asks
// whatever a test wants to know.
type testCluster struct {
	t      *testing.T
	w      *sim.World
	cfg    Config
	client node.Env
	// nodes are the assignments already parsed, by payload.
	nodes map[string]topicNode
}

// asker is a client that does nothing by itself.
type asker struct{}

func (asker) Start()                                              {}
func (asker) Receive(node.ID, node.Message, func(m node.Message)) {}

func newCluster3x5(t *testing.T, seed uint64, change func(*Config, *sim.Config)) *testCluster {
	t.Helper()
	c := &testCluster{t: t, cfg: DefaultConfig(), nodes: map[string]topicNode{}}
	sc := sim.Config{Seed: seed, Store: &sim.StoreConfig{SessionTimeout: 6 * time.Second}}
	if change != nil {
		change(&c.cfg, &sc)
	}
	c.w = sim.New(sc)
	if err := Add(c.w, c.w.Store().Get, c.cfg); err != nil {
		t.Fatal(err)
	}
	c.addClient()
	return c
}

func (c *testCluster) addClient() {
	c.t.Helper()
	if err := c.w.AddClient("x1", func(env node.Env) node.Machine { c.client = env; return asker{} }); err != nil {
		c.t.Fatal(err)
	}
}

func (c *testCluster) add(id node.ID, n node.New) {
	c.t.Helper()
	if err := c.w.Add(id, n); err != nil {
		c.t.Fatal(err)
	}
}

// ask sends a request and lets the world run until the answer is there.
func (c *testCluster) ask(to node.ID, m node.Message) (answer node.Message, err error) {
	over := false
	c.client.Call(to, m, 20*time.Second, func(a node.Message, e error) { answer, err, over = a, e, true })
	for !over && c.w.Step() {
	}
	return answer, err
}

func (c *testCluster) broker(n int32) *Broker {
	b, _ := c.w.Machine(BrokerID(n)).(*Broker)
	return b
}

// active is the number of the controller that holds /controller and knows it; 0
// if there is none.
func (c *testCluster) active() int32 {
	if id := ActiveController(c.w, c.w.Store().Get); id != "" {
		return number(id) - controllerBase
	}
	return 0
}

// truth is the state of a partition in the store.
func (c *testCluster) truth(p protocol.Partition) (State, int32) {
	stat, data, ok := c.w.Store().Get(StatePath(p))
	if !ok {
		return State{Leader: protocol.NoLeader}, -1
	}
	s, err := DecodeState(StatePath(p), data)
	if err != nil {
		c.t.Fatal(err)
	}
	return s, stat.Version
}

// disagreements lists what brokers that are up hold against the store, in
// caches and roles.
func (c *testCluster) disagreements() []string {
	var out []string
	for _, p := range c.cfg.Partitions() {
		s, version := c.truth(p)
		if version < 0 {
			out = append(out, fmt.Sprintf("%v has no state", p))
		}
		for n := int32(1); n <= int32(c.cfg.Brokers); n++ {
			b := c.broker(n)
			if b == nil {
				continue
			}
			if leader, epoch, v, _ := b.Believes(p); leader != s.Leader || epoch != s.LeaderEpoch || v != int64(version) && !c.cfg.DirectISR {
				out = append(out, fmt.Sprintf("b%d believes %v (%d, e%d, v%d), true is (%d, e%d, v%d)",
					n, p, leader, epoch, v, s.Leader, s.LeaderEpoch, version))
			}
			leads, leader, epoch := b.Role(p)
			if !contains(c.assigned(p), n) {
				continue // a stray replica: its StopReplica went with a dropped queue
			}
			if s.Leader != protocol.NoLeader && (leads != (s.Leader == n) || leader != s.Leader || epoch != s.LeaderEpoch) {
				out = append(out, fmt.Sprintf("b%d acts for %v under (%d, e%d), true is (%d, e%d)", n, p, leader, epoch, s.Leader, s.LeaderEpoch))
			}
		}
	}
	return out
}

// assigned is the assignment of a partition in the store.
func (c *testCluster) assigned(p protocol.Partition) []int32 {
	_, data, _ := c.w.Store().Get(topicPath(p.Topic))
	n, ok := c.nodes[string(data)]
	if !ok {
		var err error
		if n, err = decodeTopic(topicPath(p.Topic), data); err != nil {
			c.t.Fatal(err)
		}
		c.nodes[string(data)] = n
	}
	return n.Partitions[itoa(p.Index)]
}

func (c *testCluster) agreed() bool { return c.active() != 0 && len(c.disagreements()) == 0 }

// settle lets the cluster boot, or recover, until all agree with the store.
func (c *testCluster) settle() {
	c.t.Helper()
	end := c.w.Now() + 60*time.Second
	for c.w.Now() < end {
		c.w.Run(c.w.Now() + 100*time.Millisecond)
		if c.agreed() {
			return
		}
	}
	c.t.Fatalf("no agreement after %v; active controller %d; %v", c.w.Now(), c.active(), c.disagreements())
}

// writes lists what was committed to a world's store.
func writes(w *sim.World) []Write {
	var out []Write
	for _, t := range w.Store().Log() {
		for _, c := range t.Changes {
			out = append(out, Write{Zxid: t.Zxid, At: t.At, By: t.By, Kind: c.Kind, Path: c.Path, Data: c.Data, Version: c.Stat.Version})
		}
	}
	return out
}
