package wire

import (
	"net"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/systems/kraft"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/tcp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds what has to happen.
const patience = 20 * time.Second

// realCluster is a kraft cluster whose nodes talk over TCP on this machine.
type realCluster struct {
	cluster  Cluster
	protocol *Protocol
	client   *tcp.Node
	env      node.Env
}

// caller is a client that only lends its Env.
type caller struct{}

func (caller) Start()                                            {}
func (caller) Receive(node.ID, node.Message, func(node.Message)) {}

func startKraft(t *testing.T, controllers, brokers, partitions int) *realCluster {
	t.Helper()
	cfg := kraft.Cluster(controllers, brokers, partitions)
	cfg.HeartbeatInterval, cfg.TopicWait = 100*time.Millisecond, patience
	cfg.Raft.ElectionTimeout, cfg.Raft.FetchTimeout = 300*time.Millisecond, 600*time.Millisecond
	c := &realCluster{cluster: Cluster{ID: "stalemate-test", Addresses: map[node.ID]string{}}}
	listeners := map[node.ID]net.Listener{}
	for _, id := range append(cfg.ControllerIDs(), cfg.BrokerIDs()...) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listeners[id], c.cluster.Addresses[id] = l, l.Addr().String()
	}
	c.protocol = Kraft(c.cluster)
	start := func(id node.ID, boot node.New, l net.Listener) *tcp.Node {
		n, err := tcp.Start(tcp.Config{Self: id, New: boot, Protocol: c.protocol, Peers: c.cluster.Addresses, Listener: l})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := n.Close(); err != nil {
				t.Errorf("%s: %v", id, err)
			}
			if err := n.Err(); err != nil {
				t.Errorf("%s ended by itself: %v", id, err)
			}
		})
		return n
	}
	for _, id := range cfg.ControllerIDs() {
		start(id, ForClients(kraft.NewController(cfg)), listeners[id])
	}
	for _, id := range cfg.BrokerIDs() {
		start(id, ForClients(kraft.NewBroker(cfg)), listeners[id])
	}
	ready := make(chan node.Env, 1)
	c.client = start("x1", func(env node.Env) node.Machine {
		ready <- env
		return caller{}
	}, nil)
	c.env = <-ready
	for _, id := range cfg.BrokerIDs() {
		c.await(t, id, "knows of all partitions, with a leader each", func(a *protocol.ClusterResponse) bool {
			if a.Error != protocol.None || len(a.Partitions) != partitions || len(a.Brokers) != brokers {
				return false
			}
			for _, p := range a.Partitions {
				if p.Leader == protocol.NoLeader || len(p.ISR) < min(3, brokers) {
					return false
				}
			}
			return true
		})
	}
	return c
}

// call asks a node from the client.
func (c *realCluster) call(to node.ID, m node.Message) (node.Message, error) {
	type result struct {
		m   node.Message
		err error
	}
	done := make(chan result, 1)
	c.client.Post(func(node.Machine) {
		c.env.Call(to, m, time.Second, func(m node.Message, err error) { done <- result{m, err} })
	})
	r := <-done
	return r.m, r.err
}

// await asks a node what it believes until a condition holds.
func (c *realCluster) await(t *testing.T, id node.ID, what string, ok func(*protocol.ClusterResponse) bool) *protocol.ClusterResponse {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		m, err := c.call(id, &protocol.ClusterRequest{})
		if a, is := m.(*protocol.ClusterResponse); is && err == nil && ok(a) {
			return a
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: not after %v: %s; its last answer: %+v, %v", id, patience, what, m, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
