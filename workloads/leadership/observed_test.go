package leadership

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

func TestWhatClientsAreToldIsCommittedFromThenOn(t *testing.T) {
	p, q := protocol.Partition{Topic: "t"}, protocol.Partition{Topic: "t", Index: 1}
	told := func(at time.Duration, kind histories.Type, f string, of protocol.Partition, value string) histories.Event {
		return histories.Event{Time: int64(at), Type: kind, F: f, Key: histories.String(of.String()), Value: histories.String(value)}
	}
	ok := histories.OK
	tests := []struct {
		rule   string
		events []histories.Event
		want   []Change
	}{
		{"nobody was told anything", nil, nil},
		{
			"the first time counts",
			[]histories.Event{told(5, ok, "read", p, "b1/3"), told(9, ok, "read", p, "b1/3")},
			[]Change{{p, 1, 3, 0, 5, 5}},
		},
		{
			"whoever knows an epoch knows that of all before it",
			[]histories.Event{told(5, ok, "read", p, "b1/3"), told(7, ok, "read", p, "b2/5"), told(9, ok, "read", p, "none/4")},
			[]Change{{p, 1, 3, 0, 5, 5}, {p, protocol.NoLeader, 4, 1, 7, 7}, {p, 2, 5, 2, 7, 7}},
		},
		{
			"a change is younger than the request for the one before it, where somebody made that",
			[]histories.Event{
				told(3, histories.Invoke, "write", p, ""), told(5, ok, "write", p, "b1/3"),
				told(7, ok, "read", p, "b2/5"), told(8, ok, "read", p, "b3/5"), told(9, ok, "read", q, "b1/9"),
			},
			[]Change{{p, 1, 3, 0, 5, 5}, {p, 2, 5, 1, 7, 4}, {p, 3, 5, 2, 8, 5}, {q, 1, 9, 3, 9, 9}},
		},
		{
			"and not than one of its own epoch",
			[]histories.Event{
				told(3, histories.Invoke, "write", p, ""), told(5, ok, "write", p, "b1/3"), told(7, ok, "read", p, "b2/3"),
			},
			[]Change{{p, 1, 3, 0, 5, 5}, {p, 2, 3, 1, 7, 7}},
		},
		{
			"partitions are apart, and writes tell too",
			[]histories.Event{told(5, ok, "read", q, "b1/3"), told(7, ok, "write", p, "b2/5")},
			[]Change{{p, 2, 5, 0, 7, 7}, {q, 1, 3, 1, 5, 5}},
		},
		{
			"two leaders in one epoch are both there",
			[]histories.Event{told(5, ok, "read", p, "b1/3"), told(7, ok, "read", p, "b2/3")},
			[]Change{{p, 1, 3, 0, 5, 5}, {p, 2, 3, 1, 7, 7}},
		},
		{
			"an outcome that is unknown tells nothing, nor does a node that knows of no leader",
			[]histories.Event{told(5, histories.Info, "write", p, "b1/3"), told(7, ok, "read", p, "none/-1"), told(8, histories.Fail, "read", p, "b1/4")},
			nil,
		},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Observed(test.events)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLeaderAndEpochAreReadAsTheyAreWritten(t *testing.T) {
	for _, leader := range []int32{protocol.NoLeader, 1, 12} {
		if l, e, ok := ParseText(Text(leader, 7)); !ok || l != leader || e != 7 {
			t.Errorf("%s: %d, %d, %v", Text(leader, 7), l, e, ok)
		}
	}
	for _, text := range []string{"", "b1", "b/1", "x1/2", "b1/", "b1/x"} {
		if _, _, ok := ParseText(text); ok {
			t.Errorf("%q is taken for a leader", text)
		}
	}
}
