package kraft

import (
	"fmt"
	"hash/fnv"
	"slices"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/sim"
)

// isolate cuts nodes off from the other nodes, not from clients, until heal.
func (c *cluster) isolate(ids ...node.ID) (heal func()) {
	return c.Intercept(func(e *sim.Envelope, f *sim.Fate) {
		if e.From != "x1" && e.To != "x1" && slices.Contains(ids, e.From) != slices.Contains(ids, e.To) {
			f.Lose = true
		}
	})
}

// must asks for something and gives the answer.
func must[A any](t testing.TB, c *cluster, to node.ID, request node.Message) *A {
	t.Helper()
	a := ask[A](c, to, request)
	c.await(t, fmt.Sprintf("answered: %T by %s", request, to), func() bool { return a.done })
	if a.err != nil {
		t.Fatalf("%T to %s: %v", request, to, a.err)
	}
	return a.message
}

func TestAnElectionReachesEveryBroker(t *testing.T) {
	c := newCluster(t, 1, Cluster(3, 5, 12))
	c.ready(t)
	before := c.broker(1).image.Partition(t0)
	target := before.ISR[1]
	a := must[protocol.AdminResponse](t, c, c.active(), &protocol.ElectLeadersRequest{Partition: t0, Target: target})
	if a.Error != protocol.None || a.Leader != target || a.LeaderEpoch != before.LeaderEpoch+1 {
		t.Fatalf("got %+v", a)
	}
	c.await(t, "applied", func() bool {
		for _, n := range c.cfg.Brokers {
			if c.broker(n).image.Offset <= a.Version {
				return false
			}
		}
		return true
	})
	for _, n := range c.cfg.Brokers {
		m := must[protocol.MetadataResponse](t, c, BrokerNode(n), &protocol.MetadataRequest{Partition: t0, Path: protocol.ReadBroker})
		if m.Leader != target || m.LeaderEpoch != a.LeaderEpoch || m.Offset < a.Version {
			t.Errorf("broker %d answers %+v, want leader %d in epoch %d at offset %d or later", n, m, target, a.LeaderEpoch, a.Version)
		}
	}
}

func TestAdminAnswers(t *testing.T) {
	c := newCluster(t, 2, Cluster(3, 4, 1))
	c.ready(t)
	s := c.broker(1).image.Partition(t0)
	active, standby := c.active(), node.ID("")
	for _, id := range c.cfg.Controllers {
		if id != active {
			standby = id
		}
	}
	outsider := int32(0)
	for _, n := range c.cfg.Brokers {
		if !slices.Contains(s.Replicas, n) {
			outsider = n
		}
	}
	elect := func(p protocol.Partition, target int32) node.Message {
		return &protocol.ElectLeadersRequest{Partition: p, Target: target}
	}
	for _, c2 := range []struct {
		rule    string
		to      node.ID
		request node.Message
		want    protocol.Code
	}{
		{"a standby controller names the active one", standby, elect(t0, s.ISR[1]), protocol.NotController},
		{"a broker names the active controller", "b1", elect(t0, s.ISR[1]), protocol.NotController},
		{"a partition must exist", active, elect(protocol.Partition{Topic: "x"}, 1), protocol.UnknownTopicOrPartition},
		{"the leader need not be elected", active, elect(t0, s.Leader), protocol.ElectionNotNeeded},
		{"who is not in sync cannot lead", active, elect(t0, outsider), protocol.EligibleLeadersNotAvail},
		{"a partition moves to brokers that exist", active, &protocol.AlterReassignmentRequest{Partition: t0, Replicas: []int32{1, 77}}, InvalidReplicaAssignment},
		{"a partition moves to brokers named once", active, &protocol.AlterReassignmentRequest{Partition: t0, Replicas: []int32{1, 1}}, InvalidReplicaAssignment},
		{"a partition does not move to nowhere", active, &protocol.AlterReassignmentRequest{Partition: t0}, InvalidReplicaAssignment},
	} {
		t.Run(c2.rule, func(t *testing.T) {
			a := must[protocol.AdminResponse](t, c, c2.to, c2.request)
			if a.Error != c2.want || a.Controller != string(active) {
				t.Errorf("got %q, controller %s; want %q, %s", a.Error, a.Controller, c2.want, active)
			}
		})
	}
}

func TestReadPaths(t *testing.T) {
	c := newCluster(t, 3, Cluster(3, 3, 1))
	c.ready(t)
	active := c.active()
	standby := c.cfg.Controllers[(slices.Index(c.cfg.Controllers, active)+1)%3]
	for _, r := range []struct {
		rule string
		to   node.ID
		path protocol.ReadPath
		want protocol.Code
	}{
		{"a broker answers from its cache", "b2", protocol.ReadBroker, protocol.None},
		{"a standby controller answers from what it has applied", standby, protocol.ReadBroker, protocol.None},
		{"the active controller answers on its own word", active, protocol.ReadLeader, protocol.None},
		{"the active controller answers for the quorum", active, protocol.ReadQuorum, protocol.None},
		{"a standby does not answer for the leader", standby, protocol.ReadLeader, protocol.NotController},
		{"a standby does not answer for the quorum", standby, protocol.ReadQuorum, protocol.NotController},
		{"a broker does not answer for the quorum", "b2", protocol.ReadQuorum, protocol.NotController},
		{"an unknown path is refused", active, "oracle", protocol.UnsupportedVersion},
	} {
		t.Run(r.rule, func(t *testing.T) {
			a := must[protocol.MetadataResponse](t, c, r.to, &protocol.MetadataRequest{Partition: t0, Path: r.path})
			if a.Error != r.want {
				t.Fatalf("got %+v", a)
			}
			if r.want == protocol.None && (a.Leader < 1 || a.Offset < 1) {
				t.Errorf("got %+v", a)
			}
			if r.want == protocol.NotController && a.Controller != string(active) {
				t.Errorf("hint is %q, want %s", a.Controller, active)
			}
		})
	}
}

func TestABrokerThatIsCutOffGoesOnServingUnlessItFencesItself(t *testing.T) {
	for _, self := range []bool{false, true} {
		t.Run(fmt.Sprintf("self-fencing %t", self), func(t *testing.T) {
			cfg := Cluster(3, 4, 1)
			cfg.Guards.SelfFencing = self
			c := newCluster(t, 4, cfg)
			c.ready(t)
			old := c.broker(1).image.Partition(t0)
			produced := must[protocol.ProduceResponse](t, c, BrokerNode(old.Leader), &protocol.ProduceRequest{Partition: t0, Value: 1, AcksAll: true, LeaderEpoch: -1})
			if produced.Error != protocol.None {
				t.Fatalf("got %+v", produced)
			}
			c.isolate(BrokerNode(old.Leader))
			moved := func() *protocol.MetadataResponse {
				return must[protocol.MetadataResponse](t, c, c.active(), &protocol.MetadataRequest{Partition: t0, Path: protocol.ReadQuorum})
			}
			c.await(t, "fenced", func() bool { return moved().Leader != old.Leader })

			// The new leader takes another value, which the old one does not see.
			now := moved()
			produced = must[protocol.ProduceResponse](t, c, BrokerNode(now.Leader), &protocol.ProduceRequest{Partition: t0, Value: 2, AcksAll: true, LeaderEpoch: -1})
			for produced.Error == protocol.NotLeaderOrFollower {
				produced = must[protocol.ProduceResponse](t, c, BrokerNode(now.Leader), &protocol.ProduceRequest{Partition: t0, Value: 2, AcksAll: true, LeaderEpoch: -1})
			}
			if produced.Error != protocol.None || produced.LeaderEpoch != old.LeaderEpoch+1 {
				t.Fatalf("got %+v", produced)
			}

			meta := must[protocol.MetadataResponse](t, c, BrokerNode(old.Leader), &protocol.MetadataRequest{Partition: t0, Path: protocol.ReadBroker})
			read := must[protocol.FetchResponse](t, c, BrokerNode(old.Leader), &protocol.FetchRequest{Partition: t0, LeaderEpoch: old.LeaderEpoch})
			if self {
				if meta.Error != BrokerNotAvailable || read.Error != BrokerNotAvailable {
					t.Errorf("got %+v and %+v", meta, read)
				}
				return
			}
			if meta.Error != protocol.None || meta.Leader != old.Leader || meta.Offset >= now.Offset {
				t.Errorf("metadata: got %+v, the truth is %+v", meta, now)
			}
			if read.Error != protocol.None || !slices.Equal(read.Values, []int64{1}) {
				t.Errorf("read: got %+v, want the first value alone", read)
			}
		})
	}
}

func TestProduceAndFetchCheckTheLeaderEpoch(t *testing.T) {
	c := newCluster(t, 5, Cluster(3, 3, 1))
	c.ready(t)
	first := c.broker(1).image.Partition(t0)
	a := must[protocol.AdminResponse](t, c, c.active(), &protocol.ElectLeadersRequest{Partition: t0, Target: first.ISR[1]})
	leader, epoch := BrokerNode(a.Leader), a.LeaderEpoch
	c.await(t, "led", func() bool {
		p := c.broker(a.Leader).roles.byName[t0]
		return p.leads() && c.broker(first.Leader).roles.byName[t0].state.LeaderEpoch == epoch
	})
	for _, r := range []struct {
		rule  string
		to    node.ID
		epoch int32
		want  protocol.Code
	}{
		{"no epoch, no check", leader, -1, protocol.None},
		{"the leader's own epoch", leader, epoch, protocol.None},
		{"an older epoch is fenced", leader, epoch - 1, protocol.FencedLeaderEpoch},
		{"a newer epoch is not known yet", leader, epoch + 1, protocol.UnknownLeaderEpoch},
		{"a follower does not serve", BrokerNode(first.Leader), epoch, protocol.NotLeaderOrFollower},
	} {
		t.Run(r.rule, func(t *testing.T) {
			p := must[protocol.ProduceResponse](t, c, r.to, &protocol.ProduceRequest{Partition: t0, Value: 1, LeaderEpoch: r.epoch})
			f := must[protocol.FetchResponse](t, c, r.to, &protocol.FetchRequest{Partition: t0, LeaderEpoch: r.epoch})
			if p.Error != r.want || f.Error != r.want {
				t.Errorf("produce %q, fetch %q; want %q", p.Error, f.Error, r.want)
			}
		})
	}
}

func TestReassignmentEndsWithTheFirstTargetLeading(t *testing.T) {
	c := newCluster(t, 6, Cluster(3, 5, 1))
	c.ready(t)
	s := c.broker(1).image.Partition(t0)
	for v := range int64(20) {
		must[protocol.ProduceResponse](t, c, BrokerNode(s.Leader), &protocol.ProduceRequest{Partition: t0, Value: v, LeaderEpoch: -1})
	}
	a := must[protocol.AdminResponse](t, c, c.active(), &protocol.AlterReassignmentRequest{Partition: t0, Replicas: []int32{5, 4}})
	if a.Error != protocol.None || a.Leader != s.Leader {
		t.Fatalf("got %+v", a)
	}
	c.await(t, "moved", func() bool {
		s := c.broker(1).image.Partition(t0)
		return slices.Equal(s.Replicas, []int32{5, 4}) && s.Leader == 5 && len(s.Target) == 0
	})
	c.await(t, "readable at the new leader", func() bool {
		f := must[protocol.FetchResponse](t, c, "b5", &protocol.FetchRequest{Partition: t0, LeaderEpoch: -1})
		return len(f.Values) == 20
	})
	if p := c.broker(s.Leader).roles.byName[t0]; p != nil {
		t.Errorf("broker %d still hosts it", s.Leader)
	}
}

func TestLosingAReplicaBeginsALeaderEpoch(t *testing.T) {
	c := newCluster(t, 6, Cluster(3, 3, 1))
	c.ready(t)
	s := c.broker(1).image.Partition(t0)
	a := must[protocol.AdminResponse](t, c, c.active(), &protocol.AlterReassignmentRequest{Partition: t0, Replicas: s.Replicas[:2]})
	if a.Error != protocol.None || a.Leader != s.Leader || a.LeaderEpoch != s.LeaderEpoch+1 {
		t.Errorf("got %+v, want the same leader in epoch %d", a, s.LeaderEpoch+1)
	}
	a = must[protocol.AdminResponse](t, c, c.active(), &protocol.AlterReassignmentRequest{Partition: t0, Replicas: s.Replicas})
	if a.Error != protocol.None || a.LeaderEpoch != s.LeaderEpoch+1 {
		t.Errorf("got %+v, want epoch %d still", a, s.LeaderEpoch+1)
	}
}

func TestTruthHasTheElectionsThatNobodyAskedFor(t *testing.T) {
	c := newCluster(t, 7, Cluster(3, 3, 3))
	c.ready(t)
	asked := must[protocol.AdminResponse](t, c, c.active(), &protocol.ElectLeadersRequest{Partition: t0, Target: 2})
	at := c.Now()
	c.Crash("b2")
	c.await(t, "failed over", func() bool {
		for _, p := range c.broker(1).image.Partitions() {
			if c.broker(1).image.Partition(p).Leader == 2 {
				return false
			}
		}
		return true
	})
	truth, err := Truth(c.invariants.Committed())
	if err != nil {
		t.Fatal(err)
	}
	last := map[protocol.Partition]Change{}
	unasked := 0
	for _, ch := range truth {
		if l, ok := last[ch.Partition]; ok {
			if ch.LeaderEpoch != l.LeaderEpoch+1 || ch.Offset <= l.Offset {
				t.Errorf("%+v follows %+v", ch, l)
			}
			if ch.Offset != asked.Version {
				unasked++
				if l.Leader != 2 || ch.Leader == 2 || ch.Appended < at+c.cfg.withDefaults().SessionTimeout-2*time.Second || ch.Committed < ch.Appended {
					t.Errorf("%+v after the crash of broker 2 at %v", ch, at)
				}
			}
		}
		last[ch.Partition] = ch
	}
	// Broker 2 led the first partition, because it was asked to, and the second.
	if unasked != 2 || len(last) != 3 {
		t.Errorf("%d elections by themselves over %d partitions: %+v", unasked, len(last), truth)
	}
}

func TestARestartedBrokerServesWhenItIsRegisteredAnew(t *testing.T) {
	c := newCluster(t, 8, Cluster(3, 3, 3))
	c.ready(t)
	first := c.broker(2).epoch
	c.Crash("b2")
	c.Restart("b2")
	c.mustRun(t, c.Now()+time.Second)
	a := must[protocol.MetadataResponse](t, c, "b2", &protocol.MetadataRequest{Partition: t0, Path: protocol.ReadBroker})
	if a.Error != BrokerNotAvailable {
		t.Errorf("before its earlier incarnation's session has ended it answers %+v", a)
	}
	c.await(t, "serving", func() bool { return c.broker(2).Serving() })
	if e := c.broker(2).epoch; e <= first {
		t.Errorf("broker epoch %d after %d", e, first)
	}
}

func TestNobodyAnswersFromBeforeItsRestart(t *testing.T) {
	c := newCluster(t, 9, Cluster(3, 3, 1))
	c.ready(t)
	standby := c.cfg.Controllers[(slices.Index(c.cfg.Controllers, c.active())+1)%3]
	asked := []node.ID{standby, "b1"}
	latest := map[node.ID]int64{}
	for restarts := 0; c.Now() < 60*time.Second; {
		if restarts < 3 && c.Now() > time.Duration(restarts+1)*15*time.Second {
			restarts++
			for _, id := range asked {
				c.Crash(id)
				c.Restart(id)
			}
			c.mustRun(t, c.Now()+time.Millisecond)
		}
		for _, id := range asked {
			m := must[protocol.MetadataResponse](t, c, id, &protocol.MetadataRequest{Partition: t0, Path: protocol.ReadBroker})
			switch {
			case m.Error == BrokerNotAvailable:
			case m.Offset < latest[id]:
				t.Fatalf("after offset %d %s answers from %d", latest[id], id, m.Offset)
			default:
				latest[id] = m.Offset
			}
		}
		c.mustRun(t, c.Now()+20*time.Millisecond)
	}
	for _, id := range asked {
		if latest[id] < 50 {
			t.Errorf("the last answer of %s was from offset %d", id, latest[id])
		}
	}
}

func TestGuardsHaveNames(t *testing.T) {
	all := AllGuards()
	for _, name := range GuardNames() {
		g := all
		if err := g.Set(name, false); err != nil || g == all {
			t.Errorf("%s: %v, changed %t", name, err, g != all)
		}
	}
	for _, name := range ExtraGuardNames() {
		g := all
		if err := g.Set(name, true); err != nil || g == all {
			t.Errorf("%s: %v, changed %t", name, err, g != all)
		}
	}
	if err := all.Set("luck", true); err == nil {
		t.Error("no error for a guard that does not exist")
	}
	var covered []string
	for _, e := range earned {
		covered = append(covered, e.guard)
	}
	slices.Sort(covered)
	if names := slices.Sorted(slices.Values(GuardNames())); !slices.Equal(covered, names) {
		t.Errorf("guards shown to be needed: %v, guards: %v", covered, names)
	}
}

func TestConfigsThatNoClusterCanBeMadeOf(t *testing.T) {
	for rule, spoil := range map[string]func(*Config){
		"no controllers":                                   func(c *Config) { c.Controllers = nil },
		"a broker without a number":                        func(c *Config) { c.Brokers[0] = 0 },
		"a broker twice":                                   func(c *Config) { c.Brokers[0] = c.Brokers[1] },
		"more replicas than brokers":                       func(c *Config) { c.Topics[0].Replication = 4 },
		"a topic without partitions":                       func(c *Config) { c.Topics[0].Partitions = 0 },
		"a topic without a name":                           func(c *Config) { c.Topics[0].Name = "" },
		"so many controllers that a word cannot hold them": func(c *Config) { c.Controllers = make([]node.ID, 65) },
	} {
		t.Run(rule, func(t *testing.T) {
			cfg := Cluster(3, 3, 3)
			if err := cfg.Validate(); err != nil {
				t.Fatal(err)
			}
			spoil(&cfg)
			if err := Add(sim.New(sim.Config{}), cfg); err == nil {
				t.Error("no error")
			}
		})
	}
}

func TestSameSeedSameRun(t *testing.T) {
	run := func(seed uint64) (uint64, uint64) {
		h := fnv.New64a()
		s := ordinary
		s.length = 8 * time.Second
		s.world.Trace = true
		w, err := blow(t, seed, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range w.Trace() {
			fmt.Fprintf(h, "%d %v %s %s %d %+v\n", e.At, e.Kind, e.Node, e.To, e.ID, e.Trace)
		}
		return h.Sum64(), w.Events()
	}
	seen := map[uint64]bool{}
	for seed := range uint64(seeds(t, 8)) {
		a, n := run(seed)
		b, m := run(seed)
		if a != b || n != m {
			t.Errorf("seed %d: two runs of %d and %d events differ", seed, n, m)
		}
		seen[a] = true
	}
	if len(seen) < 2 {
		t.Error("different seeds give the same run")
	}
}

// BenchmarkCluster simulates the default cluster, 3 controllers, 5 brokers, 12
// partitions, with 20 clients of 10 requests a second each: nine questions of who
// leads to one change of it.
func BenchmarkCluster(b *testing.B) {
	const clients, rate = 20, 10
	for _, watched := range []bool{false, true} {
		b.Run(fmt.Sprintf("watched=%t", watched), func(b *testing.B) {
			c := newCluster(b, 1, Cluster(3, 5, 12))
			c.ready(b)
			r, nobody := stream(1), func(node.Message, error) {}
			var request func()
			request = func() {
				p := protocol.Partition{Topic: "t", Index: int32(r.IntN(12))}
				switch k := r.IntN(10); {
				case k == 0:
					m := &protocol.ElectLeadersRequest{Partition: p, Target: int32(1 + r.IntN(5))}
					c.client.env.Call(c.active(), m, time.Second, nobody)
				case k < 3:
					m := &protocol.MetadataRequest{Partition: p, Path: protocol.ReadQuorum}
					c.client.env.Call(c.active(), m, time.Second, nobody)
				default:
					m := &protocol.MetadataRequest{Partition: p, Path: protocol.ReadBroker}
					c.client.env.Call(BrokerNode(int32(1+r.IntN(5))), m, time.Second, nobody)
				}
				c.At(c.Now()+time.Second/clients/rate, request)
			}
			c.At(c.Now(), request)
			events, start := c.Events(), c.Now()
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				if watched {
					c.mustRun(b, c.Now()+time.Second)
				} else {
					c.Run(c.Now() + time.Second)
				}
			}
			b.ReportMetric((c.Now()-start).Seconds()/b.Elapsed().Seconds(), "simulated-s/s")
			b.ReportMetric(float64(c.Events()-events)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
