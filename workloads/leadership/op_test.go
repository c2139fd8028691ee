package leadership

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// TestOpsAsText reads back what is written of any operation.
func TestOpsAsText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		op := Op{
			At:     time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "at")),
			Client: node.ID(rapid.StringMatching(`x[1-9][0-9]?`).Draw(t, "client")),
			Do:     rapid.SampledFrom([]Action{Ask, Elect, Reassign}).Draw(t, "action"),
			Node:   node.ID(rapid.SampledFrom([]string{"b1", "c3"}).Draw(t, "node")),
			Partition: protocol.Partition{
				Topic: rapid.StringMatching(`[a-z][a-z-]{0,4}`).Draw(t, "topic"),
				Index: rapid.Int32Range(0, 1000).Draw(t, "index"),
			},
		}
		number := rapid.Int32Range(1, 9)
		switch op.Do {
		case Ask:
			op.Path = rapid.SampledFrom([]protocol.ReadPath{protocol.ReadBroker, protocol.ReadLeader, protocol.ReadQuorum, protocol.ReadRole}).Draw(t, "path")
			op.Final = rapid.Bool().Draw(t, "final")
		case Elect:
			op.Brokers = []int32{number.Draw(t, "broker")}
		case Reassign:
			op.Brokers = rapid.SliceOfN(number, 1, 4).Draw(t, "brokers")
		}
		again, err := ParseOp(op.String())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(op, again); d != "" {
			t.Error(d)
		}
	})
}

func TestParseOpErrors(t *testing.T) {
	for _, tt := range []struct{ name, line, want string }{
		{"an operation has a time", "x1 ask b1 t-0 over broker", "expected a line such as"},
		{"times are not negative", "at -1s x1 ask b1 t-0 over broker", `time "-1s"`},
		{"clients are numbered", "at 1s b1 ask b1 t-0 over broker", `client "b1"`},
		{"actions have names", "at 1s x1 tell b1 t-0 over broker", `no operation "tell"`},
		{"paths have names", "at 1s x1 ask b1 t-0 over water", `read path "water"`},
		{"a question ends with its path", "at 1s x1 ask b1 t-0 over broker now", "expected ask NODE PARTITION over PATH"},
		{"partitions have a number", "at 1s x1 ask b1 t over broker", `partition "t"`},
		{"brokers are numbered", "at 1s x1 elect t-0 2 at c1", `broker "2"`},
		{"an election wants one leader", "at 1s x1 elect t-0 b1 b2 at c1", "expected elect PARTITION BROKER at CONTROLLER"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := ParseOp(tt.line); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v, want one that has %q", err, tt.want)
			}
		})
	}
}
