package reports

import (
	"fmt"

	"github.com/stalemate-io/stalemate/checker"
)

// withLog says what the system's own log changes: in one line where it agrees,
// and in the sentence of the other verdict where not.
func (p *printer) withLog(v *checker.Verdict) {
	w := v.WithLog
	if w == nil {
		return
	}
	said := "the same verdict"
	if differs(v) {
		said = verdictSentence(w.Judgement)
	}
	if len(w.Anomalies) > 0 {
		said = "BROKEN, since what it holds contradicts what clients were told, see below; else " + said
	}
	p.item("with its log", said+"; "+settled(w))
}

// differs reports whether the history is something else once the log is believed.
func differs(v *checker.Verdict) bool {
	j := v.WithLog.Judgement
	return j != nil && (j.Verdict != v.Verdict || j.Holds != v.Holds)
}

// logAnomalies shows how log and clients contradict each other, and what breaks
// a promise once the log is believed and not before.
func (p *printer) logAnomalies(v *checker.Verdict) {
	if v.WithLog == nil {
		return
	}
	counts := &checker.Verdict{AnomalyCounts: v.WithLog.AnomalyCounts}
	seen := map[string]bool{}
	for i := range v.WithLog.Anomalies {
		a := &v.WithLog.Anomalies[i]
		if p.Verbose || !seen[a.Kind] {
			p.anomaly(named{"", counts}, a)
		}
		seen[a.Kind] = true
	}
	if differs(v) && v.WithLog.Judgement.Holds == checker.Violated {
		p.anomalies(v.WithLog.Judgement)
	}
}

// settled says what became of the writes of unknown outcome.
func settled(w *checker.WithLog) string {
	unknown := w.Happened + w.Never + w.Open
	if unknown == 0 {
		return "no write was of unknown outcome"
	}
	if unknown == 1 && w.Open == 0 {
		if w.Happened == 1 {
			return "the one unknown write happened"
		}
		return "the one unknown write never happened"
	}
	text := fmt.Sprintf("of %d unknown writes %d happened, %d never did", unknown, w.Happened, w.Never)
	if w.Open > 0 {
		text += fmt.Sprintf(", %d it does not tell", w.Open)
	}
	return text
}
