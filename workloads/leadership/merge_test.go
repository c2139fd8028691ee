package leadership

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

func event(at int64, process int, typ histories.Type, f, value string, target int64) histories.Event {
	e := histories.Event{Time: at, Process: histories.Process{Client: process}, Type: typ, F: f, Key: histories.String("t-0"), Value: histories.String(value)}
	if target > 0 {
		e.Extra = []histories.Field{{Name: "target", Value: histories.Int(target)}}
	}
	return e
}

func change(at int64, leader, epoch int32) Change {
	return Change{Partition: protocol.Partition{Topic: "t"}, Leader: leader, Epoch: epoch, Order: at, At: time.Duration(at)}
}

func early(at, by int64, leader, epoch int32) Change {
	c := change(at, leader, epoch)
	c.Early = time.Duration(by)
	return c
}

func TestMerge(t *testing.T) {
	const (
		invoke, ok, fail, info = histories.Invoke, histories.OK, histories.Fail, histories.Info
	)
	for _, tt := range []struct {
		name   string
		events []histories.Event
		truth  []Change
		want   string
	}{
		{
			"an acknowledged write is not written again",
			[]histories.Event{event(10, 0, invoke, "write", "elect b2", 2), event(30, 0, ok, "write", "b2/1", 0)},
			[]Change{change(20, 2, 1)},
			"10 0 invoke elect b2; 30 0 ok b2/1",
		},
		{
			"a change that nobody asked for is a write by the system when it was committed",
			[]histories.Event{event(10, 0, invoke, "read", "", 0), event(30, 0, ok, "read", "b3/1", 0)},
			[]Change{change(20, 3, 1)},
			"10 0 invoke ; 20 1 invoke b3/1; 20 1 ok b3/1; 30 0 ok b3/1",
		},
		{
			"a write of unknown outcome was acknowledged by its commit",
			[]histories.Event{event(10, 0, invoke, "write", "elect b2", 2), event(40, 0, info, "write", "", 0)},
			[]Change{change(20, 2, 1)},
			"10 0 invoke elect b2; 20 0 ok b2/1",
		},
		{
			"also where it was committed after the client had given up",
			[]histories.Event{event(10, 0, invoke, "write", "elect b2", 2), event(40, 0, info, "write", "", 0), event(60, 1, invoke, "read", "", 0)},
			[]Change{change(50, 2, 1)},
			"10 0 invoke elect b2; 50 0 ok b2/1; 60 1 invoke ",
		},
		{
			"and failed where the truth knows of no such change",
			[]histories.Event{event(10, 0, invoke, "write", "elect b2", 2), event(40, 0, info, "write", "", 0)},
			[]Change{change(5, 2, 1), change(20, 3, 2)},
			"5 1 invoke b2/1; 5 1 ok b2/1; 10 0 invoke elect b2; 20 1 invoke b3/2; 20 1 ok b3/2; 40 0 fail nil",
		},
		{
			"a change that may have been earlier may have been before any other that was seen",
			[]histories.Event{event(10, 0, invoke, "read", "", 0), event(30, 0, ok, "read", "b3/2", 0)},
			[]Change{early(20, 15, 3, 1), early(30, 30, 3, 2)},
			"0 3 invoke b3/2; 5 2 invoke b3/1; 10 0 invoke ; 20 2 ok b3/1; 30 3 ok b3/2; 30 0 ok b3/2",
		},
		{
			"and before a write of unknown outcome, to which it is not put down",
			[]histories.Event{event(10, 0, invoke, "write", "elect b2", 2), event(40, 0, info, "write", "", 0)},
			[]Change{early(20, 15, 2, 1)},
			"5 2 invoke b2/1; 10 0 invoke elect b2; 20 2 ok b2/1; 40 0 fail nil",
		},
		{
			"an acknowledged write that the system lost stays",
			[]histories.Event{event(10, 0, invoke, "write", "elect b2", 2), event(30, 0, ok, "write", "b2/1", 0)},
			nil,
			"10 0 invoke elect b2; 30 0 ok b2/1",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for i, e := range Merge(tt.events, tt.truth) {
				if e.Index != i {
					t.Errorf("event %d has index %d", i, e.Index)
				}
				value := e.Value.String()
				if s, is := e.Value.AsString(); is {
					value = s
				}
				got = append(got, fmt.Sprintf("%d %s %s %s", e.Time, e.Process, e.Type, value))
			}
			if d := cmp.Diff(tt.want, strings.Join(got, "; ")); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
