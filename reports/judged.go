package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/policy"
)

// Judged is one history with what came of judging it, for the reports that
// pipelines read: Markdown, JUnit and SARIF.
type Judged struct {
	// Name of the history, as it was given: a file or the folder of a run.
	Name string
	// Title is the name that stays the same when the same is judged again, by
	// which test results are followed over time: a run's name and not its folder.
	Title string
	// System that was tested; empty where nobody says.
	System string
	// Source is the file that holds the history, as a path; empty where there is
	// none. Lines tells that its line n+1 holds event n.
	Source string
	Lines  bool
	// Again is the command that judges the history again.
	Again string
	// Verdict, and Ruling on it; nil where Err says why there is none.
	Verdict *checker.Verdict
	Ruling  *policy.Ruling
	Err     error
}

// title falls back on the name.
func (j *Judged) title() string { return cmp.Or(j.Title, j.Name) }

// answer gives the answer that counts; empty where there is none.
func (j *Judged) answer() checker.Answer {
	if j.Err != nil {
		return ""
	}
	return j.Ruling.Answer
}

// word is the answer in a word.
func (j *Judged) word() string {
	if j.Err != nil {
		return "failed"
	}
	return answerWord(j.Ruling.Answer)
}

// anomaliesOf gives the anomalies of a finding that prove it: a few of each kind
// that it rests on. What every graver kind brings along is left to where it
// stands alone.
func anomaliesOf(f *policy.Finding) []checker.Anomaly {
	v := f.Verdict
	all := v.Anomalies
	if v.WithLog != nil && f.Level == "" {
		all = slices.Concat(v.WithLog.Anomalies, all)
	}
	var proof []checker.Anomaly
	for _, a := range all {
		if slices.Contains(f.Kinds, a.Kind) {
			proof = append(proof, a)
		}
	}
	return chosen(&checker.Verdict{Holds: checker.Violated, Anomalies: proof}, false)
}

// proofOf is anomaliesOf, and where only a budget of staleness was exceeded, for
// which the checks keep no anomaly, the reads that were stalest.
func proofOf(f *policy.Finding) []checker.Anomaly {
	proof := anomaliesOf(f)
	if len(proof) > 0 || !slices.Contains(f.Kinds, tooStale) {
		return proof
	}
	for _, a := range f.Verdict.Anomalies {
		if a.Kind == staleRead {
			return []checker.Anomaly{a} // they come worst first
		}
	}
	return nil
}

// tooStale is a read beyond a bound.
const tooStale = "too-stale"

// findingText says all about a finding that was not kept, for a reader who sees
// nothing else: what was asked, why it was not kept, the proof, what to do next.
func findingText(j *Judged, f *policy.Finding) string {
	p := newPrinter(TextOptions{Width: 100})
	p.wrap("", 0, fmt.Sprintf("%s: %s asked by %s is %s: %s.", j.Name, requestName(f.Path, f.Asked), from(f), answerWord(f.Answer), f.Why))
	for _, a := range proofOf(f) {
		p.anomaly(named{f.Path, withLogCounts(f.Verdict)}, &a)
	}
	p.again(j.Again)
	return strings.TrimRight(p.String(), "\n")
}

// withLogCounts gives a verdict whose counts include those of the log.
func withLogCounts(v *checker.Verdict) *checker.Verdict {
	if v.WithLog == nil {
		return v
	}
	counts := map[string]int{}
	for _, of := range []map[string]int{v.AnomalyCounts, v.WithLog.AnomalyCounts} {
		for kind, n := range of {
			counts[kind] += n
		}
	}
	return &checker.Verdict{AnomalyCounts: counts}
}

// again says how to see the same.
func (p *printer) again(command string) {
	if command != "" {
		p.WriteString("\nTo judge it again: " + clean(command) + "\n")
	}
}

// requestName names a request within its history.
func requestName(path, asked string) string {
	if path == "" {
		return asked
	}
	return path + ": " + asked
}

// from says who asked.
func from(f *policy.Finding) string {
	if f.From == "promise" {
		return "the promise"
	}
	return f.From
}

// kindWords says of each kind of anomaly what happened; docs/verdict.md says more.
var kindWords = map[string]string{
	"conflict":            "One version has two values, or the versions contradict real time.",
	"dual-leader":         "Two leaders under one version.",
	"phantom":             "A read returned a value that nobody had committed.",
	"fork":                "Observers saw writes in opposite orders.",
	"regress":             "An observer went back to an older value.",
	"stuck":               "A read was still stale after every fault was healed and the system had settled.",
	"too-stale":           "A read was staler than is allowed.",
	"monotonic-reads":     "A client read an older value after a newer one.",
	"read-your-writes":    "A client did not read what it had written.",
	"monotonic-writes":    "A client's writes took effect in another order than it made them.",
	"writes-follow-reads": "A client's write took effect before what it had read.",
	"stale":               "A read missed a write.",
	"lost":                "An element of a set was there and is gone.",
	"not-linearizable":    "No order of the operations agrees with real time and with what each returned.",
	"log-lost":            "A write was acknowledged, or a value read, that the system's own log does not hold.",
	"log-failed":          "A write certainly did not happen, and the system's own log holds it.",
	"log-version":         "A write or read has another version or value than in the system's own log.",
	"log-twice":           "The system's own log holds twice what was asked for once.",
	"log-unwritten":       "The system's own log holds what no client wrote.",
}
