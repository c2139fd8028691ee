package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/checker/forensics"
	"github.com/stalemate-io/stalemate/policy"
)

// ForensicsJUnit writes what Kafka's logs show as test results: a case for each
// kind of finding. A divergence is a failure, and answers that differ in no known
// order are an error. Skipped are what is allowed, what is no fault, and a check
// that had nothing to compare, so that none passes by being blind.
func ForensicsJUnit(w io.Writer, j *JudgedLogs) error {
	s := junitSuite{Name: logsTitle, Properties: j.properties(), Out: clean(strings.Join(slices.Concat(j.Ruling.Notes, j.Report.Warnings), "; "))}
	for _, k := range forensics.Kinds() {
		s.add(j.junitCase(k))
	}
	for i := range j.Ruling.Findings {
		// That nothing at all could be compared is no kind's finding.
		if f := &j.Ruling.Findings[i]; f.Asked == policy.OneOrder {
			s.add(j.judgedCase(f, ""))
		}
	}
	return writeJUnit(w, "stalemate", []junitSuite{s})
}

func (j *JudgedLogs) properties() *junitProperties {
	lines, facts := 0, 0
	for _, f := range j.Report.Files {
		lines += f.Lines
		facts += f.Facts
	}
	return properties([]junitProperty{
		{"verdict", j.Report.Verdict}, {"answer", string(j.Ruling.Answer)}, {"policy", j.Ruling.Policy},
		{"files", fmt.Sprint(len(j.Report.Files))}, {"lines", fmt.Sprint(lines)}, {"facts", fmt.Sprint(facts)},
	})
}

func (j *JudgedLogs) junitCase(k forensics.Kind) junitCase {
	switch f := j.judged(k); {
	case f != nil:
		return j.judgedCase(f, k)
	case askedOfLogs(k):
		return j.skipped(policy.AskedOfLogs(k), "not checked: nothing could be compared")
	}
	return j.skipped(string(k), "not asked for, since it is no fault: "+j.found(k))
}

// found says in a sentence how many findings of a kind there are.
func (j *JudgedLogs) found(k forensics.Kind) string {
	all := j.findings(k)
	switch n := j.Report.Counts[k]; n {
	case 0:
		return "none found"
	case 1:
		return all[0].Text
	default:
		return fmt.Sprintf("%d found, the first: %s", n, all[0].Text)
	}
}

func (j *JudgedLogs) skipped(name, why string) junitCase {
	return junitCase{Name: name, Class: logsTitle, Skipped: &junitResult{Message: clean(why)}}
}

func (j *JudgedLogs) judgedCase(f *policy.Finding, k forensics.Kind) junitCase {
	if f.Excused != "" {
		return j.skipped(f.Asked, "broken, yet allowed: "+f.Excused)
	}
	c := junitCase{Name: f.Asked, Class: logsTitle}
	result := &junitResult{Message: clean(f.Why), Text: j.text(f, k)}
	if k != "" {
		result.Message = clean(j.found(k))
	}
	switch f.Answer {
	case checker.Violated:
		result.Type, c.Failure = string(k), result
	case checker.Undecided:
		result.Type, c.Error = "undecided", result
	}
	return c
}
