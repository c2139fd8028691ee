package kraft

import (
	"slices"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/systems/kraft/raft"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

func TestANodeTellsOfTheWholeCluster(t *testing.T) {
	c := newCluster(t, 3, Cluster(3, 4, 12))
	c.mustRun(t, 10*time.Millisecond)
	early := must[protocol.ClusterResponse](t, c, "b1", &protocol.ClusterRequest{})
	if early.Error != BrokerNotAvailable || len(early.Brokers)+len(early.Partitions) > 0 {
		t.Errorf("before it serves, a broker tells %+v", early)
	}
	c.ready(t)
	for _, id := range c.nodes {
		all := must[protocol.ClusterResponse](t, c, id, &protocol.ClusterRequest{})
		if all.Error != protocol.None || !slices.Equal(all.Brokers, c.cfg.Brokers) || all.Controller != string(c.active()) {
			t.Errorf("%s tells of brokers %v and controller %s (%s)", id, all.Brokers, all.Controller, all.Error)
		}
		if len(all.Partitions) != 12 || !slices.IsSortedFunc(all.Partitions, func(a, b protocol.Belief) int { return a.Partition.Compare(b.Partition) }) {
			t.Errorf("%s tells of %d partitions: expected 12 in order", id, len(all.Partitions))
		}
		for _, p := range all.Partitions {
			one := must[protocol.MetadataResponse](t, c, id, &protocol.MetadataRequest{Partition: p.Partition, Path: protocol.ReadBroker})
			if p.Leader != one.Leader || p.LeaderEpoch != one.LeaderEpoch || !slices.Equal(p.ISR, one.ISR) || len(p.Replicas) != 3 {
				t.Errorf("%s tells %+v of a partition in general and %+v in particular", id, p, one)
			}
		}
		none := must[protocol.ClusterResponse](t, c, id, &protocol.ClusterRequest{Topics: []string{"u"}})
		if len(none.Partitions) > 0 {
			t.Errorf("%s tells %+v of a topic that is not there", id, none.Partitions)
		}
	}
}

func TestThePreferredLeaderIsTheFirstReplica(t *testing.T) {
	c := newCluster(t, 4, Cluster(3, 4, 1))
	c.ready(t)
	s := c.broker(1).image.Partition(t0)
	preferred := s.Replicas[0]
	elect := func(target int32) *protocol.AdminResponse {
		return must[protocol.AdminResponse](t, c, c.active(), &protocol.ElectLeadersRequest{Partition: t0, Target: target})
	}
	if a := elect(s.Replicas[1]); a.Error != protocol.None {
		t.Fatalf("moved away: %+v", a)
	}
	if a := elect(protocol.NoLeader); a.Error != protocol.None || a.Leader != preferred {
		t.Errorf("the preferred leader was asked for: %+v, want %d", a, preferred)
	}
	if a := elect(protocol.NoLeader); a.Error != protocol.ElectionNotNeeded {
		t.Errorf("the preferred leader leads: %+v", a)
	}
}

func TestAnObserverStandsForNothing(t *testing.T) {
	c := newCluster(t, 5, Cluster(3, 4, 1))
	c.ready(t)
	s := c.broker(1).Replica().Standing()
	must[raft.EndQuorumEpochResponse](t, c, "b1", &raft.EndQuorumEpochRequest{Leader: s.Leader, Epoch: s.Epoch, Preferred: []node.ID{"b1"}})
	c.mustRun(t, c.Now()+5*time.Second)
	if role := c.broker(1).Replica().Role(); role != raft.Follower && role != raft.Unattached {
		t.Errorf("a broker that was asked to stand is %v", role)
	}
	if now := c.broker(1).Replica().Standing(); now != s {
		t.Errorf("the quorum stands at %+v after %+v", now, s)
	}
}
