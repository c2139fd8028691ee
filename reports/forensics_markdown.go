package reports

import (
	"fmt"
	"io"
	"strings"

	"github.com/stalemate-io/stalemate/checker/forensics"
)

// ForensicsMarkdown writes what Kafka's logs show as a job summary: the verdict, a
// table of the checks, who was heard, and the gravest findings with their lines
// folded up.
func ForensicsMarkdown(w io.Writer, j *JudgedLogs) error {
	m := &markdown{room: MaxMarkdown - roomForEnd}
	m.part(fmt.Sprintf("## %s: %s\n\n", inline(logsTitle), answerWord(j.Ruling.Answer)))
	word, why := logsVerdict(j.Report)
	m.part(inline(word+": "+why+".") + "\n\n")
	checks := NewTable("finding", "", "found", "comparisons", "what it is")
	for _, k := range forensics.Kinds() {
		checks.Row(string(k), j.word(k), fmt.Sprint(j.Report.Counts[k]), comparisons(j.Report, k), logKindWords[k])
	}
	m.table(checks)
	m.requests(j.Ruling)
	m.table(heard(j.Report))
	left := 0
	for _, k := range forensics.Kinds() {
		left += j.left(k)
		for _, f := range j.findings(k) {
			m.fold(findingHead(j.Report, f), f.Text+".", quotes(f))
		}
	}
	if left > 0 {
		m.part(fmt.Sprintf("%s more found; the JSON report holds up to %d of each kind.\n\n", counted(left, "finding"), forensics.MaxFindings))
	}
	read := newPrinter(TextOptions{Verbose: true, Width: 100})
	read.files(j.Report.Files)
	m.fold("what was read", "Lines of each file, and what was not looked at.", read.String())
	for _, warning := range j.Report.Warnings {
		m.part("> warning: " + inline(warning) + "\n\n")
	}
	if j.Again != "" {
		m.part("To judge them again: " + code(j.Again) + "\n\n")
	}
	return m.write(w, "parts", "The JSON report holds all.")
}

// comparisons is how much a check had to look at; empty for what is told by one
// line alone.
func comparisons(r *forensics.Report, k forensics.Kind) string {
	if k == forensics.Fenced || k == forensics.Refused {
		return ""
	}
	return fmt.Sprint(r.Compared[k])
}

// quotes are the lines that show a finding.
func quotes(f forensics.Finding) string {
	var b strings.Builder
	for _, q := range f.Lines {
		fmt.Fprintf(&b, "%s\n", clean(fmt.Sprintf("%s:%d: %s", q.File, q.Line, q.Text)))
	}
	return b.String()
}
