package policy

import (
	"slices"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/checker/forensics"
)

// Kinds of anomalies by what they break. docs/verdict.md says what each is.
var (
	divergences = []string{"conflict", "dual-leader", "phantom", "fork", "regress", "stuck"}
	sessions    = []string{"monotonic-reads", "read-your-writes", "monotonic-writes", "writes-follow-reads"}
	weak        = []string{"lost", "stale", "not-linearizable"}
	logKinds    = []string{"log-lost", "log-failed", "log-version", "log-twice", "log-unwritten"}
)

// tooStale is a read beyond a bound.
const tooStale = "too-stale"

// Kinds lists every kind of anomaly that a verdict on a history may hold, the
// gravest first.
func Kinds() []string {
	return slices.Concat(divergences, logKinds, []string{tooStale}, sessions, weak)
}

// Divergence tells whether a kind of anomaly makes a history divergent.
func Divergence(kind string) bool { return slices.Contains(divergences, kind) }

// allowable lists every kind that can be allowed: those of histories and those of
// Kafka's logs, which share most of their names.
func allowable() []string {
	all := Kinds()
	for _, k := range forensics.Kinds() {
		if k.Divergence() && !slices.Contains(all, string(k)) {
			all = append(all, string(k))
		}
	}
	return all
}

// breaks lists the kinds of anomalies that a violation of a level may rest on.
// It rather names one too many: a violation is excused only where all that are
// there are allowed.
func breaks(l checker.Level) []string {
	switch l {
	case checker.Linearizable:
		return slices.Concat(divergences, sessions, weak)
	case checker.OrderedLag:
		return slices.Concat(divergences, []string{string(checker.MonotonicWrites), string(checker.WritesFollowReads), "lost"})
	case checker.None:
		return nil
	}
	return []string{string(l)}
}

// Breaking lists the kinds of anomalies in a verdict that a violation of a level
// may rest on.
func Breaking(l checker.Level, v *checker.Verdict) []string {
	return present(v.AnomalyCounts, breaks(l))
}
