package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/internal/toys"
	"github.com/stalemate-io/stalemate/systems/processes"
)

func TestComparisonsThatAreRefusedBeforeAnythingStarts(t *testing.T) {
	tests := []struct {
		rule string
		args []string
		want string
	}{
		{"a place that is none", []string{"--on=moon"}, "expected sim, local or docker"},
		{"a system that is none", []string{"--on=local", "--systems=etcd"}, `no system "etcd" --on local: expected zookeeper, push, kraft`},
		{"a fault that is none", []string{"--on=local", "--faults=flood"}, `"flood"`},
		{"no fault at all", []string{"--on=local", "--faults=none"}, "nothing to compare"},
		{"no run at all", []string{"--on=local", "--seeds=0"}, "expected at least 1"},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			store := filepath.Join(t.TempDir(), "store")
			out, code := stalemate(t, "", append([]string{"compare", "--store", store}, test.args...)...)
			if code != exitUsage || !strings.Contains(out, test.want) {
				t.Errorf("exit code %d, %s", code, out)
			}
			if found, _ := filepath.Glob(store); len(found) > 0 {
				t.Error("a run was begun all the same")
			}
		})
	}
}

func TestTheTableOfALocalComparison(t *testing.T) {
	l := realComparison{on: "local", faults: "pause-leader,slow-link", store: "store", first: 7}
	verdict := func(class checker.Class, promise checker.Level, holds checker.Answer, stale int, worst float64) *checker.Verdict {
		return &checker.Verdict{
			Verdict: class, Promise: promise, Holds: holds, Reads: 200, StaleReads: stale,
			StalenessMS: checker.Spread{P99: worst, Max: worst}, VersionsBehind: checker.Spread{P99: 3, Max: 3},
		}
	}
	one := &checker.Verdict{Paths: map[string]*checker.Verdict{
		"quorum": verdict(checker.ClassLinearizable, checker.Linearizable, checker.Holds, 0, 0),
		"broker": verdict(checker.ClassOrderedLag, checker.OrderedLag, checker.Holds, 20, 310),
	}}
	two := &checker.Verdict{Paths: map[string]*checker.Verdict{
		"quorum": verdict(checker.ClassOrderedLag, checker.Linearizable, checker.Violated, 2, 40),
		"broker": verdict(checker.ClassOrderedLag, checker.OrderedLag, checker.Holds, 0, 0),
	}}
	rows := l.add(nil, "kraft", 7, one, map[string]int64{"broker": 5})
	rows = l.add(rows, "kraft", 8, two, map[string]int64{"broker": 2})
	var b strings.Builder
	if err := l.print(&b, comparison{Result: &toys.Result{Seeds: 2, First: 7, Rows: rows}}, 100*time.Second, false); err != nil {
		t.Fatal(err)
	}
	const want = `pause-leader, slow-link: each for 4.5s, at the same times for all
  system  path    promise       linear  lag  diverge  stale  p99 ms  worst ms  behind  offsets  never
  kraft   broker  ordered lag        0    2        0  5.0%      310       310       3        5      0
  kraft   quorum  linearizable       1    1        0  0.5%       40        40       3        -      0
          promise broken in 1 of 2 runs

2 runs of each system as processes of this machine, seeds from 7, in 1m40s; kept in store/compare-*.
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestASystemWithOneReadPathHasARowToo(t *testing.T) {
	for _, system := range realSystems() {
		paths := comparedPaths(system)
		v := &checker.Verdict{Reads: 7}
		if len(paths) > 1 {
			v.Paths = map[string]*checker.Verdict{paths[0]: {Reads: 7}}
		}
		rows := (&realComparison{}).add(nil, system, 1, v, nil)
		if len(rows) != 1 || rows[0].Path != paths[0] || rows[0].Reads != 7 {
			t.Errorf("%s: %+v", system, rows)
		}
	}
}

func TestEverySystemOfALocalComparisonHasPaths(t *testing.T) {
	for _, system := range realSystems() {
		least := 2
		if isKafka(system) {
			least = 1 // brokers are all that can be asked
		}
		if len(comparedPaths(system)) < least {
			t.Errorf("%s: %v", system, comparedPaths(system))
		}
	}
	if got := comparedPaths("kraft"); len(got) != len((processes.Settings{System: "kraft"}).Paths()) {
		t.Errorf("kraft: %v", got)
	}
}

func TestTheSystemsOwnLogDecidesWhatClientsLeaveOpenAndNothingElse(t *testing.T) {
	verdict := func(seen, logged checker.Class) *checker.Verdict {
		return &checker.Verdict{
			Paths:   map[string]*checker.Verdict{"get": {Verdict: seen}},
			WithLog: &checker.WithLog{Judgement: &checker.Verdict{Paths: map[string]*checker.Verdict{"get": {Verdict: logged}}}},
		}
	}
	toldNothing := verdict(checker.ClassUndecided, "")
	toldNothing.WithLog.Judgement = nil
	for _, test := range []struct {
		rule string
		of   *checker.Verdict
		want checker.Class
	}{
		{"undecided without it", verdict(checker.ClassUndecided, checker.ClassOrderedLag), checker.ClassOrderedLag},
		{"undecided without it and with it", verdict(checker.ClassUndecided, checker.ClassUndecided), checker.ClassUndecided},
		{"a log that hides a divergence", verdict(checker.ClassDivergent, checker.ClassLinearizable), checker.ClassDivergent},
		{"a log that tells no outcome", toldNothing, checker.ClassUndecided},
		{"no log", &checker.Verdict{Paths: map[string]*checker.Verdict{"get": {Verdict: checker.ClassUndecided}}}, checker.ClassUndecided},
	} {
		t.Run(test.rule, func(t *testing.T) {
			if got := comparedVerdict(test.of, "get", false).Verdict; got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
