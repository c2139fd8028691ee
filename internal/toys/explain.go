package toys

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/sim"
	"github.com/stalemate-io/stalemate/workloads/leadership"
)

// The causes that Explain gives. What follows in a cause says more.
const (
	CauseNeverSent  = "never sent"
	CauseSnapshot   = "snapshot older than in-flight change"
	CauseLost       = "lost"
	CauseOutOfOrder = "applied out of order"
	CauseRejected   = "rejected by a fence"
	CauseIgnored    = "answered NONE but not applied"
	CauseLag        = "lag only"
)

// Explain sets the cause of every anomaly of a verdict that names a node and a
// partition: it takes the newest change that the node should have known, and says
// how far the news of it came.
func Explain(system string, v *checker.Verdict, trace []sim.Entry, truth []leadership.Change) {
	for i := range v.Anomalies {
		v.Anomalies[i].Cause = cause(system, &v.Anomalies[i], trace, truth)
	}
	for _, p := range v.Paths {
		Explain(system, p, trace, truth)
	}
}

// cause is the cause of the staleness of the last read that proves the anomaly
// and told something old.
func cause(system string, a *checker.Anomaly, trace []sim.Entry, truth []leadership.Change) string {
	for _, w := range slices.Backward(a.Witness) {
		if w.F != "read" || w.CallMS == nil || w.Version == nil {
			continue
		}
		at := time.Duration(*w.CallMS * float64(time.Millisecond))
		for _, c := range slices.Backward(truth) {
			if c.Partition.String() == w.Key && c.At <= at && int64(c.Epoch) > *w.Version {
				return explainRead(system, node.ID(w.Node), w.Key, int32(*w.Version), c, at, trace)
			}
		}
	}
	return ""
}

// explainRead follows the news of a change to a node, up to a time at which the
// node told an older epoch.
func explainRead(system string, at node.ID, key string, told int32, missed leadership.Change, until time.Duration, trace []sim.Entry) string {
	if system == "kraft" {
		return CauseLag + ": the record had not come to " + string(at) + " yet, which told an older one in the log's order"
	}
	if strings.HasPrefix(string(at), "c") {
		return CauseLag + ": " + string(at) + " answered from memory and knew nothing of its successor"
	}
	var lost, sent, applied bool
	var sender, newest, writer node.ID
	dropped, refused := "", ""
	pushes := map[uint64]bool{} // that told the change to the node
	for i := range trace {
		e := &trace[i]
		if e.At > until {
			break
		}
		t := &e.Trace
		switch {
		case e.Kind == sim.Lost && !e.Answer && e.To == at && e.At >= missed.At && pushOf(e):
			lost = true
		case e.Kind != sim.Noted:
		case t.What == "push-queued" && t.Peer == at && t.Key == key && t.Epoch >= missed.Epoch && t.Why == "UpdateMetadata":
			pushes[t.ID], sender = true, e.Node
		case t.What == "push-sent" && pushes[t.ID] && t.Peer == at:
			sent = true
		case t.What == "push-dropped" && pushes[t.ID] && t.Peer == at:
			dropped = t.Why
		case t.What == "elected" && e.At < missed.At:
			newest = e.Node
		case t.What == "store-write" && t.Key == key && t.Epoch == missed.Epoch && t.Leader == missed.Leader:
			writer = e.Node
		case t.What == "push-applied" && e.Node == at && t.Key == key && t.Why == "UpdateMetadata":
			if t.Epoch >= missed.Epoch {
				applied = true
			} else if applied && t.Epoch == told {
				return CauseOutOfOrder + ": " + string(at) + " took over " + leadership.Text(t.Leader, t.Epoch) + " from " +
					string(t.Peer) + " after it had known epoch " + strconv.Itoa(int(missed.Epoch)) + "; the push was overtaken"
			}
		case t.What == "push-refused" && e.Node == at && e.At >= missed.At && (t.Key == key || t.Key == "") && strings.HasPrefix(t.Why, "UpdateMetadata"):
			refused = t.Why
		}
	}
	switch {
	case !sent && writer != "" && newest != "" && writer != newest:
		return CauseSnapshot + ": " + string(newest) + " had read the state before the write of its predecessor " + string(writer) +
			" was committed, and nobody pushed that to " + string(at)
	case len(pushes) > 0 && !sent && dropped != "":
		return CauseNeverSent + ": the push to " + string(at) + " was queued and dropped: " + dropped
	case len(pushes) > 0 && !sent:
		return CauseNeverSent + ": the push waits in the queue of " + string(sender) + " for " + string(at)
	case len(pushes) == 0:
		return CauseNeverSent + ": the change was committed, and no controller pushed it to " + string(at)
	case strings.Contains(refused, "answered NONE"):
		return CauseIgnored
	case refused != "":
		return CauseRejected + ": " + refused
	case lost:
		return CauseLost + ": the push from " + string(sender) + " did not reach " + string(at)
	}
	return CauseLag + ": the push from " + string(sender) + " was on its way"
}

func pushOf(e *sim.Entry) bool {
	k, ok := e.Message.(interface{ Kind() string })
	return ok && k.Kind() == "UpdateMetadata"
}
