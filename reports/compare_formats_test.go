package reports

import (
	"encoding/xml"
	"strings"
	"testing"
)

// surveyed are the rows of two kinds of trouble, one of them evil.
func surveyed() []CompareRow {
	return []CompareRow{
		{Trouble: "storm", System: "push", Path: "broker", Promise: "none", Runs: 3, Divergent: 3, Anomalies: map[string]int{"fork": 3}},
		{Trouble: "storm", System: "kraft", Path: "quorum", Promise: "linearizable", Runs: 3, Linearizable: 2, OrderedLag: 1, Broken: 1},
		{Trouble: evil, System: "kraft", Path: evil, Promise: "ordered lag", Runs: 3, OrderedLag: 2, Open: 1},
	}
}

func TestAComparisonAsJUnit(t *testing.T) {
	var out strings.Builder
	if err := CompareJUnit(&out, surveyed()); err != nil {
		t.Fatal(err)
	}
	var all junitSuites
	if err := xml.Unmarshal([]byte(out.String()), &all); err != nil {
		t.Fatal(err)
	}
	if all.Tests != 3 || all.Failures != 1 || all.Errors != 1 || len(all.Suites) != 2 {
		t.Errorf("%d tests, %d failures, %d errors in %d suites", all.Tests, all.Failures, all.Errors, len(all.Suites))
	}
	broken := all.Suites[0].Cases[1]
	if broken.Name != "kraft quorum: linearizable" || broken.Failure == nil || !strings.Contains(broken.Failure.Text, "1 ordered lag") {
		t.Errorf("the broken row is %+v", broken)
	}
	if open := all.Suites[1].Cases[0]; open.Error == nil {
		t.Errorf("a row with a run that is undecided passes: %+v", open)
	}
}

func TestAComparisonAsASummary(t *testing.T) {
	var out strings.Builder
	if err := CompareMarkdown(&out, surveyed()); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if !strings.HasPrefix(text, "## stalemate compare: 1 of 3 rows broke a promise\n") || strings.Count(text, "**BROKEN**") != 1 {
		t.Errorf("the broken row is not told of:\n%s", text)
	}
	if at := strings.IndexAny(text, "<`@![\x00\x1b"); at >= 0 {
		t.Errorf("markup from a name: %q", text[at:min(len(text), at+60)])
	}
	for line := range strings.Lines(text) {
		if n := strings.Count(line, "|"); n != 0 && n != 14 {
			t.Errorf("%d bars in a table of 13 columns: %s", n, line)
		}
	}
}
