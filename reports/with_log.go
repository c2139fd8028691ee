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
	same := w.Judgement == nil || w.Judgement.Verdict == v.Verdict && w.Judgement.Holds == v.Holds
	said := "the same verdict"
	if !same {
		said = verdictSentence(w.Judgement)
	}
	p.item("with its log", said+"; "+settled(w))
	for i := range w.Anomalies {
		p.anomaly(named{"", &checker.Verdict{AnomalyCounts: w.AnomalyCounts}}, &w.Anomalies[i])
	}
}

// settled says what became of the writes of unknown outcome.
func settled(w *checker.WithLog) string {
	unknown := w.Happened + w.Never + w.Open
	if unknown == 0 {
		return "no write was of unknown outcome"
	}
	text := fmt.Sprintf("of %d unknown writes %d happened, %d never did", unknown, w.Happened, w.Never)
	if w.Open > 0 {
		text += fmt.Sprintf(", %d it does not tell", w.Open)
	}
	return text
}
