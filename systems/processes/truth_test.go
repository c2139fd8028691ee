package processes

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/systems/kraft"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/tcp"
)

func TestWhenAChangeWasCommitted(t *testing.T) {
	p := protocol.Partition{Topic: "t", Index: 0}
	log := []kraft.Change{
		{Partition: p, Leader: 1, LeaderEpoch: 0, Offset: 3},
		{Partition: p, Leader: 2, LeaderEpoch: 1, Offset: 7},
	}
	note := func(at time.Duration, what string, leader, epoch int32) tcp.Entry {
		return tcp.Entry{Time: at, Node: "b1", What: what, Key: "t-0", Leader: leader, Epoch: epoch}
	}
	const unseen = 100
	tests := []struct {
		rule  string
		trace []tcp.Entry
		want  string // appended-committed of both, or part of the error
	}{
		{"the first who knows it committed tells when", []tcp.Entry{
			note(1, "appended", 1, 0), note(5, "applied", 1, 0), note(4, "committed", 1, 0),
			note(6, "appended", 2, 1), note(9, "committed", 2, 1),
		}, "1-4 6-9"},
		{"what nobody knew of is dated at the end", []tcp.Entry{note(4, "committed", 1, 0)}, "4-4 100-100"},
		{"whoever knows a record committed knows it of those before", []tcp.Entry{note(9, "applied", 2, 1)}, "9-9 9-9"},
		{"what was appended and not committed is nothing", []tcp.Entry{
			note(4, "committed", 1, 0), note(5, "appended", 3, 1), note(5, "appended", 3, 2), note(9, "committed", 2, 1),
		}, "4-4 5-9"},
		{"a new controller knows what it inherits", []tcp.Entry{
			note(1, "appended", 1, 0), {Time: 5, Node: "c2", What: "active", Epoch: 2, Version: 7}, note(9, "applied", 2, 1),
		}, "1-5 9-9"},
		{"what a node applied is in the log", []tcp.Entry{note(4, "applied", 1, 2)}, "not in the log"},
		{"and is the same there", []tcp.Entry{note(4, "applied", 3, 1)}, "not in the log"},
		{"other notes say nothing", []tcp.Entry{note(1, "role", 9, 9), note(4, "committed", 2, 1)}, "4-4 4-4"},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			got, err := date(append([]kraft.Change(nil), log...), test.trace, unseen)
			if err != nil {
				if !strings.Contains(err.Error(), test.want) {
					t.Errorf("got %v", err)
				}
				return
			}
			text := fmt.Sprintf("%d-%d %d-%d", got[0].Appended, got[0].Committed, got[1].Appended, got[1].Committed)
			if text != test.want {
				t.Errorf("got %s, want %s", text, test.want)
			}
		})
	}
}
