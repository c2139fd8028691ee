package sim_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems/kraft"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/push"
	"github.com/stalemate-io/stalemate/systems/sim"
)

// mover is a client of either system: now and then it moves the leadership of a
// partition, else it asks a broker who leads one.
type mover struct {
	env    node.Env
	record *sim.Recording
}

func (m *mover) Start()                                            { m.rest() }
func (m *mover) Receive(node.ID, node.Message, func(node.Message)) {}

func (m *mover) rest() {
	m.env.After(time.Duration(m.env.Rand().IntN(200))*time.Millisecond, m.next)
}

func (m *mover) next() {
	r := m.env.Rand()
	p := protocol.Partition{Topic: "t", Index: int32(r.IntN(12))}
	event := histories.Event{F: "read", Key: histories.String(p.String())}
	var request node.Message = &protocol.MetadataRequest{Partition: p, Path: protocol.ReadBroker}
	target := node.ID(fmt.Sprint("b", 1+r.IntN(5)))
	if r.IntN(10) == 0 {
		leader := int32(1 + r.IntN(5))
		event.F, event.Value = "write", histories.Int(int64(leader))
		request = &protocol.ElectLeadersRequest{Partition: p, Target: leader}
		target = node.ID(fmt.Sprint("c", 1+r.IntN(3)))
	}
	event.Node = string(target)
	m.record.Invoke(event)
	m.env.Call(target, request, time.Second, func(answer node.Message, err error) {
		defer m.rest()
		switch a := answer.(type) {
		case *protocol.MetadataResponse:
			m.record.OK(histories.Event{Value: histories.Int(int64(a.Leader)), Version: histories.At(int64(a.LeaderEpoch))})
		case *protocol.AdminResponse:
			switch a.Error {
			case protocol.None:
				m.record.OK(histories.Event{Value: histories.Int(int64(a.Leader)), Version: histories.At(int64(a.LeaderEpoch))})
			case protocol.RequestTimedOut:
				m.record.Info(string(a.Error))
			default:
				m.record.Fail(string(a.Error))
			}
		default:
			if event.F == "read" || err == node.ErrUnreachable {
				m.record.Fail(err.Error())
			} else {
				m.record.Info(err.Error())
			}
		}
	})
}

// defaultCluster is 3 controllers, 5 brokers, 12 partitions and 20 clients of
// ten operations a second.
func defaultCluster(t testing.TB, system string, config sim.Config) *sim.World {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var w *sim.World
	switch system {
	case "push":
		config.Store = &sim.StoreConfig{SessionTimeout: 6 * time.Second}
		w = sim.New(config)
		must(push.Add(w, w.Store().Get, push.Cluster(3, 5, 12)))
	case "kraft":
		w = sim.New(config)
		cfg := kraft.Cluster(3, 5, 12)
		for i := range 3 {
			must(w.Add(node.ID(fmt.Sprint("c", i+1)), kraft.NewController(cfg)))
		}
		for i := range 5 {
			must(w.Add(node.ID(fmt.Sprint("b", i+1)), kraft.NewBroker(cfg)))
		}
	}
	for i := range 20 {
		record := w.Recording()
		must(w.AddClient(node.ID(fmt.Sprint("x", i+1)), func(env node.Env) node.Machine {
			return &mover{env, record}
		}))
	}
	return w
}

// TestSystemsAreDeterministic runs each system twice under the same faults, for
// 200 seeds, and compares the files their histories make.
func TestSystemsAreDeterministic(t *testing.T) {
	seeds := uint64(200)
	if testing.Short() {
		seeds = 10
	}
	for _, system := range []string{"push", "kraft"} {
		t.Run(system, func(t *testing.T) {
			t.Parallel()
			run := func(seed uint64) []byte {
				var file bytes.Buffer
				out, err := histories.NewWriter(&file, histories.JSONL)
				if err != nil {
					t.Fatal(err)
				}
				w := defaultCluster(t, system, sim.Config{Seed: seed, Record: func(e *histories.Event) {
					if err := out.Write(e); err != nil {
						t.Fatal(err)
					}
				}})
				profile := sim.Profile{
					Nodes: w.Nodes(), Messages: []string{"UpdateMetadata"}, Notes: []string{"store-write", "append"},
					From: 500 * time.Millisecond, Until: 4 * time.Second, Every: 400 * time.Millisecond, For: time.Second,
				}
				if s := w.Store(); s != nil {
					profile.Servers = s.Servers()
				}
				if err := w.Schedule(profile.Schedule(seed), profile.Until); err != nil {
					t.Fatal(err)
				}
				w.Run(5 * time.Second)
				if err := out.Close(); err != nil {
					t.Fatal(err)
				}
				return file.Bytes()
			}
			for seed := range seeds {
				first, second := run(seed), run(seed)
				if !bytes.Equal(first, second) {
					t.Fatalf("seed %d gave two histories, of %d and %d bytes", seed, len(first), len(second))
				}
				if bytes.Count(first, []byte(`"ok"`)) < 100 {
					t.Fatalf("seed %d: hardly anything happened:\n%s", seed, first)
				}
			}
		})
	}
}

// BenchmarkDefaultCluster simulates ten seconds at a time.
func BenchmarkDefaultCluster(b *testing.B) {
	for _, system := range []string{"push", "kraft"} {
		b.Run(system, func(b *testing.B) {
			const length = 10 * time.Second
			events := uint64(0)
			b.ReportAllocs()
			for i := range b.N {
				w := defaultCluster(b, system, sim.Config{Seed: uint64(i)})
				w.Run(length)
				events += w.Events()
			}
			b.ReportMetric(length.Seconds()*float64(b.N)/b.Elapsed().Seconds(), "simulated-s/s")
			b.ReportMetric(float64(events)/float64(b.N)/length.Seconds(), "events/simulated-s")
		})
	}
}
