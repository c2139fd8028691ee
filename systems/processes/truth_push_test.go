package processes

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/systems/push"
	"github.com/stalemate-io/stalemate/systems/tcp"
	"github.com/stalemate-io/stalemate/systems/zookeeper"
)

func TestWhenTheStoreCommittedAState(t *testing.T) {
	const path = "/brokers/topics/t/partitions/0/state"
	start := time.UnixMilli(1_700_000_000_000)
	clock := func(at time.Time) time.Duration { return at.Sub(start) }
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	// write is a state of t-0: proposed at so many ms.
	write := func(zxid int64, at int, leader, epoch, version int32) zookeeper.Write {
		s := push.State{Leader: leader, LeaderEpoch: epoch, ControllerEpoch: 1, ISR: []int32{1, 2}}
		return zookeeper.Write{Zxid: zxid, Time: start.Add(ms(at)), Path: path, Data: s.Encode(), Version: version}
	}
	maybe := func(w zookeeper.Write) zookeeper.Write {
		w.Uncertain = true
		return w
	}
	log := []zookeeper.Write{write(3, 1000, 1, 0, 0), write(7, 2000, 2, 1, 1)}
	note := func(at int, what string, leader, epoch int32, version int64) tcp.Entry {
		return tcp.Entry{Time: ms(at), Node: "c1", What: what, Key: "t-0", Leader: leader, Epoch: epoch, Version: version}
	}
	tests := []struct {
		rule  string
		log   []zookeeper.Write
		trace []tcp.Entry
		want  string // leader@ms by whom, of each; or part of the error
	}{
		{"it was when its writer had the answer", log, []tcp.Entry{
			note(1004, "store-write", 1, 0, 0), note(2003, "store-write", 2, 1, 1),
		}, "1@1004 c1 2@2003 c1"},
		{"or when another read it before that", log, []tcp.Entry{
			note(1004, "store-write", 1, 0, 0), note(2009, "store-write", 2, 1, 1), note(2005, "snapshot-read", 2, 1, 1),
		}, "1@1004 c1 2@2005 c1"},
		{"where nobody knew soon, it was soon after its proposal", log, []tcp.Entry{
			note(1004, "store-write", 1, 0, 0), note(9000, "snapshot-read", 2, 1, 1),
		}, "1@1004 c1 2@2251 "},
		{"and so it was where nobody ever knew", log, nil, "1@1251  2@2251 "},
		{"whoever knows a write knows that those before are committed", []zookeeper.Write{write(3, 1000, 1, 0, 0), write(4, 1001, 2, 1, 1)},
			[]tcp.Entry{note(1007, "store-write", 2, 1, 1)}, "1@1007  2@1007 c1"},
		{"what a minority logged counts if somebody knew of it", []zookeeper.Write{log[0], maybe(log[1])},
			[]tcp.Entry{note(2003, "store-write", 2, 1, 1)}, "1@1251  2@2003 c1"},
		{"and else it does not", []zookeeper.Write{log[0], maybe(log[1])}, nil, "1@1251 "},
		{"what brokers were told says nothing of the store", log,
			[]tcp.Entry{note(5, "push-applied", 9, 9, 9)}, "1@1251  2@2251 "},
		{"what was acknowledged is in the log", log,
			[]tcp.Entry{note(2003, "store-write", 2, 2, 2)}, "which the servers have not logged"},
		{"and is the same there", log,
			[]tcp.Entry{note(2003, "store-write", 3, 1, 1)}, "but c1 was told of leader 3"},
		{"two nodes are told the same of a version", log,
			[]tcp.Entry{note(2003, "store-write", 2, 1, 1), note(2004, "snapshot-read", 1, 1, 1)}, "version 1 of t-0 is leader 2"},
		{"what nobody can read is an error", []zookeeper.Write{{Path: path, Data: []byte("?")}}, nil, "not the JSON"},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			changes, err := datePush(test.log, test.trace, clock)
			if err != nil {
				if !strings.Contains(err.Error(), test.want) {
					t.Errorf("got %v, want %s", err, test.want)
				}
				return
			}
			var told []string
			for _, c := range changes {
				told = append(told, fmt.Sprintf("%d@%d %s", c.Leader, c.At.Milliseconds(), c.By))
			}
			if got := strings.Join(told, " "); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
