package kraft

import (
	"slices"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/systems/protocol"
)

// TestTheLatestIsKnownOnceTheHighWatermarkIs moves a partition to a follower that
// has a value which another in-sync replica, cut off, has not.
func TestTheLatestIsKnownOnceTheHighWatermarkIs(t *testing.T) {
	c := newCluster(t, 5, Cluster(3, 3, 1))
	c.ready(t)
	s := c.broker(1).image.Partition(t0)
	to := s.ISR[1]
	if a := must[protocol.FetchResponse](t, c, BrokerNode(s.Leader), &protocol.FetchRequest{
		Partition: t0, Offset: protocol.LatestOffset, LeaderEpoch: -1,
	}); a.Error != protocol.None || len(a.Values) > 0 || a.HighWatermark != 0 {
		t.Errorf("an empty partition: %+v", a)
	}
	heal := c.isolate(BrokerNode(s.ISR[2]))
	must[protocol.ProduceResponse](t, c, BrokerNode(s.Leader), &protocol.ProduceRequest{Partition: t0, Value: 9, LeaderEpoch: -1})
	c.await(t, "copied", func() bool { return c.broker(to).roles.byName[t0].log.End() == 1 })
	must[protocol.AdminResponse](t, c, c.active(), &protocol.ElectLeadersRequest{Partition: t0, Target: to})
	early, late := 0, 0
	ask := func() bool {
		a := must[protocol.FetchResponse](t, c, BrokerNode(to), &protocol.FetchRequest{Partition: t0, Offset: protocol.LatestOffset, LeaderEpoch: -1})
		switch {
		case a.Error == protocol.OffsetNotAvailable:
			early++
			heal()
			heal = func() {}
		case a.Error == protocol.None && slices.Equal(a.Values, []int64{9}) && a.HighWatermark == 1:
			late++
		case a.Error == protocol.None:
			t.Errorf("an old value: %+v", a)
			return true
		}
		return late > 0
	}
	c.await(t, "readable at the new leader", ask)
	if early == 0 {
		t.Error("the new leader knew the high watermark from the start: nothing was tested")
	}
}

// TestAFencedBrokerServesWhenItKnowsThatItWas sends the heartbeat of a broker that
// is back and has applied little of the log.
func TestAFencedBrokerServesWhenItKnowsThatItWas(t *testing.T) {
	for _, r := range []struct {
		rule  string
		self  bool
		short int64 // of the log with its fencing
		want  bool
	}{
		{"Kafka asks only that it has applied its registration", false, 1, true},
		{"with self-fencing, its fencing too", true, 1, false},
		{"and that is enough", true, 0, true},
	} {
		t.Run(r.rule, func(t *testing.T) {
			cfg := Cluster(1, 3, 1)
			cfg.Guards.SelfFencing = r.self
			c := newCluster(t, 3, cfg)
			c.ready(t)
			epoch := c.broker(2).epoch
			c.isolate(BrokerNode(2))
			c.await(t, "fenced", func() bool { return c.broker(1).image.Broker(2).Fenced })
			active := c.controller(c.active()).active
			fenced := active.fencedAt[2]
			if fenced <= epoch {
				t.Fatalf("fenced at %d, registered at %d", fenced, epoch)
			}
			a := must[BrokerHeartbeatResponse](t, c, c.active(), &BrokerHeartbeatRequest{Broker: 2, Epoch: epoch, Applied: fenced - r.short})
			if a.Fenced == r.want || a.Error != protocol.None {
				t.Errorf("got %+v", a)
			}
			c.mustRun(t, c.Now()+time.Second)
			if got := !c.broker(1).image.Broker(2).Fenced; got != r.want {
				t.Errorf("unfenced: %t, want %t", got, r.want)
			}
		})
	}
}
