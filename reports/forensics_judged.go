package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/checker/forensics"
	"github.com/stalemate-io/stalemate/policy"
)

// JudgedLogs is what came of judging Kafka's logs, for the reports that pipelines
// read.
type JudgedLogs struct {
	Report *forensics.Report
	Ruling *policy.Ruling
	// Again is the command that judges the logs again.
	Again string
}

// StandardInput is the name of what was read from there, which is no file that a
// report can point at.
const StandardInput = "standard input"

// logsTitle names the logs of a cluster in reports: files have other names each
// time, and test results are followed by name.
const logsTitle = "Kafka's logs"

// logKindWords says of each kind of finding in Kafka's logs what happened;
// docs/forensics.md says more.
var logKindWords = map[forensics.Kind]string{
	forensics.Conflict: "One leader epoch has two leaders, one controller epoch two controllers, or one offset of the metadata log two records.",
	forensics.Zombie:   "A node obeyed a controller of an older epoch after one of a newer.",
	forensics.Regress:  "A node went back to an older leader epoch.",
	forensics.Fork:     "Nodes saw changes of several partitions in opposite orders.",
	forensics.Differ:   "Nodes answered differently, and nothing tells which answer is newer.",
	forensics.Lost:     "A state was sent to a broker that took what was sent later and never this.",
	forensics.Behind:   "A node's log ends with an older state than another's.",
	forensics.Fenced:   "A node refused a request of a deposed controller.",
	forensics.Refused:  "A node refused a state that is older than its own.",
}

// judged is the finding of the ruling on a kind; nil where it was not asked
// about, or had nothing to compare.
func (j *JudgedLogs) judged(k forensics.Kind) *policy.Finding {
	i := slices.IndexFunc(j.Ruling.Findings, func(f policy.Finding) bool { return f.Asked == policy.AskedOfLogs(k) })
	if i < 0 {
		return nil
	}
	return &j.Ruling.Findings[i]
}

// askedOfLogs tells whether a ruling asks about a kind: the others are no faults.
func askedOfLogs(k forensics.Kind) bool { return k.Divergence() || k == forensics.Differ }

// word is how it went with a kind, in a word or a few.
func (j *JudgedLogs) word(k forensics.Kind) string {
	f := j.judged(k)
	switch {
	case !askedOfLogs(k):
		return "no fault"
	case f == nil:
		return "nothing to compare"
	case f.Excused != "":
		return "allowed"
	}
	return answerWord(f.Answer)
}

// findings gives the first few findings of a kind.
func (j *JudgedLogs) findings(k forensics.Kind) []forensics.Finding {
	var out []forensics.Finding
	for _, f := range j.Report.Findings {
		if f.Kind == k && len(out) < mostFindings(k) {
			out = append(out, f)
		}
	}
	return out
}

// left is how many findings of a kind are not among those.
func (j *JudgedLogs) left(k forensics.Kind) int { return j.Report.Counts[k] - len(j.findings(k)) }

// mostFindings is how many findings of a kind are shown where not all are.
func mostFindings(k forensics.Kind) int {
	if k.Divergence() {
		return 3
	}
	return 1
}

// text says all about a finding of the ruling, for a reader who sees nothing else.
func (j *JudgedLogs) text(f *policy.Finding, k forensics.Kind) string {
	p := newPrinter(TextOptions{Width: 100})
	about := logKindWords[k]
	if about == "" {
		about = f.Why + "."
	}
	p.wrap("", 0, fmt.Sprintf("%s: %s is %s. %s", logsTitle, f.Asked, answerWord(f.Answer), sentence(about)))
	for _, found := range j.findings(k) {
		p.finding(j.Report, found)
	}
	if n := j.left(k); n > 0 {
		fmt.Fprintf(p, "\n%s more found.\n", counted(n, "finding"))
	}
	p.again(j.Again)
	return strings.TrimRight(p.String(), "\n")
}

// sentence begins a text with a capital letter.
func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// logsVerdict is the verdict in words, and what it means.
func logsVerdict(r *forensics.Report) (word, why string) {
	switch r.Verdict {
	case forensics.Divergent:
		return string(checker.ClassDivergent), "no single order of changes explains what these nodes wrote"
	case forensics.OrderedLag:
		return classWord(checker.ClassOrderedLag), "one order of changes explains what these nodes wrote, and some were behind"
	case forensics.OneOrder:
		return "one order", "it explains what these nodes wrote, and none is known to have been behind"
	}
	return "undecided", r.Because
}
