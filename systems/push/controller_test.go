package push

import (
	"slices"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/sim"
)

// request asks and expects an answer of a type.
func request[A node.Message](c *testCluster, to node.ID, m node.Message) A {
	c.t.Helper()
	answer, err := c.ask(to, m)
	if err != nil {
		c.t.Fatalf("%T to %s: %v", m, to, err)
	}
	a, ok := answer.(A)
	if !ok {
		c.t.Fatalf("%T to %s was answered with %T", m, to, answer)
	}
	return a
}

func settled(t *testing.T, change func(*Config)) *testCluster {
	t.Helper()
	c := newCluster3x5(t, 1, func(cfg *Config, _ *sim.Config) {
		if change != nil {
			change(cfg)
		}
	})
	c.settle()
	return c
}

func TestOnlyTheActiveControllerServes(t *testing.T) {
	c := settled(t, nil)
	active := ControllerID(c.active())
	for n := int32(1); n <= 3; n++ {
		id := ControllerID(n)
		admin := request[*protocol.AdminResponse](c, id, &protocol.ElectLeadersRequest{Partition: t0, Target: 2})
		view := request[*protocol.MetadataResponse](c, id, &protocol.MetadataRequest{Partition: t0, Path: protocol.ReadLeader})
		if id == active {
			if admin.Error != protocol.None || admin.Leader != 2 || admin.LeaderEpoch != 1 || admin.Version != 1 {
				t.Errorf("the active controller answers %+v", admin)
			}
			if view.Error != protocol.None || view.Leader != 2 || view.LeaderEpoch != 1 {
				t.Errorf("the active controller knows %+v", view)
			}
			continue
		}
		if admin.Error != protocol.NotController || admin.Controller != string(active) {
			t.Errorf("%s answers %+v, want a hint at %s", id, admin, active)
		}
		if view.Error != protocol.NotController {
			t.Errorf("%s knows %+v", id, view)
		}
	}
}

func TestElectLeaders(t *testing.T) {
	c := settled(t, nil) // t-0 is on 1, 2, 3
	c.w.Crash("b3")
	c.w.Run(c.w.Now() + 10*time.Second)
	before, _ := c.truth(t0)
	for _, tt := range []struct {
		name      string
		partition protocol.Partition
		target    int32
		want      protocol.Code
	}{
		{"who leads already needs no election", t0, before.Leader, protocol.ElectionNotNeeded},
		{"who is down cannot lead", t0, 3, protocol.EligibleLeadersNotAvail},
		{"who has no replica cannot lead", t0, 5, protocol.EligibleLeadersNotAvail},
		{"nobody leads a partition that is not there", protocol.Partition{Topic: "t", Index: 99}, 1, protocol.UnknownTopicOrPartition},
		{"an in-sync replica can lead", t0, 2, protocol.None},
	} {
		a := request[*protocol.AdminResponse](c, ControllerID(c.active()), &protocol.ElectLeadersRequest{Partition: tt.partition, Target: tt.target})
		if a.Error != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, a.Error, tt.want)
		}
	}
	if s, version := c.truth(t0); s.Leader != 2 || s.LeaderEpoch != before.LeaderEpoch+1 || version < 1 {
		t.Errorf("in the end the store holds %+v in version %d", s, version)
	}
}

func TestDeadLeaderIsReplacedAndComesBackInSync(t *testing.T) {
	c := settled(t, nil)
	c.w.Crash("b1")
	c.w.Run(c.w.Now() + 8*time.Second)
	s, _ := c.truth(t0)
	if s.Leader != 2 || s.LeaderEpoch != 1 || !slices.Equal(s.ISR, []int32{2, 3}) {
		t.Errorf("after the leader died the store holds %+v", s)
	}
	c.w.Restart("b1")
	c.settle()
	c.w.Run(c.w.Now() + 2*time.Second)
	if s, _ = c.truth(t0); s.Leader != 2 || !sameSet(s.ISR, []int32{1, 2, 3}) {
		t.Errorf("after it came back the store holds %+v", s)
	}
}

func TestLastInSyncReplicaStaysWhenItDies(t *testing.T) {
	c := settled(t, nil)
	for _, id := range []node.ID{"b2", "b3", "b1"} { // the replicas of t-0
		c.w.Crash(id)
		c.w.Run(c.w.Now() + 8*time.Second)
	}
	if s, _ := c.truth(t0); s.Leader != protocol.NoLeader || !slices.Equal(s.ISR, []int32{1}) {
		t.Errorf("the store holds %+v, want no leader and 1 in sync", s)
	}
	c.w.Restart("b2") // alive, and not in sync
	c.w.Run(c.w.Now() + 8*time.Second)
	if s, _ := c.truth(t0); s.Leader != protocol.NoLeader {
		t.Errorf("%d leads, who is not in sync", s.Leader)
	}
	c.w.Restart("b1")
	c.w.Run(c.w.Now() + 8*time.Second)
	if s, _ := c.truth(t0); s.Leader != 1 || !sameSet(s.ISR, []int32{1, 2}) {
		t.Errorf("the store holds %+v, want 1 to lead and 2 back in sync", s)
	}
}

func TestReassignmentMovesDataAndLeadership(t *testing.T) {
	c := settled(t, nil)
	for v := int64(1); v <= 3; v++ {
		a := request[*protocol.ProduceResponse](c, "b1", &protocol.ProduceRequest{Partition: t0, Value: v, AcksAll: true, LeaderEpoch: 0})
		if a.Error != protocol.None || a.Offset != v-1 {
			t.Fatalf("produce: %+v", a)
		}
	}
	a := request[*protocol.AdminResponse](c, ControllerID(c.active()), &protocol.AlterReassignmentRequest{Partition: t0, Replicas: []int32{4, 5, 1}})
	if a.Error != protocol.None || a.Leader != 1 || a.LeaderEpoch != 1 {
		t.Fatalf("the move is answered with %+v, want it under way with leader 1", a)
	}
	c.w.Run(c.w.Now() + 3*time.Second)
	c.settle()
	s, _ := c.truth(t0)
	if s.Leader != 4 || !sameSet(s.ISR, []int32{1, 4, 5}) || !slices.Equal(c.assigned(t0), []int32{4, 5, 1}) {
		t.Errorf("the store holds %+v on %v", s, c.assigned(t0))
	}
	got := request[*protocol.FetchResponse](c, "b4", &protocol.FetchRequest{Partition: t0, LeaderEpoch: s.LeaderEpoch})
	if got.Error != protocol.None || !slices.Equal(got.Values, []int64{1, 2, 3}) {
		t.Errorf("the new leader has %+v", got)
	}
	for _, n := range []int32{2, 3} {
		if r := c.broker(n).byID[t0]; r.role != noRole || r.log.end() != 0 {
			t.Errorf("b%d kept role %d and %d records", n, r.role, r.log.end())
		}
	}
}

func TestReassignmentGoesOnAfterAFailover(t *testing.T) {
	c := settled(t, nil)
	old := c.active()
	// The controller dies as soon as the plan is written down.
	if err := c.w.Schedule([]sim.Fault{{
		At: c.w.Now(), Kind: "kill-node", Nodes: []node.ID{ControllerID(old)},
		On: &sim.Trigger{Node: ControllerID(old), What: TraceStoreWrite, Nth: 1},
	}}, 0); err != nil {
		t.Fatal(err)
	}
	c.client.Send(ControllerID(old), &protocol.AlterReassignmentRequest{Partition: t0, Replicas: []int32{4, 5}})
	c.w.Run(c.w.Now() + 12*time.Second)
	c.settle()
	if s, _ := c.truth(t0); s.Leader != 4 || !sameSet(s.ISR, []int32{4, 5}) || !slices.Equal(c.assigned(t0), []int32{4, 5}) {
		t.Errorf("the store holds %+v on %v", s, c.assigned(t0))
	}
	if c.active() == old {
		t.Error("the old controller is still active: the fault did not strike")
	}
}

func TestControlledShutdownHandsLeadershipOver(t *testing.T) {
	c := settled(t, nil)
	a := request[*ShutdownResponse](c, "b1", &ShutdownRequest{})
	if len(a.Remaining) > 0 {
		t.Errorf("it still led %v", a.Remaining)
	}
	for _, p := range c.cfg.Partitions() {
		if s, _ := c.truth(p); s.Leader == 1 || s.Leader == protocol.NoLeader || contains(s.ISR, 1) {
			t.Errorf("%v: %+v", p, s)
		}
	}
	if _, _, ok := c.w.Store().Get(brokerPath(1)); ok {
		t.Error("it is still registered")
	}
	if _, err := c.ask("b1", &protocol.MetadataRequest{Partition: t0}); err == nil {
		t.Error("it still answers")
	}
	c.w.Crash("b1")
	c.w.Restart("b1")
	c.settle()
}

func TestPreferredElectionGivesLeadershipBack(t *testing.T) {
	c := settled(t, func(cfg *Config) { cfg.PreferredElection = 5 * time.Second })
	request[*protocol.AdminResponse](c, ControllerID(c.active()), &protocol.ElectLeadersRequest{Partition: t0, Target: 3})
	if s, _ := c.truth(t0); s.Leader != 3 {
		t.Fatalf("leader %d, want 3", s.Leader)
	}
	c.w.Run(c.w.Now() + 6*time.Second)
	if s, _ := c.truth(t0); s.Leader != 1 || s.LeaderEpoch != 2 {
		t.Errorf("the store holds %+v, want the preferred leader 1 in epoch 2", s)
	}
}

func TestAlterPartitionIsAdmittedInKafkasOrder(t *testing.T) {
	c := settled(t, nil)
	// Move t-0 on to leader 2, e1, v1.
	request[*protocol.AdminResponse](c, ControllerID(c.active()), &protocol.ElectLeadersRequest{Partition: t0, Target: 2})
	c.w.Crash("b3")
	epoch := c.broker(2).epoch
	for _, tt := range []struct {
		name        string
		broker      int32
		brokerEpoch int64
		leaderEpoch int32
		version     int32
		isr         []int32
		top, code   protocol.Code
	}{
		{"another incarnation of the broker", 2, epoch - 1, 1, 1, []int32{2}, protocol.StaleBrokerEpoch, ""},
		{"a version ahead of the controller's: the controller must be the zombie", 2, epoch, 1, 2, []int32{2}, "", protocol.NotController},
		{"a leader epoch ahead of the controller's, likewise", 2, epoch, 2, 1, []int32{2}, "", protocol.NotController},
		{"a leader epoch behind", 2, epoch, 0, 0, []int32{2}, "", protocol.FencedLeaderEpoch},
		{"the set that it is already, whatever the version", 2, epoch, 1, 0, []int32{3, 2, 1}, "", ""},
		{"a version behind", 2, epoch, 1, 0, []int32{2}, "", protocol.InvalidUpdateVersion},
		{"a member that is not live", 2, epoch, 1, 1, []int32{2, 9}, "", codeIneligibleReplica},
		{"a change in order", 2, epoch, 1, 1, []int32{1, 2}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := request[*AlterPartitionResponse](c, ControllerID(c.active()), &AlterPartitionRequest{
				Broker: tt.broker, BrokerEpoch: tt.brokerEpoch,
				Partitions: []AlterPartition{{Partition: t0, LeaderEpoch: tt.leaderEpoch, Version: tt.version, ISR: tt.isr}},
			})
			if a.Error != tt.top {
				t.Fatalf("answer %q, want %q", a.Error, tt.top)
			}
			if tt.top == protocol.None && a.Partitions[0].Error != tt.code {
				t.Errorf("answer %+v, want %q", a.Partitions[0], tt.code)
			}
		})
	}
	if s, version := c.truth(t0); s.LeaderEpoch != 1 || version != 2 || !sameSet(s.ISR, []int32{1, 2}) {
		t.Errorf("in the end the store holds %+v in version %d; the leader epoch must not move", s, version)
	}
}

func TestFollowerThatLagsLeavesTheInSyncSet(t *testing.T) {
	for _, direct := range []bool{false, true} {
		c := settled(t, func(cfg *Config) { cfg.DirectISR = direct })
		if err := c.w.Schedule([]sim.Fault{{
			At: c.w.Now(), For: 20 * time.Second, Kind: "cut-one-way", Nodes: []node.ID{"b1"}, Peers: []node.ID{"b3"},
		}}, 0); err != nil {
			t.Fatal(err)
		}
		c.w.Run(c.w.Now() + time.Millisecond)
		start := c.w.Now()
		a := request[*protocol.ProduceResponse](c, "b1", &protocol.ProduceRequest{Partition: t0, Value: 1, AcksAll: true, LeaderEpoch: 0})
		if waited := c.w.Now() - start; a.Error != protocol.None || waited < c.cfg.ReplicaLagTimeMax {
			t.Errorf("direct %v: acks=all was answered %+v after %v, while a replica in sync did not have it", direct, a, waited)
		}
		if s, _ := c.truth(t0); !sameSet(s.ISR, []int32{1, 2}) || s.LeaderEpoch != 0 {
			t.Errorf("direct %v: the store holds %+v", direct, s)
		}
		c.w.Run(c.w.Now() + 25*time.Second)
		if s, _ := c.truth(t0); !sameSet(s.ISR, []int32{1, 2, 3}) {
			t.Errorf("direct %v: after the link healed the store holds %+v", direct, s)
		}
		if bad := c.disagreements(); len(bad) > 0 {
			t.Errorf("direct %v: %v", direct, bad)
		}
	}
}

func TestTruthListsElectionsNobodyAskedFor(t *testing.T) {
	c := settled(t, nil)
	request[*protocol.AdminResponse](c, ControllerID(c.active()), &protocol.ElectLeadersRequest{Partition: t0, Target: 3})
	c.w.Crash("b3")
	c.w.Run(c.w.Now() + 8*time.Second)
	changes, err := Truth(writes(c.w))
	if err != nil {
		t.Fatal(err)
	}
	var leaders []int32
	var last Change
	for _, n := range changes {
		if n.Partition != t0 {
			continue
		}
		if n.Version != int64(len(leaders)) || n.Zxid <= last.Zxid || n.At < last.At || n.By != ControllerID(c.active()) || !n.Moved {
			t.Errorf("after %+v comes %+v", last, n)
		}
		leaders, last = append(leaders, n.Leader), n
	}
	if !slices.Equal(leaders, []int32{1, 3, 1}) {
		t.Errorf("leaders of t-0 were %v, want 1, 3 by request, 1 by itself", leaders)
	}
}

func TestSameSeedSameRun(t *testing.T) {
	run := func() (uint64, []Change) {
		s := soak(t, 11, profile{crashes: true, late: true})
		changes, err := Truth(writes(s.w))
		if err != nil {
			t.Fatal(err)
		}
		return s.w.Events(), changes
	}
	events, changes := run()
	for range 3 {
		again, changesAgain := run()
		same := slices.EqualFunc(changes, changesAgain, func(a, b Change) bool {
			return a.State.equal(b.State) && a.Partition == b.Partition && a.At == b.At && a.Zxid == b.Zxid && a.By == b.By
		})
		if events != again || !same {
			t.Fatalf("the same seed took %d steps and then %d; same states: %v", events, again, same)
		}
	}
}
