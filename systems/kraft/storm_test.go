package kraft

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/sim"
)

// storm is a profile of random faults: how long a run is, and how often what
// happens to whom.
type storm struct {
	length  time.Duration
	gap     time.Duration // mean time between faults
	victims func(Config) []node.ID
	kinds   []string
	outage  time.Duration // longest time that a fault lasts
	loss    int           // messages in a thousand that are lost
	copies  int           // messages in a thousand that arrive twice, the second time late
	writes  time.Duration // mean time between requests for leadership changes
	sync    sim.Delay
	delay   sim.Delay
	// newborn is in how many of ten cases a new leader of the metadata log
	// crashes soon.
	newborn int
}

var everybody = func(c Config) []node.ID {
	ids := append([]node.ID(nil), c.Controllers...)
	for _, b := range c.Brokers {
		ids = append(ids, BrokerNode(b))
	}
	return ids
}

var onlyControllers = func(c Config) []node.ID { return c.Controllers }

// ordinary has a bit of everything.
var ordinary = storm{
	length: 20 * time.Second, gap: 700 * time.Millisecond, victims: everybody,
	kinds:  []string{"crash", "crash-at-effect", "isolate", "one-way", "pause"},
	outage: 4 * time.Second, loss: 5, copies: 5, writes: 150 * time.Millisecond,
}

// weather blows a storm over a cluster.
type weather struct {
	*cluster
	storm
	rand *rand.Rand
	cuts map[[2]node.ID]int
	over bool
	// acknowledged is the highest offset of an acknowledged change.
	acknowledged int64
	stale        error
	values       []value // that producers were told are replicated
	fetched      int     // values that clients were served
	answers      int
	reads        int
}

func blow(t testing.TB, seed uint64, cfg Config, s storm) (*weather, error) {
	w := &weather{cluster: newClusterWith(t, sim.Config{Seed: seed, Sync: s.sync, Delay: s.delay}, cfg), storm: s,
		rand: rand.New(rand.NewPCG(seed, 1)), cuts: map[[2]node.ID]int{}}
	w.Intercept(w.fate)
	w.OnTrace(func(id node.ID, tr node.Trace) {
		if tr.What == "leading" && w.rand.IntN(10) < w.newborn {
			w.CrashAfter(id, uint64(1+w.rand.IntN(100)))
			w.At(w.Now()+w.after(w.outage/3), func() { w.Restart(id) })
		}
	})
	w.At(0, w.request)
	w.At(w.after(s.gap), w.fault)
	if err := w.run(s.length); err != nil {
		return w, err
	}
	if w.stale != nil {
		return w, fmt.Errorf("seed %d: %w", seed, w.stale)
	}
	return w, nil
}

func (w *weather) after(mean time.Duration) time.Duration {
	return time.Duration(float64(mean) * w.rand.ExpFloat64())
}

func (w *weather) fate(e *sim.Envelope, f *sim.Fate) {
	if w.over {
		return
	}
	if w.cuts[[2]node.ID{e.From, e.To}] > 0 || w.loss > 0 && w.rand.IntN(1000) < w.loss {
		f.Lose = true
	}
	if !e.Answer && w.copies > 0 && w.rand.IntN(1000) < w.copies {
		f.Copies, f.Delay = 1, w.after(300*time.Millisecond)
	}
}

// fault begins a fault, ends it some time later, and plans the next.
func (w *weather) fault() {
	if w.over {
		return
	}
	ids := w.victims(w.cfg)
	id := ids[w.rand.IntN(len(ids))]
	if a := w.active(); a != "" && w.rand.IntN(3) == 0 {
		id = a
	}
	lasts := w.after(w.outage / 3)
	if w.rand.IntN(2) == 0 {
		lasts /= 20
	}
	lasts = min(lasts, w.outage)
	end := w.Now() + lasts
	switch kind := w.kinds[w.rand.IntN(len(w.kinds))]; kind {
	case "crash":
		w.Crash(id)
		w.At(end, func() { w.Restart(id) })
	case "crash-at-effect":
		w.CrashAfter(id, uint64(1+w.rand.IntN(40)))
		w.At(end, func() { w.Restart(id) })
	case "pause":
		w.Pause(id)
		w.At(end, func() { w.Resume(id) })
	case "isolate", "one-way":
		way := 3
		if kind == "one-way" {
			way = 1 + w.rand.IntN(2)
		}
		w.cut(id, way, 1)
		w.At(end, func() { w.cut(id, way, -1) })
	}
	w.At(w.Now()+w.after(w.gap), w.fault)
}

// cut cuts a node off from the other nodes (add 1) or heals that (add -1); way
// has bit 0 for what it sends and bit 1 for what it gets.
func (w *weather) cut(id node.ID, way, add int) {
	for _, other := range w.nodes {
		if way&1 != 0 {
			w.cuts[[2]node.ID{id, other}] += add
		}
		if way&2 != 0 {
			w.cuts[[2]node.ID{other, id}] += add
		}
	}
}

// request asks for something at random: a change of leadership, a value written,
// or a quorum read, which must be no older than what was acknowledged before it.
func (w *weather) request() {
	w.At(w.Now()+w.after(w.writes), w.request)
	if w.client.env == nil {
		return
	}
	p := protocol.Partition{Topic: "t"}
	if len(w.cfg.Topics) > 0 {
		p.Index = int32(w.rand.IntN(w.cfg.Topics[0].Partitions))
	}
	to := w.cfg.Controllers[w.rand.IntN(len(w.cfg.Controllers))]
	if a := w.active(); a != "" && w.rand.IntN(2) == 0 {
		to = a
	}
	switch k := w.rand.IntN(8); {
	case k < 3:
		target := int32(1)
		if n := len(w.cfg.Brokers); n > 0 {
			target = w.cfg.Brokers[w.rand.IntN(n)]
		}
		w.client.env.Call(to, &protocol.ElectLeadersRequest{Partition: p, Target: target}, 2*time.Second, w.acknowledge)
	case k == 3 && len(w.cfg.Brokers) > 3:
		i := w.rand.IntN(len(w.cfg.Brokers))
		var replicas []int32
		for j := range 3 {
			replicas = append(replicas, w.cfg.Brokers[(i+j)%len(w.cfg.Brokers)])
		}
		w.client.env.Call(to, &protocol.AlterReassignmentRequest{Partition: p, Replicas: replicas}, 2*time.Second, w.acknowledge)
	case k < 6:
		atLeast := w.acknowledged
		w.client.env.Call(to, &protocol.MetadataRequest{Partition: p, Path: protocol.ReadQuorum}, 2*time.Second, func(m node.Message, err error) {
			if a, ok := m.(*protocol.MetadataResponse); ok && err == nil && a.Offset >= 0 {
				w.reads++
				if a.Offset < atLeast && w.stale == nil {
					w.stale = fmt.Errorf("quorum read: offset %d was acknowledged before the read, which is of offset %d", atLeast, a.Offset)
				}
			}
		})
	case len(w.cfg.Brokers) > 0:
		b := BrokerNode(w.cfg.Brokers[w.rand.IntN(len(w.cfg.Brokers))])
		if w.rand.IntN(2) == 0 {
			v := value{p, 0, w.rand.Int64()}
			w.client.env.Call(b, &protocol.ProduceRequest{Partition: p, Value: v.value, AcksAll: true, LeaderEpoch: -1}, time.Second, func(m node.Message, err error) {
				if a, ok := m.(*protocol.ProduceResponse); ok && err == nil && a.Error == protocol.None {
					v.offset = a.Offset
					w.values = append(w.values, v)
				}
			})
		} else {
			w.client.env.Call(b, &protocol.FetchRequest{Partition: p, LeaderEpoch: -1}, time.Second, func(m node.Message, err error) {
				if a, ok := m.(*protocol.FetchResponse); ok && err == nil {
					w.fetched += len(a.Values)
				}
			})
		}
	}
}

// value is one that a producer with acks=all was told is replicated.
type value struct {
	partition protocol.Partition
	offset    int64
	value     int64
}

// calm ends all faults, gives the cluster time, and checks that it has converged
// and that nothing that was acknowledged is lost.
func (w *weather) calm(limit time.Duration) error {
	w.over = true
	for _, id := range w.nodes {
		w.CrashAfter(id, 0)
		w.Restart(id)
	}
	end := w.Now() + limit
	for {
		if err := w.run(w.Now() + 500*time.Millisecond); err != nil {
			return err
		}
		err := w.converged()
		if err == nil {
			return w.lost()
		}
		if w.Now() > end {
			return fmt.Errorf("seed %d: %v after the storm: %w", w.Seed(), limit, err)
		}
	}
}

// converged says what is not yet as it should be when nothing is wrong any more.
func (w *weather) converged() error {
	active := w.active()
	if active == "" {
		return errors.New("no active controller")
	}
	for _, n := range w.cfg.Brokers {
		b := w.broker(n)
		if b == nil || !b.Serving() {
			return fmt.Errorf("broker %d does not serve", n)
		}
		if len(b.image.Topics()) < len(w.cfg.Topics) {
			return fmt.Errorf("broker %d knows %d topics", n, len(b.image.Topics()))
		}
		for _, p := range b.image.Partitions() {
			s, truth := b.image.Partition(p), w.controller(active).image.Partition(p)
			switch {
			case s.Leader != truth.Leader || s.LeaderEpoch != truth.LeaderEpoch:
				return fmt.Errorf("broker %d has leader %d of %s in epoch %d, not %d in %d", n, s.Leader, s.Key, s.LeaderEpoch, truth.Leader, truth.LeaderEpoch)
			case len(s.ISR) < len(s.Replicas) || len(s.Target) > 0 || s.Leader == protocol.NoLeader:
				return fmt.Errorf("%s: leader %d, in sync %v of %v, moving to %v", s.Key, s.Leader, s.ISR, s.Replicas, s.Target)
			}
		}
	}
	return nil
}

// lost looks for a value that was acknowledged and is not where it was put.
func (w *weather) lost() error {
	for _, v := range w.values {
		leader := w.broker(w.cfg.Brokers[0]).image.Partition(v.partition).Leader
		p := w.broker(leader).roles.byName[v.partition]
		b := p.log.At(v.offset)
		if b == nil {
			return fmt.Errorf("seed %d: %s has lost offset %d", w.Seed(), v.partition, v.offset)
		}
		if got, _ := binary.Varint(b.Records[0]); got != v.value {
			return fmt.Errorf("seed %d: %s has another value at offset %d", w.Seed(), v.partition, v.offset)
		}
	}
	return nil
}

func (w *weather) acknowledge(m node.Message, err error) {
	if a, ok := m.(*protocol.AdminResponse); ok && err == nil && a.Error == protocol.None {
		w.answers++
		w.acknowledged = max(w.acknowledged, a.Version)
	}
}

func TestInvariantsHoldInEveryStormWithAllGuards(t *testing.T) {
	seeds := 60
	answers, reads := 0, 0
	for seed := range seeds {
		w, err := blow(t, uint64(seed), Cluster(3, 5, 12), ordinary)
		if err != nil {
			t.Fatal(err)
		}
		answers += w.answers
		reads += w.reads
	}
	t.Logf("%d changes acknowledged, %d quorum reads answered", answers, reads)
	if answers < seeds*5 || reads < seeds*5 {
		t.Errorf("the storm let too little through: %d changes, %d reads in %d runs", answers, reads, seeds)
	}
}
