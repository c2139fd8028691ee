package toys

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/workloads/leadership"
)

func TestOffsetsBehind(t *testing.T) {
	truth := []leadership.Change{{Order: 4, At: 10}, {Order: 7, At: 20}, {Order: 9, At: 30}}
	read := func(at time.Duration, process int, typ histories.Type, path string, offset ...int64) histories.Event {
		e := histories.Event{Time: int64(at), Process: histories.Process{Client: process}, Type: typ, F: "read", Path: path}
		for _, o := range offset {
			e.Extra = []histories.Field{{Name: "offset", Value: histories.Int(o)}}
		}
		return e
	}
	for _, tt := range []struct {
		name   string
		events []histories.Event
		want   map[string]int64
	}{
		{
			"who has the newest change is not behind, however little it has beside",
			[]histories.Event{read(20, 0, histories.Invoke, "broker"), read(25, 0, histories.OK, "broker", 7)},
			map[string]int64{"broker": 0},
		},
		{
			"what was committed after the question does not count",
			[]histories.Event{read(19, 0, histories.Invoke, "broker"), read(35, 0, histories.OK, "broker", 4)},
			map[string]int64{"broker": 0},
		},
		{
			"the worst of each path counts",
			[]histories.Event{
				read(30, 0, histories.Invoke, "broker"), read(30, 1, histories.Invoke, "leader"),
				read(31, 0, histories.OK, "broker", 8), read(31, 1, histories.OK, "leader", 3),
				read(40, 0, histories.Invoke, "broker"), read(41, 0, histories.OK, "broker", 10),
			},
			map[string]int64{"broker": 1, "leader": 6},
		},
		{
			"answers without an offset say nothing",
			[]histories.Event{read(30, 0, histories.Invoke, "broker"), read(31, 0, histories.OK, "broker")},
			map[string]int64{},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, OffsetsBehind(tt.events, truth)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
