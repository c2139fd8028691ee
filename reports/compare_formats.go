package reports

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/stalemate-io/stalemate/checker"
)

// CompareJUnit writes many runs as test results: a suite for each kind of
// trouble, a case for each read path of each system. Runs that broke a promise
// make a failure, and runs that are undecided, where none did, an error. With a
// ruling there is a case for each request instead, and requests decide.
func CompareJUnit(w io.Writer, rows []CompareRow, ruling *CompareRuling) error {
	var suites []junitSuite
	add := func(trouble string, c junitCase) {
		c.Class = clean(trouble)
		if n := len(suites); n == 0 || suites[n-1].Name != c.Class {
			suites = append(suites, junitSuite{Name: c.Class})
		}
		suites[len(suites)-1].add(c)
	}
	if ruling != nil {
		for i := range ruling.Answers {
			add(ruling.Answers[i].Trouble, answerCase(&ruling.Answers[i]))
		}
		rows = nil
	}
	for _, r := range rows {
		c := junitCase{Name: clean(fmt.Sprintf("%s %s: %s", r.System, r.Path, r.Promise))}
		switch {
		case r.Broken > 0:
			c.Failure = &junitResult{Type: "promise broken", Message: fmt.Sprintf("the promise was broken in %d of %d runs", r.Broken, r.Runs), Text: clean(rowText(r))}
		case r.Open > 0 && r.Promise != "none":
			c.Error = &junitResult{Type: "undecided", Message: fmt.Sprintf("%d of %d runs are undecided", r.Open, r.Runs), Text: clean(rowText(r))}
		}
		add(r.Trouble, c)
	}
	return writeJUnit(w, "stalemate compare", suites)
}

// answerCase is the case of one request.
func answerCase(a *CompareAnswer) junitCase {
	c := junitCase{Name: clean(a.System + " " + requestName(a.Path, a.Asked))}
	result := &junitResult{
		Message: clean(a.tally() + " runs"),
		Text:    clean(fmt.Sprintf("%s asks of %s under %s: %s. %s runs; %s", a.From, a.System, a.Trouble, requestName(a.Path, a.Asked), a.tally(), a.worst())),
	}
	switch a.Counts() {
	case checker.Violated:
		result.Type, c.Failure = "violated", result
	case checker.Undecided:
		result.Type, c.Error = "undecided", result
	default:
		if a.Allowed > 0 {
			c.Skipped = &junitResult{Message: clean(a.Excused)}
		}
	}
	return c
}

// rowText says all about a row, for a reader who sees nothing else.
func rowText(r CompareRow) string {
	return fmt.Sprintf("Under %s, the path %s of %s promised %s. Of %d runs %d were linearizable, %d ordered lag, %d divergent, %d undecided; "+
		"%.1f%% of the reads were stale, by at most %.0f ms and %.0f versions; in %d runs a node stayed wrong. Runs with anomalies: %s.",
		r.Trouble, r.Path, r.System, r.Promise, r.Runs, r.Linearizable, r.OrderedLag, r.Divergent, r.Open,
		r.StalePercent, r.LagWorstMS, r.BehindWorst, r.Never, anomalyRuns(r))
}

func anomalyRuns(r CompareRow) string {
	var out []string
	for _, kind := range slices.Sorted(maps.Keys(r.Anomalies)) {
		out = append(out, fmt.Sprintf("%s %d", kind, r.Anomalies[kind]))
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}

// CompareMarkdown writes many runs as a job summary: a table for each kind of
// trouble, and before them what a policy asks, where there is one.
func CompareMarkdown(w io.Writer, rows []CompareRow, ruling *CompareRuling) error {
	m := &markdown{room: MaxMarkdown - roomForEnd}
	broken := 0
	for _, r := range rows {
		if r.Broken > 0 {
			broken++
		}
	}
	answer := "every promise held"
	if broken > 0 {
		answer = fmt.Sprintf("%d of %d rows broke a promise", broken, len(rows))
	}
	if ruling != nil {
		answer = "policy " + inline(ruling.Policy) + ": " + answerWord(ruling.Answer)
	}
	m.part("## stalemate compare: " + answer + "\n\n")
	if ruling != nil {
		m.table(ruling.table())
		for i := range ruling.Answers {
			if worst := ruling.Answers[i].worst(); worst != "" {
				m.part("- " + inline(fmt.Sprintf("%s under %s, %s", ruling.Answers[i].System, ruling.Answers[i].Trouble, worst)) + "\n")
			}
		}
		for _, note := range ruling.Notes {
			m.part("- " + inline(note) + "\n")
		}
		m.part("\n")
	}
	for i := 0; i < len(rows); {
		n := i
		for n < len(rows) && rows[n].Trouble == rows[i].Trouble {
			n++
		}
		m.part("### " + inline(rows[i].Trouble) + "\n\n")
		t := NewTable("system", "path", "promise", "", "linear", "lag", "diverge", "undecided", "stale", "worst ms", "behind", "never", "anomalies")
		for _, r := range rows[i:n] {
			word := "held"
			if r.Broken > 0 {
				word = "BROKEN"
			}
			t.Row(r.System, r.Path, r.Promise, word, fmt.Sprint(r.Linearizable), fmt.Sprint(r.OrderedLag), fmt.Sprint(r.Divergent), fmt.Sprint(r.Open),
				fmt.Sprintf("%.1f%%", r.StalePercent), fmt.Sprintf("%.0f", r.LagWorstMS), fmt.Sprintf("%.0f", r.BehindWorst), fmt.Sprint(r.Never), anomalyRuns(r))
		}
		m.table(t)
		i = n
	}
	return m.write(w, "tables", "The JSON report holds all.")
}
