package push

import (
	"slices"
	"testing"

	"github.com/stalemate-io/stalemate/systems/protocol"
)

func TestANodeTellsOfTheWholeCluster(t *testing.T) {
	c := settled(t, nil)
	active := ControllerID(c.active())
	for n := int32(1); n <= 5; n++ {
		compareBeliefs(t, c, n)
	}
	all := request[*protocol.ClusterResponse](c, active, &protocol.ClusterRequest{})
	if all.Error != protocol.None || !slices.Equal(all.Brokers, []int32{1, 2, 3, 4, 5}) || len(all.Partitions) != len(c.cfg.Partitions()) {
		t.Errorf("the active controller tells %+v", all)
	}
	for n := int32(1); n <= 3; n++ {
		if id := ControllerID(n); id != active {
			a := request[*protocol.ClusterResponse](c, id, &protocol.ClusterRequest{})
			if a.Error != protocol.NotController || a.Controller != string(active) || len(a.Partitions) > 0 {
				t.Errorf("%s, which is not active, tells %+v", id, a)
			}
		}
	}
}

// compareBeliefs expects of a broker that it tells of all partitions what it tells
// of each.
func compareBeliefs(t *testing.T, c *testCluster, n int32) {
	t.Helper()
	all := request[*protocol.ClusterResponse](c, BrokerID(n), &protocol.ClusterRequest{})
	if !slices.Equal(all.Brokers, []int32{1, 2, 3, 4, 5}) || all.Controller != string(ControllerID(c.active())) {
		t.Errorf("b%d tells of brokers %v and controller %s", n, all.Brokers, all.Controller)
	}
	if len(all.Partitions) != len(c.cfg.Partitions()) ||
		!slices.IsSortedFunc(all.Partitions, func(a, b protocol.Belief) int { return a.Partition.Compare(b.Partition) }) {
		t.Errorf("b%d tells of %d partitions: expected %d in order", n, len(all.Partitions), len(c.cfg.Partitions()))
	}
	for _, p := range all.Partitions {
		one := request[*protocol.MetadataResponse](c, BrokerID(n), &protocol.MetadataRequest{Partition: p.Partition, Path: protocol.ReadBroker})
		if p.Leader != one.Leader || p.LeaderEpoch != one.LeaderEpoch || !slices.Equal(p.ISR, one.ISR) {
			t.Errorf("b%d tells %+v of a partition in general and %+v in particular", n, p, one)
		}
		if !slices.Equal(p.Replicas, c.assigned(p.Partition)) {
			t.Errorf("b%d tells of replicas %v of %s, assigned are %v", n, p.Replicas, p.Partition, c.assigned(p.Partition))
		}
	}
	if none := request[*protocol.ClusterResponse](c, BrokerID(n), &protocol.ClusterRequest{Topics: []string{"u"}}); len(none.Partitions) > 0 {
		t.Errorf("b%d tells %+v of a topic that is not there", n, none.Partitions)
	}
}

func TestThePreferredLeaderIsTheFirstReplica(t *testing.T) {
	c := settled(t, nil) // t-0 is on 1, 2, 3
	elect := func(target int32) *protocol.AdminResponse {
		return request[*protocol.AdminResponse](c, ControllerID(c.active()), &protocol.ElectLeadersRequest{Partition: t0, Target: target})
	}
	if a := elect(2); a.Error != protocol.None {
		t.Fatalf("moved away: %+v", a)
	}
	if a := elect(protocol.NoLeader); a.Error != protocol.None || a.Leader != 1 {
		t.Errorf("the preferred leader was asked for: %+v", a)
	}
	if a := elect(protocol.NoLeader); a.Error != protocol.ElectionNotNeeded {
		t.Errorf("the preferred leader leads: %+v", a)
	}
}
