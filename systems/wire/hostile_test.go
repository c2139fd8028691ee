package wire

import (
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/systems/kraft"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/push"
	"github.com/stalemate-io/stalemate/systems/sim"
	"pgregory.net/rapid"
)

// TestNoRequestCrashesANode sends requests of every kind, with any numbers in them,
// to the nodes of a cluster at work. What a node that is lied to does to the cluster
// is another matter; it must not fall over a number.
func TestNoRequestCrashesANode(t *testing.T) {
	for system, boot := range map[string]func(*sim.World) error{
		"kraft": func(w *sim.World) error { return kraft.Add(w, kraft.Cluster(1, 3, 3)) },
		"push":  func(w *sim.World) error { return push.Add(w, w.Store().Get, push.Cluster(1, 3, 3)) },
	} {
		p, kinds := Kraft(testCluster), kraftMessages
		if system == "push" {
			p, kinds = Push(testCluster), pushMessages
		}
		var draws []func(*rapid.T) exchanged
		for _, list := range []map[string]func(*rapid.T) exchanged{kinds, clientMessages} {
			for _, name := range sortedKeys(list) {
				draws = append(draws, list[name])
			}
		}
		t.Run(system, rapid.MakeCheck(func(t *rapid.T) {
			w := sim.New(sim.Config{Seed: 1, Store: &sim.StoreConfig{SessionTimeout: 6 * time.Second}})
			if err := boot(w); err != nil {
				t.Fatal(err)
			}
			nodes := w.Nodes()
			var env node.Env
			if err := w.AddClient("x1", func(e node.Env) node.Machine { env = e; return caller{} }); err != nil {
				t.Fatal(err)
			}
			w.Run(5 * time.Second)
			for range rapid.IntRange(1, 20).Draw(t, "requests") {
				x := rapid.SampledFrom(draws).Draw(t, "kind")(t)
				frame, err := p.AppendRequest(nil, 1, "x1", x.request)
				if err != nil {
					t.Fatal(err)
				}
				r, err := p.ParseRequest(frame[4:])
				if err != nil || r.Message == nil {
					continue // refused at the door
				}
				env.Call(rapid.SampledFrom(nodes).Draw(t, "to"), r.Message, time.Second, func(a node.Message, err error) {
					if err == nil {
						if _, err := p.AppendResponse(nil, r, a); err != nil {
							t.Fatalf("%+v is answered with %+v: %v", r.Message, a, err)
						}
					}
				})
				w.Run(w.Now() + 50*time.Millisecond)
			}
			w.Run(w.Now() + time.Second)
		}))
	}
}

// sortedKeys makes a test the same whenever it runs.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// TestNoiseLeavesABrokerAtWork connects many who send what is no request.
func TestNoiseLeavesABrokerAtWork(t *testing.T) {
	t.Parallel()
	c := startKraft(t, 1, 3, 1)
	random := rand.New(rand.NewPCG(3, 4))
	noise := func() []byte {
		b := make([]byte, random.IntN(2000))
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		return b
	}
	var open []net.Conn
	for i := range 60 {
		conn, err := net.Dial("tcp", c.cluster.Addresses["b1"])
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, conn)
		b := noise()
		switch i % 3 {
		case 0: // in a frame of the right length
			b = append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
		case 1: // the beginning of a frame, and nothing more
			b = append(binary.BigEndian.AppendUint32(nil, maxRequest), b...)
		}
		if _, err := conn.Write(b); err != nil {
			t.Logf("refused already: %v", err)
		}
		if i%2 == 0 {
			conn.Close()
		}
	}
	before := c.await(t, "b1", "answers", func(a *protocol.ClusterResponse) bool { return a.Error == protocol.None })
	c.await(t, "b1", "goes on applying the log", func(a *protocol.ClusterResponse) bool { return a.Offset > before.Offset })
	for _, conn := range open {
		conn.Close()
	}
}
