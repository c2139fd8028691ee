package main

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/systems/zookeeper"
)

// seen is a verdict with so many stale reads of ten on each path.
func seen(stale map[string]int) *checker.Verdict {
	v := &checker.Verdict{Paths: map[string]*checker.Verdict{}}
	for _, path := range zookeeper.Paths() {
		p := &checker.Verdict{Reads: 10, StaleReads: stale[path.Name], Verdict: checker.ClassLinearizable, Holds: checker.Holds}
		if p.StaleReads > 0 {
			p.Verdict = checker.ClassOrderedLag
			p.StalenessMS.Max, p.VersionsBehind.Max = 1503.7, 99
			p.Nodes = []checker.Share{{Name: "zk1", Reads: 5}, {Name: "zk3", Reads: 5, StaleReads: p.StaleReads}}
			if path.Promise == string(checker.Linearizable) {
				p.Holds = checker.Violated
			}
		}
		v.Paths[path.Name] = p
	}
	return v
}

func TestWhatEachSceneIsThereToShow(t *testing.T) {
	tests := []struct {
		rule  string
		scene int
		stale map[string]int
		want  string
	}{
		{"a slow follower shows stale gets", 0, map[string]int{"get": 5}, ""},
		{"a slow follower without stale gets shows nothing", 0, nil, "no stale get"},
		{"a slow follower must not make sync stale", 0, map[string]int{"get": 5, "sync": 1}, "1 stale reads by sync"},
		{"a paused leader shows stale gets and syncs", 1, map[string]int{"get": 5, "sync": 2, "watch": 9}, ""},
		{"a paused leader without stale syncs is tried again", 1, map[string]int{"get": 5}, "no stale sync"},
		{"a paused leader must not make write stale", 1, map[string]int{"get": 5, "sync": 2, "write": 3}, "3 stale reads by write"},
		{"a cut-off leader may step down in time", 2, nil, ""},
		{"a cut-off leader must not make check stale", 2, map[string]int{"check": 1}, "1 stale reads by check"},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			if got := strings.Join(scenes()[test.scene].missing(seen(test.stale)), "; "); got != test.want {
				t.Errorf("missing %q, want %q", got, test.want)
			}
		})
	}
}

func TestASceneThatReadNothingIsNotFresh(t *testing.T) {
	v := seen(map[string]int{"get": 1, "sync": 1})
	v.Paths["check"].Reads = 0
	delete(v.Paths, "write")
	if got := strings.Join(scenes()[1].missing(v), "; "); got != "no write returned; no check returned" {
		t.Errorf("missing %q", got)
	}
}

func TestWhatASceneTells(t *testing.T) {
	s := scenes()[1]
	want := "  Stale: get, sync; never stale: write, check, watch. Through zk3, 4 of 5 gets\n  were stale.\n  " + s.why
	if got := s.told(seen(map[string]int{"get": 4, "sync": 2})); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := s.told(seen(nil)); got != "  Nothing was stale.\n  "+s.why {
		t.Errorf("got\n%s", got)
	}
}

func TestTheTableOfAScene(t *testing.T) {
	want := `  path   promise       verdict       held   stale / reads  worst lag
  get    ordered lag   ordered lag   yes           4 / 10  1504 ms, 99 versions
  sync   linearizable  ordered lag   NO            2 / 10  1504 ms, 99 versions
  write  linearizable  linearizable  yes           0 / 10  -
  check  linearizable  linearizable  yes           0 / 10  -
  watch  ordered lag   linearizable  yes           0 / 10  -
`
	if got := table(seen(map[string]int{"get": 4, "sync": 2})); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestEverySceneHasOneFault(t *testing.T) {
	for _, s := range scenes() {
		for seed := range 20 {
			var settings zookeeperSettings
			flags := pflag.NewFlagSet("run zookeeper", pflag.ContinueOnError)
			settings.bind(flags)
			if err := flags.Parse(append(strings.Fields(s.flags), "--tick-time=1s")); err != nil {
				t.Fatal(err)
			}
			settings.seed = int64(seed)
			p, err := settings.plan()
			if err != nil {
				t.Fatal(err)
			}
			if len(p.windows) != 1 {
				t.Errorf("%s, seed %d: %d faults", s.title, seed, len(p.windows))
			}
		}
	}
}
