package policy

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stalemate-io/stalemate/checker"
)

const example = `version: 1
require:
  zookeeper:
    get: {level: ordered-lag, max-staleness: 5s, p99-staleness: 500ms}
    sync: linearizable
  "*":
    "*":
      level: ordered-lag
allow:
  - anomaly: stale
    system: zookeeper
    path: sync
    reason: "sync through a deposed leader"
    expires: 2027-03-31
  - {anomaly: fork, reason: known, expires: "2027-01-01"}
retries: 2
`

func day(year int, month time.Month, d int) time.Time {
	return time.Date(year, month, d, 0, 0, 0, 0, time.UTC)
}

func TestParse(t *testing.T) {
	got, err := Parse("stalemate.yaml", []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	want := &Policy{
		Name: "stalemate.yaml",
		Require: map[string]map[string]Requirement{
			"zookeeper": {
				"get":  {Level: checker.OrderedLag, MaxStaleness: 5 * time.Second, P99Staleness: 500 * time.Millisecond, Line: 4},
				"sync": {Level: checker.Linearizable, Line: 5},
			},
			"*": {"*": {Level: checker.OrderedLag, Line: 7}},
		},
		Allow: []Allowance{
			{Kind: "stale", System: "zookeeper", Path: "sync", Reason: "sync through a deposed leader", Expires: day(2027, 3, 31), Line: 10},
			{Kind: "fork", System: Every, Path: Every, Reason: "known", Expires: day(2027, 1, 1), Line: 15},
		},
		Retries: 2,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestFaultsOfAPolicySayWhereAndWhatWasExpected(t *testing.T) {
	for name, test := range map[string]struct{ text, place, message string }{
		"no YAML":                          {"version: 1\nrequire: [", "p.yaml:2:1", "did not find"},
		"nothing at all":                   {"", "p.yaml:1:1", "found nothing"},
		"only a comment":                   {"# later\n", "p.yaml:1:1", "found nothing"},
		"a list":                           {"- version: 1\n", "p.yaml:1:1", "expected a mapping"},
		"no version":                       {"retries: 1\n", "p.yaml:1:1", "version: 1"},
		"a later version":                  {"version: 2\n", "p.yaml:1:10", "expected version 1"},
		"a second document":                {"version: 1\n---\nversion: 1\n", "p.yaml:2:1", "one document"},
		"an unknown field":                 {"version: 1\nrequires: {}\n", "p.yaml:2:1", `"requires"`},
		"a field given twice":              {"version: 1\nretries: 1\nretries: 2\n", "p.yaml:3:1", "twice"},
		"an unknown level":                 {"version: 1\nrequire:\n  zookeeper:\n    get: fast\n", "p.yaml:4:10", "ordered-lag"},
		"an unknown field of a path":       {"version: 1\nrequire:\n  zookeeper:\n    get: {lvl: none}\n", "p.yaml:4:11", "max-staleness"},
		"a path of which nothing is asked": {"version: 1\nrequire:\n  zookeeper:\n    get: {}\n", "p.yaml:4:10", "found neither"},
		"a bound without a unit":           {"version: 1\nrequire:\n  zookeeper:\n    get: {max-staleness: 500}\n", "p.yaml:4:26", "500ms"},
		"a bound of nothing":               {"version: 1\nrequire:\n  zookeeper:\n    get: {max-staleness: 0s}\n", "p.yaml:4:26", "above zero"},
		"a system without paths":           {"version: 1\nrequire:\n  zookeeper: linearizable\n", "p.yaml:3:14", "expected a mapping"},
		"an unknown anomaly":               {"version: 1\nallow:\n- {anomaly: slow, reason: r, expires: 2027-01-01}\n", "p.yaml:3:13", "dual-leader"},
		"an allowance of no anomaly":       {"version: 1\nallow:\n- {reason: r, expires: 2027-01-01}\n", "p.yaml:3:3", "which kind"},
		"an allowance without reason":      {"version: 1\nallow:\n- {anomaly: stale, expires: 2027-01-01}\n", "p.yaml:3:3", "why stale"},
		"an allowance with a blank reason": {"version: 1\nallow:\n- {anomaly: stale, reason: ' ', expires: 2027-01-01}\n", "p.yaml:3:28", "expected a reason"},
		"an allowance without end":         {"version: 1\nallow:\n- {anomaly: stale, reason: r}\n", "p.yaml:3:3", "last day"},
		"an allowance until no day":        {"version: 1\nallow:\n- {anomaly: stale, reason: r, expires: 2027-02-30}\n", "p.yaml:3:40", "2027-02-30"},
		"an allowance that is no mapping":  {"version: 1\nallow:\n- stale\n", "p.yaml:3:3", "expected a mapping"},
		"allowances that are no list":      {"version: 1\nallow: {anomaly: stale}\n", "p.yaml:2:8", "expected a list"},
		"retries below zero":               {"version: 1\nretries: -1\n", "p.yaml:2:10", "from 0 to 10"},
		"retries without end":              {"version: 1\nretries: 11\n", "p.yaml:2:10", "from 0 to 10"},
		"an alias":                         {"version: 1\nrequire:\n  a: &x {get: none}\n  b: *x\n", "p.yaml:4:3", "aliases"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("p.yaml", []byte(test.text))
			var fault *Error
			if !errors.As(err, &fault) {
				t.Fatalf("expected an Error, found %v", err)
			}
			if !strings.HasPrefix(err.Error(), test.place+": ") || !strings.Contains(err.Error(), test.message) {
				t.Errorf("expected %s: … %s …, found %v", test.place, test.message, err)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte("version: 1\nallow: [{anomaly: stale, reason: r, expires: 2027-01-01}]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := Parse("p.yaml", text)
		var fault *Error
		if err != nil && !errors.As(err, &fault) {
			t.Fatalf("an error that says no place: %v", err)
		}
		if err != nil {
			return
		}
		for _, a := range p.Allow {
			if a.Kind == "" || a.Reason == "" || a.Expires.IsZero() {
				t.Errorf("an allowance without kind, reason or end was taken: %+v", a)
			}
		}
	})
}
