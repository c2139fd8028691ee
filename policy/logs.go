package policy

import (
	"fmt"
	"slices"
	"time"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/checker/forensics"
)

// Logs is the system by which a policy means Kafka's logs.
const Logs = "kafka-logs"

// OneOrder is what is asked of logs of which nothing could be compared.
const OneOrder = "one order of changes"

// AskedOfLogs names the request that there be no finding of a kind.
func AskedOfLogs(k forensics.Kind) string {
	if k == forensics.Differ {
		return "no differing answers"
	}
	return "no " + string(k)
}

// JudgeLogs holds what Kafka's logs show against a policy, or against nothing
// where p is nil. What is asked is always that one order of changes explains them:
// logs tell of no reads and no times, so that levels and budgets have no answer. A
// policy may allow a kind of divergence. A check that had nothing to compare was
// not asked, and gives no finding.
func (p *Policy) JudgeLogs(r *forensics.Report, now time.Time) *Ruling {
	j := &judge{policy: p, system: Logs, now: now, ruling: &Ruling{Answer: checker.Holds, Findings: []Finding{}}}
	if p != nil {
		j.ruling.Policy = p.Name
		for path, require := range p.Require[Logs] {
			j.ruling.Notes = append(j.ruling.Notes, fmt.Sprintf("%s:%d: what is required of %s has no answer, since logs tell of no reads; only allow counts", p.Name, require.Line, path))
		}
		slices.Sort(j.ruling.Notes)
	}
	for _, k := range forensics.Kinds() {
		if r.Compared[k] == 0 && r.Counts[k] == 0 || !k.Divergence() && k != forensics.Differ {
			continue
		}
		j.ruling.Findings = append(j.ruling.Findings, j.onKind(r, k))
	}
	if r.Verdict == forensics.Undecided && r.Counts[forensics.Differ] == 0 {
		j.ruling.Findings = append(j.ruling.Findings, Finding{Asked: OneOrder, From: "promise", Answer: checker.Undecided, Why: r.Because})
	}
	j.ruling.settle()
	return j.ruling
}

// onKind answers whether there is no finding of a kind. Answers that differ
// without epochs decide nothing; any other finding is a violation.
func (j *judge) onKind(r *forensics.Report, k forensics.Kind) Finding {
	f := Finding{
		Asked: AskedOfLogs(k), From: "promise", Answer: checker.Holds,
		Why: fmt.Sprintf("%d found, comparisons: %d", r.Counts[k], r.Compared[k]),
	}
	switch {
	case r.Counts[k] == 0:
	case k == forensics.Differ:
		f.Answer = checker.Undecided
	default:
		f.Answer, f.Kinds = checker.Violated, []string{string(k)}
		j.excuse(&f)
	}
	return f
}
