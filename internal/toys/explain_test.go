package toys

import (
	"strings"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/sim"
	"github.com/stalemate-io/stalemate/workloads/leadership"
)

// pushed is a message as far as Explain looks at one.
type pushed struct{}

func (pushed) Kind() string { return "UpdateMetadata" }

// TestExplain has broker b3 tell epoch 1 of t-0 at 50 ms, when epoch 2 had been
// committed at 10 ms.
func TestExplain(t *testing.T) {
	note := func(ms int, at node.ID, tr node.Trace) sim.Entry {
		return sim.Entry{At: time.Duration(ms) * time.Millisecond, Kind: sim.Noted, Node: at, Trace: tr}
	}
	const um = "UpdateMetadata"
	elected := func(ms int, c node.ID) sim.Entry { return note(ms, c, node.Trace{What: "elected"}) }
	wrote := note(11, "c1", node.Trace{What: "store-write", Key: "t-0", Leader: 2, Epoch: 2})
	queued := note(12, "c1", node.Trace{What: "push-queued", Key: "t-0", Leader: 2, Epoch: 2, Peer: "b3", ID: 7, Why: um})
	sent := note(13, "c1", node.Trace{What: "push-sent", Peer: "b3", ID: 7, Why: um})
	applied := func(ms int, leader, epoch int32) sim.Entry {
		return note(ms, "b3", node.Trace{What: "push-applied", Key: "t-0", Leader: leader, Epoch: epoch, Peer: "c1", Why: um})
	}
	refused := func(why string) sim.Entry {
		return note(14, "b3", node.Trace{What: "push-refused", Peer: "c1", ID: 7, Why: um + ": " + why})
	}
	for _, tt := range []struct {
		name, system string
		trace        []sim.Entry
		want         string
	}{
		{"a change that was written and not queued was never sent", "push", []sim.Entry{elected(1, "c1"), wrote}, CauseNeverSent},
		{"nor was one that waits in the queue", "push", []sim.Entry{elected(1, "c1"), wrote, queued}, CauseNeverSent + ": the push waits"},
		{"nor one whose queue was dropped", "push", []sim.Entry{elected(1, "c1"), wrote, queued,
			note(20, "c1", node.Trace{What: "push-dropped", Peer: "b3", ID: 7, Why: "broker gone"})}, CauseNeverSent + ": the push to b3 was queued and dropped: broker gone"},
		{"a successor that read the state before has an old snapshot", "push", []sim.Entry{elected(1, "c1"), elected(9, "c2"), wrote}, CauseSnapshot},
		{"a push that the network lost is lost", "push", []sim.Entry{elected(1, "c1"), wrote, queued, sent,
			{At: 14 * time.Millisecond, Kind: sim.Lost, Node: "c1", To: "b3", Message: pushed{}}}, CauseLost},
		{"a push to another broker that was lost says nothing", "push", []sim.Entry{elected(1, "c1"), wrote, queued, sent,
			{At: 14 * time.Millisecond, Kind: sim.Lost, Node: "c1", To: "b2", Message: pushed{}}}, CauseLag},
		{"a push that is on its way is lag", "push", []sim.Entry{elected(1, "c1"), wrote, queued, sent}, CauseLag},
		{"an older push that was applied after the newer was out of order", "push", []sim.Entry{elected(1, "c1"), wrote, queued, sent,
			applied(15, 2, 2), applied(30, 1, 1)}, CauseOutOfOrder},
		{"what was applied after the read does not count", "push", []sim.Entry{elected(1, "c1"), wrote, queued, sent, applied(60, 2, 2)}, CauseLag},
		{"a push that a fence refused was rejected", "push", []sim.Entry{elected(1, "c1"), wrote, queued, sent, refused("stale controller epoch")}, CauseRejected},
		{"a push that was refused and answered NONE was not applied", "push", []sim.Entry{elected(1, "c1"), wrote, queued, sent,
			refused("leader not alive, answered NONE")}, CauseIgnored},
		{"on the log there is nothing but lag", "kraft", nil, CauseLag},
	} {
		t.Run(tt.name, func(t *testing.T) {
			call, version := 50.0, int64(1)
			v := &checker.Verdict{Anomalies: []checker.Anomaly{{Kind: "stale", Witness: []checker.Witness{
				{F: "read", Key: "t-0", Node: "b3", CallMS: &call, Version: &version},
			}}}}
			p := protocol.Partition{Topic: "t"}
			Explain(tt.system, v, tt.trace, []leadership.Change{
				{Partition: p, Leader: 1, Epoch: 1, At: time.Millisecond},
				{Partition: p, Leader: 2, Epoch: 2, At: 10 * time.Millisecond},
				{Partition: p, Leader: 3, Epoch: 3, At: 70 * time.Millisecond},
			})
			if got := v.Anomalies[0].Cause; !strings.HasPrefix(got, tt.want) {
				t.Errorf("cause is %q, want %q", got, tt.want)
			}
		})
	}
}
