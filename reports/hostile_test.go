package reports

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/policy"
)

// evil is a name that is markup in every format, breaks lines, tables and fences,
// and holds what XML cannot.
const evil = "<script>alert(1)</script>|]]>&\"'`````\n```\n# @team #1 http://x.y ![a](b) <!-- \x00\x1b[31m \ufffe --> </details>"

// hostile is a history that failed to keep each of its requests, whose every name
// and value is evil.
func hostile(t *testing.T) []Judged {
	t.Helper()
	ms, version := 1.5, int64(7)
	v := &checker.Verdict{
		Format: 1, Verdict: checker.ClassDivergent, Reason: "because of " + evil, Promise: checker.OrderedLag, Holds: checker.Violated,
		Levels: map[checker.Level]checker.Answer{
			checker.Linearizable: checker.Violated, checker.OrderedLag: checker.Violated, checker.MonotonicReads: checker.Undecided,
			checker.ReadYourWrites: checker.Holds, checker.MonotonicWrites: checker.Undecided, checker.WritesFollowReads: checker.Holds, checker.None: checker.Holds,
		},
		Model: "register", Reads: 3, StaleReads: 1, Measured: true, StalenessMS: checker.Spread{P50: 1, P99: 1, Max: 1}, Warnings: []string{evil},
		Nodes: []checker.Share{{Name: evil, Reads: 2, StaleReads: 1}, {Name: "b", Reads: 1}},
		Anomalies: []checker.Anomaly{{
			Kind: "regress", Cause: evil, Key: evil, Node: evil, Text: "an observer went back at " + evil,
			Witness: []checker.Witness{
				{Index: 3, Process: 1, F: "read", Key: evil, Value: histories.String(evil), Node: evil, Outcome: "ok", CallMS: &ms, ReturnMS: &ms, Version: &version, Text: evil},
				{Index: 5, Process: 2, F: "write", Key: evil, Value: histories.String("`````"), Outcome: "info", Text: evil},
			},
		}},
		AnomalyCounts: map[string]int{"regress": 2, "stale": 1},
	}
	p := &policy.Policy{Name: evil, Require: map[string]map[string]policy.Requirement{
		"*": {"*": {Level: checker.OrderedLag, MaxStaleness: time.Microsecond, Line: 3}},
	}}
	return []Judged{
		{
			Name: evil, Title: evil, System: evil, Source: "store/" + evil, Lines: true, Again: "stalemate check " + evil,
			Verdict: v, Ruling: p.Judge(v, evil, time.Now()),
		},
		{Name: "other", Err: errors.New(evil)},
	}
}

func TestJUnitOfAHostileHistory(t *testing.T) {
	var out bytes.Buffer
	if err := JUnit(&out, hostile(t)); err != nil {
		t.Fatal(err)
	}
	// The reader knows the elements and attributes of the schema and no others.
	known := map[string][]string{
		"testsuites": {"name", "tests", "failures", "errors"}, "testsuite": {"name", "tests", "failures", "errors", "skipped"},
		"properties": nil, "property": {"name", "value"}, "testcase": {"name", "classname"},
		"skipped": {"message", "type"}, "error": {"message", "type"}, "failure": {"message", "type"}, "system-out": nil,
	}
	d := xml.NewDecoder(bytes.NewReader(out.Bytes()))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, out.String())
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		attributes, ok := known[start.Name.Local]
		if !ok {
			t.Errorf("an element %s, which the schema does not have", start.Name.Local)
		}
		for _, a := range start.Attr {
			if !slices.Contains(attributes, a.Name.Local) {
				t.Errorf("an attribute %s of %s, which the schema does not have", a.Name.Local, start.Name.Local)
			}
		}
	}
	var all junitSuites
	if err := xml.Unmarshal(out.Bytes(), &all); err != nil {
		t.Fatal(err)
	}
	tests, failures, faults := 0, 0, 0
	for _, s := range all.Suites {
		skipped := 0
		for _, c := range s.Cases {
			for _, r := range []*junitResult{c.Failure, c.Error} {
				if r != nil && (r.Type == "" || r.Message == "" || !strings.Contains(r.Text, "script")) {
					t.Errorf("%s: a failure that does not make sense alone: %+v", c.Name, r)
				}
			}
			if c.Failure != nil {
				failures++
			} else if c.Error != nil {
				faults++
			} else if c.Skipped != nil {
				skipped++
			}
			tests++
		}
		if len(s.Cases) != s.Tests || skipped != s.Skipped {
			t.Errorf("suite %s counts %d cases and %d skipped, and has %d and %d", s.Name, s.Tests, s.Skipped, len(s.Cases), skipped)
		}
	}
	if tests != all.Tests || failures != all.Failures || faults != all.Errors {
		t.Errorf("counted %d tests, %d failures, %d errors; the file says %d, %d, %d", tests, failures, faults, all.Tests, all.Failures, all.Errors)
	}
	// The level and the budget, once each; the guarantee that is implied and
	// undecided; the history that could not be judged.
	if failures != 2 || faults != 2 {
		t.Errorf("%d failures and %d errors, expected 2 and 2:\n%s", failures, faults, out.String())
	}
}

func TestSARIFOfAHostileHistory(t *testing.T) {
	var out bytes.Buffer
	if err := SARIF(&out, hostile(t), "v1"); err != nil {
		t.Fatal(err)
	}
	var log sarifLog
	d := json.NewDecoder(&out)
	d.DisallowUnknownFields()
	if err := d.Decode(&log); err != nil {
		t.Fatal(err)
	}
	run := log.Runs[0]
	if i := run.Invocations[0]; i.Successful || len(i.Notifications) != 1 {
		t.Errorf("the history that could not be judged is not told of: %+v", i)
	}
	levels := map[string][]string{}
	seen := map[string]bool{}
	for _, r := range run.Results {
		if r.RuleIndex < 0 || r.RuleIndex >= len(run.Tool.Driver.Rules) || run.Tool.Driver.Rules[r.RuleIndex].ID != r.Rule {
			t.Errorf("rule %s has index %d", r.Rule, r.RuleIndex)
		}
		levels[r.Rule] = append(levels[r.Rule], r.Level)
		for _, at := range slices.Concat(r.Locations, r.Related) {
			if strings.ContainsAny(at.Physical.Artifact.URI, "<> \"\n|`\\") {
				t.Errorf("no URI: %q", at.Physical.Artifact.URI)
			}
		}
		if id := r.Fingerprints["stalemate/v1"]; id == "" || seen[id] {
			t.Errorf("%s has no fingerprint of its own: %q", r.Rule, id)
		} else {
			seen[id] = true
		}
		if strings.ContainsAny(r.Message.Text, "\x00\x1b\n") {
			t.Errorf("control characters in %q", r.Message.Text)
		}
	}
	if got := fmt.Sprint(levels); got != "map[broken-request:[error] regress:[error]]" {
		t.Errorf("results %s", got)
	}
	if region := run.Results[0].Locations[0].Physical.Region; region == nil || region.StartLine != 6 {
		t.Errorf("the last event of the proof is event 5 on line 6, found %+v", region)
	}
	for _, rule := range run.Tool.Driver.Rules {
		if rule.Short.Text == "" {
			t.Errorf("rule %s says nothing", rule.ID)
		}
	}
}

// fence matches a fence: inside it everything is text. It is opened and closed by
// more backticks than it holds in a row.
var fence = regexp.MustCompile("(?ms)^(`{3,})\n(.*?)^`{3,}$")

func TestMarkdownOfAHostileHistory(t *testing.T) {
	var out strings.Builder
	if err := Markdown(&out, hostile(t)); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	blocks := fence.FindAllStringSubmatch(text, -1)
	if len(blocks) != 1 || strings.Contains(blocks[0][2], blocks[0][1]) {
		t.Errorf("expected one fence that nothing in it closes, found %d:\n%s", len(blocks), text)
	}
	outside := fence.ReplaceAllString(text, "")
	for _, own := range []string{"<details>", "</details>", "<summary>", "</summary>", "<code>", "</code>"} {
		outside = strings.ReplaceAll(outside, own, "")
	}
	if at := strings.IndexAny(outside, "<`@![\x00\x1b"); at >= 0 {
		t.Errorf("markup from the history: %q", outside[at:min(len(outside), at+60)])
	}
	if n, m := strings.Count(text, "<details>"), strings.Count(text, "</details>"); n != 1 || m != n+strings.Count(blocks[0][2], "</details>") {
		t.Errorf("%d folds opened, %d closed", n, m)
	}
	columns := 0
	for line := range strings.Lines(outside) {
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		n := strings.Count(line, "|")
		if columns != 0 && n != columns {
			t.Errorf("a row of %d bars in a table of %d: %s", n, columns, line)
		}
		columns = n
	}
}

func TestASummaryStaysBelowItsLimitAndSaysWhatItLeavesOut(t *testing.T) {
	all := hostile(t)
	for n := range 3 {
		v := *all[0].Verdict
		v.Anomalies = slices.Repeat(v.Anomalies, 1)
		v.Anomalies[0].Text = strings.Repeat("long ", 100_000)
		many := Judged{Name: fmt.Sprint(n), Verdict: &v}
		many.Ruling = (*policy.Policy)(nil).Judge(&v, "", time.Now())
		all = append(all, many)
	}
	all = slices.Repeat(all, 200)
	var out strings.Builder
	if err := Markdown(&out, all); err != nil {
		t.Fatal(err)
	}
	if out.Len() > MaxMarkdown {
		t.Errorf("%d bytes, expected at most %d", out.Len(), MaxMarkdown)
	}
	if !strings.Contains(out.String(), "parts of this summary are left out") {
		t.Errorf("nothing is said of what was left out")
	}
	if !strings.HasPrefix(out.String(), "## stalemate: 800 BROKEN, 200 failed\n") {
		t.Errorf("begins %q", out.String()[:80])
	}
}

func TestEveryKindOfAnomalyIsDescribed(t *testing.T) {
	for _, kind := range policy.Kinds() {
		if kindWords[kind] == "" {
			t.Errorf("nothing is said of %s", kind)
		}
	}
	if len(kindWords) != len(policy.Kinds()) {
		t.Errorf("%d kinds are described, and there are %d", len(kindWords), len(policy.Kinds()))
	}
}
