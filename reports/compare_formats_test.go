package reports

import (
	"encoding/xml"
	"strings"
	"testing"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/policy"
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
	if err := CompareJUnit(&out, surveyed(), nil); err != nil {
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
	if err := CompareMarkdown(&out, surveyed(), nil); err != nil {
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

// askedOf is what a policy asked of these runs.
func askedOf() *CompareRuling {
	return &CompareRuling{Policy: evil, Answer: checker.Violated, Notes: []string{evil}, Answers: []CompareAnswer{
		{Trouble: "storm", System: "push", Path: "broker", Asked: "ordered-lag", From: "p.yaml:7", Runs: 3, Broken: 2, Seed: 4, Why: "an observer went back"},
		{Trouble: "storm", System: "kraft", Path: "quorum", Asked: "linearizable", From: "promise", Runs: 3},
		{Trouble: evil, System: evil, Path: evil, Asked: "ordered-lag", From: evil, Runs: 3, Open: 1, Seed: 1, Why: evil},
		{Trouble: evil, System: "push", Path: "leader", Asked: "ordered-lag", From: "p.yaml:8", Runs: 3, Allowed: 3, Excused: evil},
	}}
}

func TestAComparisonHeldAgainstAPolicy(t *testing.T) {
	t.Run("is a case for each request", func(t *testing.T) {
		var out strings.Builder
		if err := CompareJUnit(&out, surveyed(), askedOf()); err != nil {
			t.Fatal(err)
		}
		var all junitSuites
		if err := xml.Unmarshal([]byte(out.String()), &all); err != nil {
			t.Fatal(err)
		}
		if all.Tests != 4 || all.Failures != 1 || all.Errors != 1 || all.Suites[1].Skipped != 1 {
			t.Errorf("%d tests, %d failures, %d errors", all.Tests, all.Failures, all.Errors)
		}
		broken := all.Suites[0].Cases[0]
		if want := "p.yaml:7 asks of push under storm: broker: ordered-lag. 2 violated of 3 runs; seed 4: an observer went back"; broken.Failure == nil || broken.Failure.Text != want {
			t.Errorf("the broken request is %+v", broken)
		}
	})
	t.Run("begins its summary with the requests", func(t *testing.T) {
		var out strings.Builder
		if err := CompareMarkdown(&out, surveyed(), askedOf()); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		if !strings.Contains(text, "| storm | push | broker: ordered-lag | p.yaml:7 | **BROKEN** | 2 violated of 3 |") {
			t.Errorf("the broken request is not told of:\n%s", text)
		}
		if at := strings.IndexAny(text, "<`@![\x00\x1b"); at >= 0 {
			t.Errorf("markup from a name: %q", text[at:min(len(text), at+60)])
		}
	})
	t.Run("ends its text with them", func(t *testing.T) {
		var out strings.Builder
		if err := ComparePolicy(&out, askedOf(), TextOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{": BROKEN\n", "2 violated of 3\n", "push under storm, broker: ordered-lag: seed 4: an observer went back", "allowed    3 allowed of 3\n"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("no %q in\n%s", want, out.String())
			}
		}
		if strings.ContainsAny(out.String(), "\x00\x1b") {
			t.Errorf("controls from a name in %q", out.String())
		}
	})
}

func TestTheRunThatIsToldOfIsTheLeastOfTheWorst(t *testing.T) {
	var a CompareAnswer
	for _, run := range []struct {
		seed   uint64
		answer checker.Answer
		why    string
	}{{3, checker.Undecided, "3"}, {1, checker.Undecided, "1"}, {9, checker.Violated, "9"}, {7, checker.Violated, "7"}, {2, checker.Holds, "2"}} {
		a.Add(run.seed, &policy.Finding{Answer: run.answer, Why: run.why})
	}
	if a.Seed != 7 || a.Why != "7" || a.Runs != 5 || a.Broken != 2 || a.Open != 2 {
		t.Errorf("%+v", a)
	}
}
