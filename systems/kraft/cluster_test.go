package kraft

import (
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/systems/protocol"
)

func TestClusterElectsCreatesAndMovesLeaders(t *testing.T) {
	c := newCluster(t, 1, Cluster(3, 5, 12))
	c.ready(t)
	t.Log("ready at", c.Now(), "active", c.active())
	before := c.broker(1).image.Partition(t0)
	target := before.ISR[1]
	a := ask[protocol.AdminResponse](c, c.active(), &protocol.ElectLeadersRequest{Partition: t0, Target: target})
	c.await(t, "answered", func() bool { return a.done })
	if a.err != nil || a.message.Error != protocol.None || a.message.Leader != target || a.message.LeaderEpoch != before.LeaderEpoch+1 {
		t.Fatalf("got %+v, %v", a.message, a.err)
	}
	c.mustRun(t, c.Now()+time.Second)
	for _, n := range c.cfg.Brokers {
		s := c.broker(n).image.Partition(t0)
		if s.Leader != target || s.Offset != a.message.Version {
			t.Errorf("broker %d: leader %d at offset %d, want %d at %d", n, s.Leader, s.Offset, target, a.message.Version)
		}
	}
	truth, err := Truth(c.invariants.Committed())
	if err != nil {
		t.Fatal(err)
	}
	if last := truth[len(truth)-1]; len(truth) != 13 || last.Partition != t0 || last.Leader != target || last.Offset != a.message.Version {
		t.Errorf("truth has %d changes, the last %+v", len(truth), last)
	}
	n := c.Events()
	start := time.Now()
	c.mustRun(t, c.Now()+100*time.Second)
	t.Logf("100 s: %d events, %v", c.Events()-n, time.Since(start))
}
