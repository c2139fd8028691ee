package push

import (
	"slices"
	"testing"

	"github.com/stalemate-io/stalemate/systems/protocol"
)

// TestTheLatestIsKnownOnceTheHighWatermarkIs makes a broker the leader of a
// partition whose followers are not there: what it appends stays above the high
// watermark, and its next office begins above it.
func TestTheLatestIsKnownOnceTheHighWatermarkIs(t *testing.T) {
	c := loneBroker(t, nil)
	latest := func() *protocol.FetchResponse {
		t.Helper()
		a, err := c.ask("b2", &protocol.FetchRequest{Partition: t0, Offset: protocol.LatestOffset, LeaderEpoch: -1})
		if err != nil {
			t.Fatal(err)
		}
		return a.(*protocol.FetchResponse)
	}
	push := func(leaderEpoch, version int32, isr ...int32) {
		t.Helper()
		r := roleOf(7, 2, leaderEpoch, version)
		r.Partitions[0].ISR, r.Partitions[0].Replicas = isr, isr
		if _, err := c.ask("b2", r); err != nil {
			t.Fatal(err)
		}
	}
	push(5, 5, 2, 1, 3)
	if a := latest(); a.Error != protocol.None || len(a.Values) > 0 || a.HighWatermark != 0 {
		t.Errorf("an empty partition: %+v", a)
	}
	if _, err := c.ask("b2", &protocol.ProduceRequest{Partition: t0, Value: 9, LeaderEpoch: -1}); err != nil {
		t.Fatal(err)
	}
	if a := latest(); a.Error != protocol.None || len(a.Values) > 0 {
		t.Errorf("a value above the high watermark: %+v", a)
	}
	push(6, 6, 2, 1, 3)
	if a := latest(); a.Error != protocol.OffsetNotAvailable {
		t.Errorf("a new epoch that begins above the high watermark: %+v", a)
	}
	push(7, 7, 2)
	if a := latest(); a.Error != protocol.None || !slices.Equal(a.Values, []int64{9}) || a.HighWatermark != 1 {
		t.Errorf("all in-sync replicas have it: %+v", a)
	}
}
