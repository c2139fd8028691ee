package checker

import (
	"context"
	"slices"

	"github.com/stalemate-io/stalemate/histories"
)

// WithLog is what the system's own log adds to a verdict. The log may lie, so
// it never replaces what the clients saw: both are told, and Verdict.Answer
// takes the worse.
type WithLog struct {
	// Complete says whether the log reached past the end of the history.
	Complete bool `json:"complete"`
	// Writes is how many writes the log holds. Of those of unknown outcome,
	// Happened are in it, Never are not, Open it does not tell.
	Writes   int `json:"writes"`
	Happened int `json:"happened"`
	Never    int `json:"never"`
	Open     int `json:"open"`
	// Verdict is the class that the history has once the log is believed, and
	// Reason why; Holds is violated too where log and clients contradict each
	// other.
	Verdict Class  `json:"verdict"`
	Reason  string `json:"reason,omitempty"`
	Holds   Answer `json:"holds"`
	// Anomalies are a few of the contradictions of each kind; AnomalyCounts
	// says how many there are.
	Anomalies     []Anomaly      `json:"anomalies"`
	AnomalyCounts map[string]int `json:"anomaly_counts,omitempty"`
	// Judgement is the whole verdict on the history as the log completes it;
	// nil where the log told no outcome, so that it is the verdict without.
	Judgement *Verdict `json:"judgement,omitempty"`
}

// Answer says whether the promise held, by all that is known: violated where it
// is with the system's log or without, for neither may hide what the other
// shows. What is undecided without the log may be decided with it.
func (v *Verdict) Answer() Answer {
	switch {
	case v.WithLog == nil || v.Holds == Violated:
		return v.Holds
	case v.WithLog.Holds == Violated || v.Holds == Undecided:
		return v.WithLog.Holds
	}
	return v.Holds
}

// CheckWithLog is CheckContext that judges the history a second time with the
// outcomes that the system's own log tells (see Resolve). The verdict is the
// one without the log; its WithLog holds the other.
func CheckWithLog(ctx context.Context, h *histories.History, log *histories.Log, o Options) (*Verdict, error) {
	v, err := CheckContext(ctx, h, o)
	if err != nil {
		return nil, err
	}
	r := Resolve(h, log)
	v.WithLog = &WithLog{
		Complete: log.Complete, Writes: len(log.Writes), Happened: r.Happened, Never: r.Never, Open: r.Open,
		Verdict: v.Verdict, Reason: v.Reason, Holds: v.Holds, Anomalies: []Anomaly{},
	}
	if r.changed() {
		j, err := CheckContext(ctx, r.History, o)
		if err != nil {
			return nil, err
		}
		v.WithLog.Judgement = j
		v.WithLog.Verdict, v.WithLog.Reason, v.WithLog.Holds = j.Verdict, j.Reason, j.Holds
	}
	v.WithLog.contradict(h, r)
	return v, nil
}

// logKinds are the kinds of contradictions, the gravest first.
var logKinds = []string{kindLogLost, kindLogFailed, kindLogVersion, kindLogTwice, kindLogUnwritten}

// contradict adds what log and history say against each other.
func (w *WithLog) contradict(h *histories.History, r *Resolution) {
	if len(r.flaws) == 0 {
		return
	}
	w.Holds = Violated
	w.AnomalyCounts = map[string]int{}
	x := &explainer{h: h}
	for _, kind := range logKinds {
		for f := range slices.Values(r.flaws) {
			if f.kind != kind {
				continue
			}
			if w.AnomalyCounts[kind]++; w.AnomalyCounts[kind] <= maxAnomalies {
				w.Anomalies = append(w.Anomalies, Anomaly{Kind: kind, Key: x.key(f.key), Text: f.why, Witness: x.witness(f.ops...)})
			}
		}
	}
}
