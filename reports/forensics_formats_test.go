package reports

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/checker/forensics"
	"github.com/stalemate-io/stalemate/policy"
)

// hostileLogs are logs that show more of every kind than a report holds, and whose
// every name and line is evil. Forks are allowed.
func hostileLogs() *JudgedLogs {
	r := &forensics.Report{
		Verdict: forensics.Divergent, Counts: map[forensics.Kind]int{}, Compared: map[forensics.Kind]int{},
		Observers: []forensics.Observer{{Name: evil, Partitions: 1, Changes: 2}},
		Files:     []forensics.File{{Name: evil, Lines: 3, Facts: 2}}, Warnings: []string{evil},
	}
	for _, k := range forensics.Kinds() {
		r.Counts[k], r.Compared[k] = forensics.MaxFindings+1, 100
		for n := range forensics.MaxFindings {
			r.Findings = append(r.Findings, forensics.Finding{
				Kind: k, Partition: evil, Text: fmt.Sprint("finding ", n, " ", evil),
				Lines: []forensics.Quote{{File: "logs/" + evil, Line: 5, Text: evil}, {File: "logs/" + evil, Line: 7, Text: evil}},
			})
		}
	}
	p := &policy.Policy{Name: evil, Allow: []policy.Allowance{{Kind: "fork", System: policy.Logs, Path: policy.Every, Reason: evil, Expires: time.Now().AddDate(1, 0, 0)}}}
	return &JudgedLogs{Report: r, Ruling: p.JudgeLogs(r, time.Now()), Again: "stalemate check " + evil}
}

func TestJUnitOfHostileLogs(t *testing.T) {
	var out strings.Builder
	if err := ForensicsJUnit(&out, hostileLogs()); err != nil {
		t.Fatal(err)
	}
	var all junitSuites
	if err := xml.Unmarshal([]byte(out.String()), &all); err != nil {
		t.Fatal(err)
	}
	// Conflict, zombie and regress fail, answers that differ are an error; the fork
	// is allowed and the other four kinds are no faults.
	if s := all.Suites[0]; len(s.Cases) != 9 || all.Tests != 9 || all.Failures != 3 || all.Errors != 1 || s.Skipped != 5 {
		t.Errorf("%d cases, %d failures, %d errors, %d skipped:\n%s", len(s.Cases), all.Failures, all.Errors, s.Skipped, out.String())
	}
	for _, c := range all.Suites[0].Cases {
		for _, r := range []*junitResult{c.Failure, c.Error} {
			if r != nil && (r.Type == "" || !strings.Contains(r.Message, "21 found, the first: finding 0") ||
				!strings.Contains(r.Text, ":5: ") || !strings.Contains(r.Text, "more found") || !strings.Contains(r.Text, "stalemate check")) {
				t.Errorf("%s: a failure that does not make sense alone: %+v", c.Name, r)
			}
		}
	}
}

func TestMarkdownOfHostileLogs(t *testing.T) {
	var out strings.Builder
	if err := ForensicsMarkdown(&out, hostileLogs()); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if !strings.Contains(text, ": BROKEN\n") || !strings.Contains(text, "172 findings more found") {
		t.Errorf("the answer or what is left out is not told:\n%s", text)
	}
	outside := fence.ReplaceAllString(text, "")
	for _, own := range []string{"<details>", "</details>", "<summary>", "</summary>", "<code>", "</code>"} {
		outside = strings.ReplaceAll(outside, own, "")
	}
	if at := strings.IndexAny(outside, "<`@![\x00\x1b"); at >= 0 {
		t.Errorf("markup from the logs: %q", outside[at:min(len(outside), at+60)])
	}
	for line := range strings.Lines(outside) {
		if n := strings.Count(line, "|"); n != 0 && n != 4 && n != 5 && n != 6 {
			t.Errorf("a row of %d bars: %s", n, line)
		}
	}
}

func TestSARIFOfHostileLogs(t *testing.T) {
	var out strings.Builder
	if err := ForensicsSARIF(&out, hostileLogs(), "v1"); err != nil {
		t.Fatal(err)
	}
	var log sarifLog
	d := json.NewDecoder(strings.NewReader(out.String()))
	d.DisallowUnknownFields()
	if err := d.Decode(&log); err != nil {
		t.Fatal(err)
	}
	run := log.Runs[0]
	if i := run.Invocations[0]; !i.Successful || len(i.Notifications) != 9 {
		t.Errorf("expected to be told of each kind of which there are more, found %+v", i)
	}
	seen := map[string]bool{}
	levels := map[string]string{}
	for _, r := range run.Results {
		levels[r.Rule] = r.Level
		if (len(r.Suppressions) > 0) != (r.Rule == "fork") || (r.Kind == "open") != (r.Rule == "differ") {
			t.Errorf("%s is suppressed %v and of kind %q", r.Rule, r.Suppressions, r.Kind)
		}
		if run.Tool.Driver.Rules[r.RuleIndex].ID != r.Rule {
			t.Errorf("rule %s has index %d", r.Rule, r.RuleIndex)
		}
		if at := r.Locations[0].Physical; at.Region.StartLine != 7 || strings.ContainsAny(at.Artifact.URI, "<> \"\n|`\\") || len(r.Related) != 2 {
			t.Errorf("the last of two lines is line 7, found %+v", at)
		}
		if id := r.Fingerprints["stalemate/v1"]; seen[id] {
			t.Errorf("%s has no fingerprint of its own", r.Message.Text)
		} else {
			seen[id] = true
		}
	}
	if got := fmt.Sprint(levels); got != "map[behind:note conflict:error differ:none fenced:note fork:note never-received:note refused:note regress:error zombie:error]" {
		t.Errorf("levels %s", got)
	}
}

func TestWhatIsReadFromStandardInputHasNoPlace(t *testing.T) {
	j := hostileLogs()
	for i := range j.Report.Findings {
		for n := range j.Report.Findings[i].Lines {
			j.Report.Findings[i].Lines[n].File = StandardInput
		}
	}
	var out strings.Builder
	if err := ForensicsSARIF(&out, j, "v1"); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "physicalLocation") || !strings.Contains(out.String(), `"ruleId": "conflict"`) {
		t.Error("results with a place, or none")
	}
}

// TestTheColoursOfLogs looks at what a terminal gets.
func TestTheColoursOfLogs(t *testing.T) {
	for verdict, want := range map[string]string{
		forensics.Divergent: "\x1b[31mdivergent\x1b[0m: no", forensics.OrderedLag: "\x1b[33mordered lag\x1b[0m: one",
		forensics.OneOrder: "\x1b[32mone order\x1b[0m: it", forensics.Undecided: "\x1b[33mundecided\x1b[0m: why",
	} {
		var out strings.Builder
		if err := Forensics(&out, &forensics.Report{Verdict: verdict, Because: "why"}, TextOptions{Color: true}); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(out.String(), want) {
			t.Errorf("begins %q, want %q", out.String()[:40], want)
		}
	}
}

func TestEveryKindOfFindingInLogsIsDescribed(t *testing.T) {
	for _, k := range forensics.Kinds() {
		if logKindWords[k] == "" {
			t.Errorf("nothing is said of %s", k)
		}
	}
	if i := slices.IndexFunc(forensicsRules(), func(r sarifRule) bool { return r.Short.Text == "" }); i >= 0 {
		t.Error("a rule says nothing")
	}
}
