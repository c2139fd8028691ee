package toys

import (
	"fmt"
	"slices"
	"time"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/workloads/leadership"
)

// CauseDeposed is the cause that ExplainData gives: whoever answered no longer led.
const CauseDeposed = "answered by a deposed leader"

// ExplainData sets the cause of every anomaly of a verdict on data: it looks who
// led when the read that proves it was asked.
func ExplainData(v *checker.Verdict, truth []leadership.Change) {
	for i := range v.Anomalies {
		v.Anomalies[i].Cause = dataCause(&v.Anomalies[i], truth)
	}
	for _, p := range v.Paths {
		ExplainData(p, truth)
	}
}

func dataCause(a *checker.Anomaly, truth []leadership.Change) string {
	for _, w := range slices.Backward(a.Witness) {
		if w.F != "read" || w.CallMS == nil {
			continue
		}
		at := time.Duration(*w.CallMS * float64(time.Millisecond))
		for _, c := range slices.Backward(truth) {
			if c.Partition.String() != w.Key || c.At > at {
				continue
			}
			if leader := fmt.Sprintf("b%d", c.Leader); leader != w.Node {
				return fmt.Sprintf("%s: %s went on for %s, %d ms after %s had been committed", CauseDeposed, w.Node, w.Key,
					(at - c.At).Milliseconds(), leadership.Text(c.Leader, c.Epoch))
			}
			break
		}
	}
	return ""
}
