package push

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/sim"
)

// loneBroker is broker 2, registered and with no controller about, that hears
// pushes from a test.
func loneBroker(t *testing.T, change func(*Config)) *testCluster {
	t.Helper()
	c := &testCluster{t: t, cfg: DefaultConfig(), nodes: map[string]topicNode{}}
	if change != nil {
		change(&c.cfg)
	}
	c.w = sim.New(sim.Config{Seed: 1, Store: &sim.StoreConfig{SessionTimeout: 6 * time.Second}})
	c.add("b2", NewBroker(c.cfg))
	c.addClient()
	c.w.Run(100 * time.Millisecond)
	return c
}

var t0 = protocol.Partition{Topic: "t", Index: 0}

// role is a LeaderAndIsr for t-0 on brokers 1 to 3.
func roleOf(controllerEpoch, leader, leaderEpoch, version int32) *LeaderAndISRRequest {
	return &LeaderAndISRRequest{
		Header: Header{Controller: 3001, ControllerEpoch: controllerEpoch, BrokerEpoch: noBrokerEpoch},
		Partitions: []PartitionState{{
			Partition: t0, Leader: leader, LeaderEpoch: leaderEpoch, Version: version,
			ISR: []int32{1, 2, 3}, Replicas: []int32{1, 2, 3},
		}},
	}
}

// metadataOf is an UpdateMetadata for t-0, with all brokers live.
func metadataOf(controllerEpoch, leader, leaderEpoch, version int32) *UpdateMetadataRequest {
	l := roleOf(controllerEpoch, leader, leaderEpoch, version)
	return &UpdateMetadataRequest{Header: l.Header, Partitions: l.Partitions, LiveBrokers: []int32{1, 2, 3}}
}

func stopOf(controllerEpoch, leaderEpoch int32, remove bool) *StopReplicaRequest {
	return &StopReplicaRequest{
		Header:     Header{Controller: 3001, ControllerEpoch: controllerEpoch, BrokerEpoch: noBrokerEpoch},
		Partitions: []StopReplicaPartition{{Partition: t0, LeaderEpoch: leaderEpoch, Delete: remove}},
	}
}

func TestBrokerTakesOverOrRefuses(t *testing.T) {
	const begun, leading, following = "no role", "leads", "follows"
	alive := metadataOf(7, 1, 4, 4)
	for _, tt := range []struct {
		name   string
		off    string
		pushes []node.Message
		role   string
		epoch  int32  // of the role
		cache  string // leader and epoch in the cache
		codes  []protocol.Code
	}{{
		name:   "a role of a higher leader epoch is taken over",
		pushes: []node.Message{alive, roleOf(7, 1, 4, 4), roleOf(7, 2, 5, 5)},
		role:   leading, epoch: 5, cache: "1 e4",
		codes: []protocol.Code{"", "", ""},
	}, {
		name:   "a role of a lower leader epoch is ignored",
		pushes: []node.Message{alive, roleOf(7, 2, 5, 5), roleOf(7, 1, 4, 4)},
		role:   leading, epoch: 5, cache: "1 e4",
		codes: []protocol.Code{"", "", protocol.StaleControllerEpoch},
	}, {
		name:   "a role of the same leader epoch is ignored, be it news",
		pushes: []node.Message{alive, roleOf(7, 2, 5, 5), roleOf(7, 1, 5, 6)},
		role:   leading, epoch: 5, cache: "1 e4",
		codes: []protocol.Code{"", "", protocol.StaleControllerEpoch},
	}, {
		name:   "without the leader epoch check the last role wins",
		off:    "leader-epoch-check",
		pushes: []node.Message{alive, roleOf(7, 2, 5, 5), roleOf(7, 1, 4, 4)},
		role:   following, epoch: 4, cache: "1 e4",
		codes: []protocol.Code{"", "", ""},
	}, {
		name:   "metadata is taken over whatever its leader epoch: the last writer wins",
		pushes: []node.Message{metadataOf(7, 2, 5, 5), metadataOf(7, 1, 4, 4)},
		role:   begun, epoch: noEpoch, cache: "1 e4",
		codes: []protocol.Code{"", ""},
	}, {
		name:   "a push of an older controller epoch is refused",
		pushes: []node.Message{metadataOf(8, 2, 5, 5), metadataOf(7, 1, 6, 6), roleOf(7, 2, 6, 6), stopOf(7, 6, true)},
		role:   begun, epoch: noEpoch, cache: "2 e5",
		codes: []protocol.Code{"", protocol.StaleControllerEpoch, protocol.StaleControllerEpoch, protocol.StaleControllerEpoch},
	}, {
		name:   "without the controller epoch gate a zombie's push is taken over",
		off:    "controller-epoch-gate",
		pushes: []node.Message{metadataOf(8, 2, 5, 5), metadataOf(7, 1, 4, 4)},
		role:   begun, epoch: noEpoch, cache: "1 e4",
		codes: []protocol.Code{"", ""},
	}, {
		name:   "a leader that is not in the cache of live brokers is not followed, and nobody is told",
		pushes: []node.Message{roleOf(7, 2, 5, 5), roleOf(7, 3, 6, 6)},
		role:   leading, epoch: 5, cache: "none",
		codes: []protocol.Code{"", ""},
	}, {
		name:   "a role without a leader is not taken over either",
		pushes: []node.Message{alive, roleOf(7, 2, 5, 5), roleOf(7, protocol.NoLeader, 6, 6)},
		role:   leading, epoch: 5, cache: "1 e4",
		codes: []protocol.Code{"", "", ""},
	}, {
		name:   "StopReplica of the role's own leader epoch ends it",
		pushes: []node.Message{roleOf(7, 2, 5, 5), stopOf(7, 5, false)},
		role:   begun, epoch: 5, cache: "none",
		codes: []protocol.Code{"", ""},
	}, {
		name:   "StopReplica of an older leader epoch is fenced",
		pushes: []node.Message{roleOf(7, 2, 5, 5), stopOf(7, 4, false)},
		role:   leading, epoch: 5, cache: "none",
		codes: []protocol.Code{"", protocol.FencedLeaderEpoch},
	}, {
		name:   "StopReplica without a leader epoch is obeyed",
		pushes: []node.Message{roleOf(7, 2, 5, 5), stopOf(7, -1, false)},
		role:   begun, epoch: 5, cache: "none",
		codes: []protocol.Code{"", ""},
	}, {
		name:   "the leader of a deleted partition makes the cache forget it",
		pushes: []node.Message{alive, metadataOf(7, leaderDuringDelete, 5, 5)},
		role:   begun, epoch: noEpoch, cache: "none",
		codes: []protocol.Code{"", ""},
	}} {
		t.Run(tt.name, func(t *testing.T) {
			c := loneBroker(t, func(cfg *Config) {
				if tt.off != "" {
					if err := cfg.Guards.Set(tt.off, false); err != nil {
						t.Fatal(err)
					}
				}
			})
			var codes []protocol.Code
			for _, m := range tt.pushes {
				answer, err := c.ask("b2", m)
				if err != nil {
					t.Fatal(err)
				}
				codes = append(codes, firstCode(answer))
			}
			if !slices.Equal(codes, tt.codes) {
				t.Errorf("answers %q, want %q", codes, tt.codes)
			}
			b := c.broker(2)
			role, epoch := begun, noEpoch
			if r := b.byID[t0]; r != nil {
				role, epoch = []string{begun, leading, following}[r.role], r.leaderEpoch
			}
			if role != tt.role || epoch != tt.epoch {
				t.Errorf("broker %s in e%d, want %s in e%d", role, epoch, tt.role, tt.epoch)
			}
			cache := "none"
			if leader, epoch, _, ok := b.Believes(t0); ok {
				cache = fmt.Sprintf("%d e%d", leader, epoch)
			}
			if cache != tt.cache {
				t.Errorf("cache holds %s, want %s", cache, tt.cache)
			}
		})
	}
}

func firstCode(m node.Message) protocol.Code {
	switch a := m.(type) {
	case *LeaderAndISRResponse:
		if a.Error != protocol.None {
			return a.Error
		}
		return a.Partitions[0]
	case *StopReplicaResponse:
		if a.Error != protocol.None {
			return a.Error
		}
		return a.Partitions[0]
	case *UpdateMetadataResponse:
		return a.Error
	}
	return "no answer to a push"
}

func TestBrokerEpochTellsIncarnationsApart(t *testing.T) {
	for _, tt := range []struct {
		name    string
		guard   bool
		offered int64 // added to the broker's own epoch
		want    protocol.Code
	}{
		{"a push for the former life is refused", true, -1, protocol.StaleBrokerEpoch},
		{"a push for this life is heard", true, 0, protocol.None},
		{"a push for a life the broker has not heard of yet is heard (KAFKA-9839)", true, 1, protocol.None},
		{"without the guard, a push for the former life is heard", false, -1, protocol.None},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := loneBroker(t, func(cfg *Config) { cfg.Guards.BrokerEpoch = tt.guard })
			r := metadataOf(1, 1, 0, 0)
			r.BrokerEpoch = c.broker(2).epoch + tt.offered
			answer, err := c.ask("b2", r)
			if err != nil {
				t.Fatal(err)
			}
			if got := firstCode(answer); got != tt.want {
				t.Errorf("answer %q, want %q", got, tt.want)
			}
		})
	}
}

func TestRestartForgetsTheControllerEpoch(t *testing.T) {
	c := loneBroker(t, nil)
	old := metadataOf(7, 1, 4, 4)
	for _, m := range []node.Message{metadataOf(8, 2, 5, 5), old} {
		if _, err := c.ask("b2", m); err != nil {
			t.Fatal(err)
		}
	}
	if leader, _, _, _ := c.broker(2).Believes(t0); leader != 2 {
		t.Fatalf("before the restart the broker believes in %d, want 2", leader)
	}
	c.w.Crash("b2")
	c.w.Restart("b2")
	if _, err := c.ask("b2", old); err != nil {
		t.Fatal(err)
	}
	if leader, _, _, _ := c.broker(2).Believes(t0); leader != 1 {
		t.Errorf("after the restart the broker believes in %d, want 1: the gate is kept in memory only", leader)
	}
}

func TestMetadataIsAnsweredFromTheCache(t *testing.T) {
	c := loneBroker(t, nil)
	ask := func(path protocol.ReadPath) protocol.MetadataResponse {
		t.Helper()
		answer, err := c.ask("b2", &protocol.MetadataRequest{Partition: t0, Path: path})
		if err != nil {
			t.Fatal(err)
		}
		return *answer.(*protocol.MetadataResponse)
	}
	if a := ask(protocol.ReadBroker); a.Error != protocol.UnknownTopicOrPartition || a.Leader != protocol.NoLeader {
		t.Errorf("an empty cache answers %+v", a)
	}
	if _, err := c.ask("b2", metadataOf(1, 3, 2, 9)); err != nil {
		t.Fatal(err)
	}
	if a := ask(protocol.ReadBroker); a.Error != protocol.None || a.Leader != 3 || a.LeaderEpoch != 2 || a.Controller != "c1" || a.Offset != protocol.NoOffset {
		t.Errorf("the cache answers %+v", a)
	}
	r := metadataOf(1, 3, 2, 9)
	r.LiveBrokers, r.Partitions = []int32{1, 2}, nil
	if _, err := c.ask("b2", r); err != nil {
		t.Fatal(err)
	}
	if a := ask(protocol.ReadBroker); a.Error != protocol.LeaderNotAvailable || a.Leader != protocol.NoLeader || a.LeaderEpoch != 2 {
		t.Errorf("with its leader gone the cache answers %+v", a)
	}
	if a := ask(protocol.ReadQuorum); a.Error != protocol.UnsupportedVersion {
		t.Errorf("a path that brokers do not have answers %+v", a)
	}
}

func TestBrokerWaitsForItsFormerRegistrationToGo(t *testing.T) {
	c := loneBroker(t, nil)
	before := c.broker(2).epoch
	c.w.Crash("b2")
	c.w.Restart("b2")
	c.w.Run(c.w.Now() + time.Second)
	if b := c.broker(2); b.epoch != noBrokerEpoch {
		t.Errorf("registered under epoch %d while the former node was there", b.epoch)
	}
	c.w.Run(c.w.Now() + 7*time.Second)
	if b := c.broker(2); b.epoch <= before {
		t.Errorf("broker epoch %d after %d", b.epoch, before)
	}
}
