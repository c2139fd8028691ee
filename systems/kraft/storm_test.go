package kraft

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/sim"
)

// storm is a profile of random faults and of what goes on meanwhile.
type storm struct {
	config func() Config
	world  sim.Config
	length time.Duration
	writes time.Duration // mean time between requests of clients
	quiet  bool          // clients do not change leadership

	gap    time.Duration // mean time between faults
	outage time.Duration // the longest that one lasts
	alone  bool          // no fault begins while another lasts
	kinds  []string
	victim func(*weather) node.ID
	loss   int // messages in a thousand that are lost
	copies int // messages in a thousand that arrive twice, the second time late
	// newborn is in how many of ten cases a new leader of the metadata log
	// crashes soon.
	newborn int
	// late holds back every message of a kind for a random time up to that.
	late map[string]time.Duration
	// profile has the simulator's own faults instead.
	profile *sim.Profile
	// also is asked every now and then, and after every step if it is cheap.
	also func(*weather) error
}

// weather is a storm that blows over a cluster.
type weather struct {
	*cluster
	storm
	rand   *rand.Rand
	cuts   map[[2]node.ID]int
	faults int // under way
	over   bool

	acknowledged int64             // highest offset of an acknowledged change
	answered     map[node.ID]int64 // highest offset that each node has answered from
	stale        error             // the first read that was older than it may be
	answers      int
	reads        int
	values       []value
	loaded       int // snapshots that replicas fetched
}

// readBroker asks any node what it has applied, which must be no less than when
// it last answered, whatever has happened to it since.
func (w *weather) readBroker(env node.Env, id node.ID, p protocol.Partition) {
	atLeast := w.answered[id]
	m := &protocol.MetadataRequest{Partition: p, Path: protocol.ReadBroker}
	env.Call(id, m, 2*time.Second, func(m node.Message, err error) {
		a, ok := m.(*protocol.MetadataResponse)
		if !ok || err != nil || a.Offset < 0 {
			return
		}
		if a.Offset < atLeast && w.stale == nil {
			w.stale = fmt.Errorf("%s answers from offset %d after it had from %d", id, a.Offset, atLeast)
		}
		w.answered[id] = max(w.answered[id], a.Offset)
	})
}

// value is one that a producer with acks=all was told is replicated.
type value struct {
	partition protocol.Partition
	offset    int64
	value     int64
}

// blow runs a storm, with changes to its configuration, and gives what broke.
func blow(t testing.TB, seed uint64, s storm, change func(*Config)) (*weather, error) {
	t.Helper()
	cfg := s.config()
	if change != nil {
		change(&cfg)
	}
	s.world.Seed = seed
	w := &weather{
		cluster: newClusterWith(t, s.world, cfg), storm: s,
		rand: stream(seed), cuts: map[[2]node.ID]int{}, answered: map[node.ID]int64{},
	}
	w.Intercept(w.fate)
	w.OnTrace(w.traced)
	w.At(0, w.request)
	if s.profile != nil {
		p := *s.profile
		p.Nodes = w.nodes
		if err := w.Schedule(p.Schedule(seed), 0); err != nil {
			t.Fatal(err)
		}
	} else {
		w.At(w.after(s.gap), w.fault)
	}
	for w.Now() < s.length {
		if err := w.run(w.Now() + 50*time.Millisecond); err != nil {
			return w, err
		}
		err := w.stale
		if err == nil && s.also != nil {
			err = s.also(w)
		}
		if err != nil {
			return w, fmt.Errorf("seed %d at %v: %w", seed, w.Now(), err)
		}
	}
	return w, nil
}

func stream(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

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
	if len(w.late) > 0 && w.late[e.Kind()] > 0 {
		f.Delay = time.Duration(w.rand.Int64N(int64(w.late[e.Kind()])))
	}
}

func (w *weather) traced(id node.ID, t node.Trace) {
	if t.What == "snapshot-loaded" {
		w.loaded++
	}
	if !w.over && t.What == "leading" && w.rand.IntN(10) < w.newborn {
		w.CrashAfter(id, uint64(1+w.rand.IntN(100)))
		w.At(w.Now()+w.after(w.outage/3), func() { w.Restart(id) })
	}
}

// fault begins a fault, ends it some time later, and plans the next.
func (w *weather) fault() {
	if w.over {
		return
	}
	w.At(w.Now()+w.after(w.gap), w.fault)
	id := w.victim(w)
	if id == "" || w.alone && w.faults > 0 {
		return
	}
	lasts := min(w.outage, w.after(w.outage/3))
	if w.rand.IntN(2) == 0 {
		lasts /= 20
	}
	w.faults++
	undo := w.begin(w.kinds[w.rand.IntN(len(w.kinds))], id)
	w.At(w.Now()+lasts, func() {
		w.faults--
		undo()
	})
}

// begin begins a fault and gives what ends it.
func (w *weather) begin(kind string, id node.ID) (undo func()) {
	switch kind {
	case "crash":
		w.Crash(id)
		return func() { w.Restart(id) }
	case "crash-at-effect":
		w.CrashAfter(id, uint64(1+w.rand.IntN(40)))
		return func() { w.Restart(id) }
	case "pause":
		w.Pause(id)
		return func() { w.Resume(id) }
	case "isolate":
		return w.cut(id, w.nodes, 3)
	case "one-way":
		return w.cut(id, w.nodes, 1+w.rand.IntN(2))
	case "pair":
		return w.cut(id, []node.ID{w.victim(w)}, 3)
	}
	panic("no fault " + kind)
}

// cut cuts a node off from others; way has bit 0 for what it sends and bit 1 for
// what it gets.
func (w *weather) cut(id node.ID, others []node.ID, way int) (heal func()) {
	add := func(n int) {
		for _, other := range others {
			if way&1 != 0 {
				w.cuts[[2]node.ID{id, other}] += n
			}
			if way&2 != 0 {
				w.cuts[[2]node.ID{other, id}] += n
			}
		}
	}
	add(1)
	return func() { add(-1) }
}

// request asks for something at random: a change of leadership, a value written
// or read, or a quorum read, which must be no older than what was acknowledged
// before it.
func (w *weather) request() {
	w.At(w.Now()+w.after(w.writes), w.request)
	p := protocol.Partition{Topic: "t"}
	if len(w.cfg.Topics) > 0 {
		p.Index = int32(w.rand.IntN(w.cfg.Topics[0].Partitions))
	}
	to := pick(w.rand, w.cfg.Controllers)
	if a := w.active(); a != "" && w.rand.IntN(2) == 0 {
		to = a
	}
	k := w.rand.IntN(8)
	if len(w.cfg.Brokers) == 0 {
		k = 3
	} else if w.quiet {
		k = 5
	}
	switch env := w.client.env; {
	case env == nil:
	case k < 2:
		m := &protocol.ElectLeadersRequest{Partition: p, Target: pick(w.rand, w.cfg.Brokers)}
		env.Call(to, m, 2*time.Second, w.acknowledge)
	case k == 2:
		m := &protocol.AlterReassignmentRequest{Partition: p}
		for i, n := 0, len(w.cfg.Brokers); i < min(3, n); i++ {
			m.Replicas = append(m.Replicas, w.cfg.Brokers[(int(p.Index)+i+w.rand.IntN(2))%n])
		}
		slices.Sort(m.Replicas)
		m.Replicas = slices.Compact(m.Replicas)
		env.Call(to, m, 2*time.Second, w.acknowledge)
	case k == 4:
		w.readBroker(env, pick(w.rand, w.nodes), p)
	case k == 3:
		atLeast := w.acknowledged
		m := &protocol.MetadataRequest{Partition: p, Path: protocol.ReadQuorum}
		env.Call(to, m, 2*time.Second, func(m node.Message, err error) {
			if a, ok := m.(*protocol.MetadataResponse); ok && err == nil && a.Offset >= 0 {
				w.reads++
				if a.Offset < atLeast && w.stale == nil {
					w.stale = fmt.Errorf("quorum read of offset %d, but offset %d was acknowledged before it", a.Offset, atLeast)
				}
			}
		})
	default:
		v := value{p, 0, w.rand.Int64()}
		m := &protocol.ProduceRequest{Partition: p, Value: v.value, AcksAll: true, LeaderEpoch: -1}
		b := BrokerNode(pick(w.rand, w.cfg.Brokers))
		if l := w.broker(pick(w.rand, w.cfg.Brokers)); l != nil && l.image.Partition(p) != nil {
			b = BrokerNode(max(1, l.image.Partition(p).Leader))
		}
		env.Call(b, m, time.Second, func(m node.Message, err error) {
			if a, ok := m.(*protocol.ProduceResponse); ok && err == nil && a.Error == protocol.None {
				v.offset = a.Offset
				w.values = append(w.values, v)
			}
		})
	}
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func (w *weather) acknowledge(m node.Message, err error) {
	if a, ok := m.(*protocol.AdminResponse); ok && err == nil && a.Error == protocol.None {
		w.answers++
		w.acknowledged = max(w.acknowledged, a.Version)
	}
}

// calm ends all faults, gives the cluster time, and checks that it converges.
func (w *weather) calm(limit time.Duration) error {
	w.over = true
	w.Heal()
	for _, id := range w.nodes {
		w.CrashAfter(id, 0)
		w.Restart(id)
	}
	for end := w.Now() + limit; ; {
		if err := w.run(w.Now() + 500*time.Millisecond); err != nil {
			return err
		}
		err := w.converged()
		if err == nil {
			return nil
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
				return fmt.Errorf("broker %d has leader %d of %s in epoch %d, not %d in %d",
					n, s.Leader, s.Key, s.LeaderEpoch, truth.Leader, truth.LeaderEpoch)
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
		b := w.broker(leader).roles.byName[v.partition].log.At(v.offset)
		if b == nil {
			return fmt.Errorf("seed %d: %s has lost offset %d", w.Seed(), v.partition, v.offset)
		}
		if got, _ := binary.Varint(b.Records[0]); got != v.value {
			return fmt.Errorf("seed %d: %s has another value at offset %d", w.Seed(), v.partition, v.offset)
		}
	}
	return nil
}
