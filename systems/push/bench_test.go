package push

import (
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/sim"
)

// reader is a client that asks a broker who leads some twenty times a second,
// and one time in ten asks for an election instead.
type reader struct {
	env        node.Env
	brokers    int
	partitions []protocol.Partition
	answered   int
}

func (u *reader) Start()                                              { u.next() }
func (u *reader) Receive(node.ID, node.Message, func(m node.Message)) {}

func (u *reader) next() {
	r := u.env.Rand()
	p := u.partitions[r.IntN(len(u.partitions))]
	broker := int32(r.IntN(u.brokers)) + 1
	done := func(_ node.Message, err error) {
		if err == nil {
			u.answered++
		}
		u.env.After(time.Duration(r.IntN(100))*time.Millisecond, u.next)
	}
	if r.IntN(10) == 0 {
		controller := ControllerID(int32(r.IntN(3)) + 1)
		u.env.Call(controller, &protocol.ElectLeadersRequest{Partition: p, Target: broker}, time.Second, done)
		return
	}
	u.env.Call(BrokerID(broker), &protocol.MetadataRequest{Partition: p}, time.Second, done)
}

// BenchmarkCluster simulates ten seconds of the default cluster: three
// controllers, five brokers, twelve partitions.
func BenchmarkCluster(b *testing.B) {
	for _, bb := range []struct {
		name    string
		clients int
	}{{"idle", 0}, {"20 clients", 20}} {
		b.Run(bb.name, func(b *testing.B) {
			cfg := DefaultConfig()
			answered := 0
			for i := 0; b.Loop(); i++ {
				w := sim.New(sim.Config{Seed: uint64(i), Store: &sim.StoreConfig{SessionTimeout: 6 * time.Second}})
				if err := Add(w, w.Store().Get, cfg); err != nil {
					b.Fatal(err)
				}
				readers := make([]*reader, bb.clients)
				for n := range readers {
					_ = w.AddClient(node.ID("x"+itoa(int32(n+1))), func(env node.Env) node.Machine {
						readers[n] = &reader{env: env, brokers: cfg.Brokers, partitions: cfg.Partitions()}
						return readers[n]
					})
				}
				w.Run(10 * time.Second)
				for _, r := range readers {
					answered += r.answered
				}
			}
			b.ReportMetric(10*float64(b.N)/b.Elapsed().Seconds(), "sim-s/s")
			b.ReportMetric(float64(answered)/float64(b.N)/10, "ops/sim-s")
		})
	}
}
