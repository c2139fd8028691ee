package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/checker/forensics"
)

func TestJudgeLogs(t *testing.T) {
	const (
		conflict, zombie, fork, differ = forensics.Conflict, forensics.Zombie, forensics.Fork, forensics.Differ
		lost, fenced                   = forensics.Lost, forensics.Fenced
	)
	type counts = map[forensics.Kind]int
	for name, test := range map[string]struct {
		policy          string // beside its version; none where empty
		found, compared counts
		answer          checker.Answer
		findings        int
		note            string
	}{
		"nothing found where there was something to compare": {"", nil, counts{conflict: 3, fork: 2}, checker.Holds, 2, ""},
		"a divergence":                                   {"", counts{conflict: 1}, counts{conflict: 3, fork: 2}, checker.Violated, 2, ""},
		"answers that differ decide nothing":             {"", counts{differ: 1}, counts{differ: 3}, checker.Undecided, 1, ""},
		"nor where nothing could be compared":            {"", nil, nil, checker.Undecided, 1, ""},
		"a divergence wins over what is undecided":       {"", counts{differ: 1, fork: 1}, counts{differ: 3, fork: 2}, checker.Violated, 2, ""},
		"lag and guards are no faults":                   {"", counts{lost: 4, fenced: 1}, counts{lost: 9, fork: 2}, checker.Holds, 1, ""},
		"a kind that is allowed":                         {"allow: [{anomaly: zombie, system: kafka-logs, reason: r, expires: 2027-03-31}]", counts{zombie: 1}, counts{zombie: 3}, checker.Holds, 1, ""},
		"a kind that is allowed everywhere":              {"allow: [{anomaly: conflict, reason: r, expires: 2027-03-31}]", counts{conflict: 1}, counts{conflict: 3}, checker.Holds, 1, ""},
		"a kind that is allowed beside one that is not":  {"allow: [{anomaly: conflict, reason: r, expires: 2027-03-31}]", counts{conflict: 1, fork: 1}, counts{conflict: 3, fork: 3}, checker.Violated, 2, ""},
		"a kind that is allowed of another system":       {"allow: [{anomaly: conflict, system: zookeeper, reason: r, expires: 2027-03-31}]", counts{conflict: 1}, counts{conflict: 3}, checker.Violated, 1, ""},
		"a kind that is allowed for a read path":         {"allow: [{anomaly: conflict, path: get, reason: r, expires: 2027-03-31}]", counts{conflict: 1}, counts{conflict: 3}, checker.Violated, 1, ""},
		"a kind that was allowed":                        {"allow: [{anomaly: conflict, reason: r, expires: 2026-11-30}]", counts{conflict: 1}, counts{conflict: 3}, checker.Violated, 1, "no longer"},
		"an allowance leaves open what is open":          {"allow: [{anomaly: conflict, reason: r, expires: 2027-03-31}]", counts{conflict: 1, differ: 1}, counts{conflict: 3, differ: 2}, checker.Undecided, 2, ""},
		"levels are not asked of logs, and that is told": {"require: {kafka-logs: {get: linearizable}}", nil, counts{fork: 2}, checker.Holds, 1, "p.yaml:2: what is required of get has no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			var p *Policy
			if test.policy != "" {
				var err error
				if p, err = Parse("p.yaml", []byte("version: 1\n"+test.policy+"\n")); err != nil {
					t.Fatal(err)
				}
			}
			r := &forensics.Report{Verdict: forensics.OneOrder, Counts: test.found, Compared: test.compared}
			if len(test.compared) == 0 {
				r.Verdict, r.Because = forensics.Undecided, "nothing could be compared"
			}
			got := p.JudgeLogs(r, time.Date(2026, 12, 2, 0, 0, 0, 0, time.UTC))
			if got.Answer != test.answer || len(got.Findings) != test.findings {
				t.Errorf("%s with %d findings, want %s with %d: %+v", got.Answer, len(got.Findings), test.answer, test.findings, got.Findings)
			}
			if notes := strings.Join(got.Notes, "\n"); (notes == "") != (test.note == "") || !strings.Contains(notes, test.note) {
				t.Errorf("notes %q, want %q", notes, test.note)
			}
		})
	}
}
