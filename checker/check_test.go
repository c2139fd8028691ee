package checker_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
)

// parse reads a history written as: time client [node[/path]] type f [key] value [@version],
// one event a line; times are milliseconds.
func parse(t *testing.T, text string) *histories.History {
	t.Helper()
	var b histories.Builder
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		e := histories.Event{F: f[3]}
		ms, err := time.ParseDuration(f[0] + "ms")
		if err != nil {
			t.Fatal(err)
		}
		e.Time = ms.Nanoseconds()
		e.Type = map[string]histories.Type{"invoke": histories.Invoke, "ok": histories.OK, "fail": histories.Fail, "info": histories.Info}[f[2]]
		who, place, _ := strings.Cut(f[1], ":")
		e.Node, e.Path, _ = strings.Cut(place, "/")
		if who == "nemesis" {
			e.Process = histories.Nemesis
			for _, target := range f[4:] {
				e.Value = histories.List(histories.String(target))
			}
		} else {
			n, err := histories.ParseEDN(who)
			if err != nil {
				t.Fatal(err)
			}
			id, _ := n.AsInt()
			e.Process = histories.Process{Client: int(id)}
			e.Key = histories.String(f[4])
			value, version, told := strings.Cut(strings.Join(f[5:], " "), " @")
			if e.Value, err = histories.ParseEDN(value); err != nil {
				t.Fatal(err)
			}
			if told {
				v, err := histories.ParseEDN(version)
				if err != nil {
					t.Fatal(err)
				}
				n, _ := v.AsInt()
				e.Version = histories.At(n)
			}
		}
		if err := b.Add(&e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	h, err := b.History()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func check(t *testing.T, text string, o checker.Options) *checker.Verdict {
	t.Helper()
	v, err := checker.Check(parse(t, text), o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

const (
	written = `
		0 0:a invoke write x 1
		1 0:a ok write x 1 @1
		2 0:a invoke write x 2
		3 0:a ok write x 2 @2
`
	fresh = written + `
		4 1:a invoke read x nil
		5 1:a ok read x 2 @2
`
	lagging = written + `
		13 1:b invoke read x nil
		14 1:b ok read x 1 @1
		15 1:b invoke read x nil
		16 1:b ok read x 2 @2
`
	goneBack = written + `
		13 1:b invoke read x nil
		14 1:b ok read x 2 @2
		15 2:b invoke read x nil
		16 2:b ok read x 1 @1
`
	forked = `
		0 0:a invoke write x 1
		1 0:a ok write x 1 @1
		2 0:a invoke write y 1
		3 0:a ok write y 1 @1
		4 1:b invoke read x nil
		5 1:b ok read x 1 @1
		6 1:b invoke read y nil
		7 1:b ok read y nil
		8 2:c invoke read y nil
		9 2:c ok read y 1 @1
		10 2:c invoke read x nil
		11 2:c ok read x nil
`
	// Node d has seen a state that is newer than what the others disagree on.
	ahead = `
		0 0:a invoke write x 3
		0 1:a invoke write x 2
		0 2:a invoke write x 1
		0 3:a invoke write y 1
		1 4:d invoke read x nil
		2 4:d ok read x 3 @3
		3 0:a ok write x 3 @3
		3 1:a ok write x 2 @2
		3 2:a ok write x 1 @1
		3 3:a ok write y 1 @1
		4 5:b invoke read x nil
		5 5:b ok read x 1 @1
		6 5:b invoke read y nil
		7 5:b ok read y nil
		8 6:c invoke read y nil
		9 6:c ok read y 1 @1
		10 6:c invoke read x nil
		11 6:c ok read x nil
`
)

func TestAnomaliesAreNamed(t *testing.T) {
	cases := []struct {
		name    string
		history string
		options checker.Options
		verdict checker.Class
		kinds   []string
		text    string // part of the first anomaly's text
	}{
		{"every read fresh", fresh, checker.Options{}, checker.ClassLinearizable, nil, ""},
		{"an old value, then the new one", lagging, checker.Options{}, checker.ClassOrderedLag, []string{"stale", "not-linearizable"},
			"read of x that returned 1 by client 1 through b, asked at 0.013 s and answered at 0.014 s (version 1), though 2 had been acknowledged by client 0 through a at 0.003 s, 10 ms earlier"},
		{"a node goes back from the new value to the old one", goneBack, checker.Options{}, checker.ClassDivergent, []string{"regress", "stale", "not-linearizable"},
			"b went back: read of x that returned 2"},
		{"two nodes see two writes in opposite orders", forked, checker.Options{}, checker.ClassDivergent, []string{"fork", "stale", "not-linearizable"},
			"no single order explains what was seen"},
		{"and what hangs behind them is no part of that", ahead, checker.Options{}, checker.ClassDivergent, []string{"fork", "stale", "not-linearizable"},
			"no single order explains what was seen"},
		{"a value that nobody wrote", fresh + "20 1:a invoke read x nil\n21 1:a ok read x 9 @9\n", checker.Options{}, checker.ClassDivergent, []string{"phantom"},
			"a value that nobody wrote"},
		{"a value whose only writer failed", written + "4 3:a invoke write x 7\n5 3:a fail write x 7\n20 1:a invoke read x nil\n21 1:a ok read x 7 @3\n", checker.Options{}, checker.ClassDivergent, []string{"phantom"},
			"a value whose only writer failed"},
		{"a value read before it was written", "0 1:a invoke read x nil\n1 1:a ok read x 1 @1\n2 0:a invoke write x 1\n3 0:a ok write x 1 @1\n", checker.Options{}, checker.ClassDivergent, []string{"phantom"},
			"the read was over before the write was invoked"},
		{"one version with two values", fresh + "20 1:a invoke read x nil\n21 1:a ok read x 1 @2\n", checker.Options{}, checker.ClassDivergent, []string{"conflict"},
			"the read tells the version of the write and another value"},
		{"two leaders in one epoch", fresh + "20 1:a invoke read x nil\n21 1:a ok read x 1 @2\n", checker.Options{Model: "leadership"}, checker.ClassDivergent, []string{"dual-leader"},
			"the read tells the version of the write and another value"},
		{"versions against real time", "0 0 invoke write x 1\n1 0 ok write x 1 @2\n2 0 invoke write x 2\n3 0 ok write x 2 @1\n", checker.Options{}, checker.ClassDivergent, []string{"conflict", "monotonic-writes"},
			"the versions order two writes against real time"},
		{"still stale after heal and settling", written + "4 nemesis info final-reads\n20 1:b invoke read x nil\n21 1:b ok read x 1 @1\n", checker.Options{}, checker.ClassDivergent, []string{"stuck"},
			"though 2 had been acknowledged"},
		{"a read beyond the bound on staleness", lagging, checker.Options{Promise: checker.OrderedLag, MaxStaleness: 9 * time.Millisecond}, checker.ClassOrderedLag, []string{"too-stale"},
			"10 ms earlier"},
		{"a client does not read its own write", written + "13 0:b invoke read x nil\n14 0:b ok read x 1 @1\n", checker.Options{}, checker.ClassOrderedLag, []string{"read-your-writes"},
			"a client did not read its own write"},
		{"a fault was active", "0 nemesis info start-pause-leader a\n1 nemesis info start-pause-leader a\n" + lagging + "17 nemesis info stop-pause-leader\n", checker.Options{}, checker.ClassOrderedLag, []string{"stale"},
			"fault then: pause-leader a, 0.000 s - 0.017 s"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v := check(t, c.history, c.options)
			if v.Verdict != c.verdict {
				t.Errorf("verdict %s (%s), want %s", v.Verdict, v.Reason, c.verdict)
			}
			var text []string
			for _, kind := range c.kinds {
				if v.AnomalyCounts[kind] == 0 {
					t.Errorf("no %s among %v", kind, v.AnomalyCounts)
				}
			}
			for _, a := range v.Anomalies {
				if len(c.kinds) > 0 && a.Kind == c.kinds[0] {
					text = append(text, a.Text)
				}
				if len(a.Witness) == 0 {
					t.Errorf("%s without a witness", a.Kind)
				}
			}
			if c.kinds == nil && len(v.Anomalies) > 0 {
				t.Errorf("anomalies %v, want none", v.AnomalyCounts)
			}
			if !strings.Contains(strings.Join(text, "\n"), c.text) {
				t.Errorf("texts %q, want one with %q", text, c.text)
			}
		})
	}
}

func TestPathsAreHeldToTheirOwnPromises(t *testing.T) {
	history := strings.ReplaceAll(lagging, ":b ", ":b/get ") + `
		20 3:a/sync invoke read x nil
		21 3:a/sync ok read x 2 @2
`
	o := checker.Options{Promises: map[string]checker.Level{"get": checker.OrderedLag, "sync": checker.Linearizable}}
	v := check(t, history, o)
	if v.Holds != checker.Holds || v.Verdict != checker.ClassOrderedLag {
		t.Errorf("%s, %s; want ordered-lag, holds", v.Verdict, v.Holds)
	}
	if v.Levels[checker.Linearizable] != checker.Violated || v.Levels[checker.OrderedLag] != checker.Holds {
		t.Errorf("%v; want what the worst of the paths holds", v.Levels)
	}
	if got := v.Paths["sync"]; got.Verdict != checker.ClassLinearizable || got.Reads != 1 {
		t.Errorf("sync: %s with %d reads; want linearizable with 1", got.Verdict, got.Reads)
	}
	if got := v.Paths["get"]; got.StaleReads != 1 || got.Reads != 2 || got.StalenessMS.Max != 10 || got.VersionsBehind.Max != 1 {
		t.Errorf("get: %d of %d stale, %v, %v; want 1 of 2, 10 ms, 1 version", got.StaleReads, got.Reads, got.StalenessMS, got.VersionsBehind)
	}
	o.Promises["get"] = checker.Linearizable
	if v := check(t, history, o); v.Holds != checker.Violated || v.Promise != checker.Linearizable {
		t.Errorf("%s of %s; want the promise of get to be violated", v.Holds, v.Promise)
	}
}

func TestTwoPathsOfOneNodeAreCompared(t *testing.T) {
	v := check(t, `
		0 0 invoke write x 1
		1 0 ok write x 1 @1
		2 0 invoke write x 2
		3 0 ok write x 2 @2
		4 1:b/cache invoke read x nil
		9 1:b/cache ok read x 2 @2
		10 2:b/role invoke read x nil
		11 3:a/role invoke read x nil
		12 2:b/role ok read x 1 @1
		13 3:a/role ok read x 1 @1
		14 1:b/cache invoke read x nil
		15 2:b/role invoke read x nil
		16 2:b/role ok read x 1 @1
		17 1:b/cache ok read x 2 @2
		18 2:b/role invoke read x nil
		19 2:b/role ok read x 2 @2
		20 3:a/cache invoke read x nil
		21 3:a/cache ok read x 2 @2
`, checker.Options{Promises: map[string]checker.Level{"cache": checker.None, "role": checker.None}})
	// a answered what is older before what is newer, and only b the other way round.
	want := []checker.Within{{Node: "b", Behind: "role", Ahead: "cache", Reads: 3, OlderReads: 2, LagMS: checker.Spread{P50: 1, P99: 6, Max: 6}}}
	if !slices.Equal(v.Within, want) {
		t.Errorf("%+v, want %+v", v.Within, want)
	}
}

func TestConvergenceIsMeasuredFromTheHeal(t *testing.T) {
	v := check(t, written+`
		5 nemesis info start-cut b
		6 nemesis info start-cut b
		8 1:b invoke read x nil
		9 1:b ok read x 1 @1
		10 nemesis info stop-cut
		12 nemesis info stop-cut
		17 1:b invoke read x nil
		18 1:b ok read x 1 @1
		30 1:b invoke read x nil
		31 1:b ok read x 2 @2
`, checker.Options{})
	want := []checker.Convergence{{Fault: "cut b, 0.005 s - 0.012 s", HealedMS: 12, ConvergedMS: 5}}
	if diff := cmp.Diff(want, v.Convergence); diff != "" {
		t.Error(diff)
	}
}

func TestLevelsEdges(t *testing.T) {
	v := check(t, lagging, checker.Options{})
	if diff := cmp.Diff([]checker.Level{checker.OrderedLag, checker.MonotonicReads, checker.ReadYourWrites}, v.StrongestHeld); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]checker.Level{checker.Linearizable}, v.WeakestBroken); diff != "" {
		t.Error(diff)
	}
}

func TestTheSameHistoryGivesTheSameBytes(t *testing.T) {
	for _, history := range []string{lagging, forked, goneBack} {
		var texts [2][]byte
		for i := range texts {
			text, err := json.Marshal(check(t, history, checker.Options{}))
			if err != nil {
				t.Fatal(err)
			}
			texts[i] = text
		}
		if !bytes.Equal(texts[0], texts[1]) {
			t.Errorf("two verdicts on one history:\n%s\n%s", texts[0], texts[1])
		}
	}
}

func TestNothingToCheckIsAnError(t *testing.T) {
	cases := []struct{ name, history string }{
		{"only faults", "0 nemesis info start-cut a\n"},
		{"every operation failed", "0 0 invoke write x 1\n1 0 fail write x 1\n"},
		{"every outcome is unknown", "0 0 invoke write x 1\n1 0 info write x 1\n"},
		{"writes, and nobody who looked", "0 0 invoke write x 1\n1 0 ok write x 1\n2 1 invoke write x 2\n3 1 ok write x 2\n"},
		{"writes, and a read of unknown outcome", "0 0 invoke write x 1\n1 0 ok write x 1\n2 1 invoke read x nil\n3 1 info read x nil\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if v, err := checker.Check(parse(t, c.history), checker.Options{}); !errors.Is(err, checker.ErrNothingChecked) {
				t.Errorf("%v, %v; want ErrNothingChecked", v, err)
			}
		})
	}
}

func TestWritesAreCheckedWhereTheyTellVersions(t *testing.T) {
	v, err := checker.Check(parse(t, "0 0 invoke write x 1\n1 0 ok write x 1 @1\n2 1 invoke write x 2\n3 1 ok write x 2 @1\n"), checker.Options{})
	if err != nil || v.Verdict != checker.ClassDivergent {
		t.Errorf("%+v, %v; want two values of one version to be divergent", v, err)
	}
}

func TestWhatCannotBeAskedIsAnError(t *testing.T) {
	cases := []struct {
		name, history string
		options       checker.Options
	}{
		{"no such model", fresh, checker.Options{Model: "stack"}},
		{"no such engine", fresh, checker.Options{Engine: "quantum"}},
		{"an operation that the model does not have", fresh, checker.Options{Model: "mutex"}},
		{"an operation that no model has", "0 0 invoke push x 1\n1 0 ok push x 1\n", checker.Options{}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if v, err := checker.Check(parse(t, c.history), c.options); err == nil {
				t.Errorf("verdict %s, want an error", v.Verdict)
			}
		})
	}
}

func TestWhatIsNotDecidedSaysWhy(t *testing.T) {
	v := check(t, `
		0 0 invoke write x 1
		1 0 ok write x 1
		2 0 invoke write x 2
		3 0 ok write x 2
		4 0 invoke write x 1
		5 0 ok write x 1
		6 1 invoke read x nil
		7 1 ok read x 2
`, checker.Options{Promise: checker.OrderedLag})
	if v.Verdict != checker.ClassOrderedLag && v.Verdict != checker.ClassUndecided {
		t.Errorf("verdict %s", v.Verdict)
	}
	v = check(t, `
		0 0 invoke write x 1
		1 0 ok write x 1
		2 0 invoke write x 2
		3 0 ok write x 2
		4 0 invoke write x 1
		5 0 ok write x 1
		6 1 invoke read x nil
		7 1 ok read x 1
		8 1 invoke read x nil
		9 1 ok read x 2
`, checker.Options{Promise: checker.OrderedLag})
	if v.Holds != checker.Undecided || !strings.Contains(v.Reason, "value 1 was written by event 0 and written again by event 4") {
		t.Errorf("%s: %s; want it undecided, with the two writes of 1", v.Holds, v.Reason)
	}
	if v.Levels[checker.MonotonicReads] != checker.Undecided {
		t.Errorf("monotonic-reads %s; want it undecided like the order", v.Levels[checker.MonotonicReads])
	}
	if v.Levels[checker.Linearizable] != checker.Violated {
		t.Errorf("linearizable %s; want violated whatever else is open", v.Levels[checker.Linearizable])
	}
}

// A read that tells no version, of a value that was written twice, has no
// certain place; that does not hide what the other reads prove.
func TestAReadWithoutPlaceHidesNothing(t *testing.T) {
	const twice = `
		0 0:a invoke write x 1
		1 0:a ok write x 1 @1
		2 0:a invoke write x 2
		3 0:a ok write x 2 @2
		4 0:a invoke write x 1
		5 0:a ok write x 1 @3
		6 1:a invoke read x nil
		7 1:a ok read x 1
		8 1:b invoke read x nil
`
	v := check(t, twice+`
		9 1:b ok read x 1 @3
`, checker.Options{Promise: checker.OrderedLag})
	if v.Levels[checker.OrderedLag] != checker.Undecided || !strings.Contains(v.Reason, "event 6") ||
		v.Levels[checker.MonotonicReads] != checker.Undecided || v.Levels[checker.MonotonicWrites] != checker.Holds {
		t.Errorf("%v: %s; want all but monotonic-writes undecided for the read of event 6", v.Levels, v.Reason)
	}
	v = check(t, twice+`
		9 1:b ok read x 2 @2
`, checker.Options{Promise: checker.OrderedLag})
	if v.StaleReads != 1 || v.Levels[checker.Linearizable] != checker.Violated || !slices.ContainsFunc(v.Warnings, func(w string) bool { return strings.Contains(w, "not measured of every read") }) {
		t.Errorf("%d stale reads, linearizable %s, warnings %q; want the one stale read, and the one that could not be measured", v.StaleReads, v.Levels[checker.Linearizable], v.Warnings)
	}
	v = check(t, twice+`
		9 1:b ok read x 2 @2
		10 2:b invoke read x nil
		11 2:b ok read x 1 @1
`, checker.Options{Promise: checker.OrderedLag})
	if v.Levels[checker.OrderedLag] != checker.Violated || v.AnomalyCounts["regress"] != 1 {
		t.Errorf("ordered-lag %s, anomalies %v; want one regress", v.Levels[checker.OrderedLag], v.AnomalyCounts)
	}
}

// Of a write and a compare-and-set of one value, both of unknown outcome, either
// may have made the version that was read: neither can be blamed for it, and
// what the reads prove is proved whichever it was.
func TestOneOfSeveralUnknownWritersIsNotBlamed(t *testing.T) {
	const either = `
		0 0:a invoke write x 2
		1 0:a ok write x 2 @1
		2 1:a invoke cas x [3 5]
		3 1:a info cas x [3 5]
		4 2:a invoke write x 5
		5 2:a info write x 5
		6 3:b invoke read x nil
		7 3:b ok read x 5 @2
`
	v := check(t, either, checker.Options{Promise: checker.OrderedLag})
	if v.Levels[checker.OrderedLag] == checker.Violated {
		t.Errorf("ordered-lag violated (%v); the write explains the read", v.AnomalyCounts)
	}
	v = check(t, either+`
		8 4:b invoke read x nil
		9 4:b ok read x 2 @1
`, checker.Options{Promise: checker.OrderedLag})
	if v.Levels[checker.OrderedLag] != checker.Violated || v.AnomalyCounts["regress"] != 1 {
		t.Errorf("ordered-lag %s, anomalies %v; want one regress", v.Levels[checker.OrderedLag], v.AnomalyCounts)
	}
}

// Where the order of the writes is not known, nobody went back in it.
func TestNobodyGoesBackInAnOrderThatIsNotKnown(t *testing.T) {
	v := check(t, `
		0 0:a invoke write x 1
		1 1:a invoke write x 2
		2 0:a ok write x 1
		3 1:a ok write x 2
		4 2:b invoke read x nil
		5 2:b ok read x 2
		6 2:b invoke read x nil
		7 2:b ok read x 1
		8 0:a invoke write x 3
		9 0:a ok write x 3
		10 0:a invoke write x 3
		11 0:a ok write x 3
		12 2:b invoke read x nil
		13 2:b ok read x 3
		14 2:b invoke read x nil
		15 2:b ok read x 1
`, checker.Options{Promise: checker.OrderedLag})
	if v.Levels[checker.OrderedLag] != checker.Undecided || v.AnomalyCounts["regress"] != 0 {
		t.Errorf("ordered-lag %s, anomalies %v; want undecided and no regress", v.Levels[checker.OrderedLag], v.AnomalyCounts)
	}
}

// What one key leaves open does not hide what another one proves.
func TestASessionBrokenOnOneKeyIsBroken(t *testing.T) {
	v := check(t, `
		0 0:a invoke write y 1
		1 0:a ok write y 1
		2 0:a invoke write y 1
		3 0:a ok write y 1
		4 1:a invoke read y nil
		5 1:a ok read y 1
`+written+`
		13 1:b invoke read x nil
		14 1:b ok read x 2 @2
		15 1:c invoke read x nil
		16 1:c ok read x 1 @1
`, checker.Options{})
	if v.Levels[checker.MonotonicReads] != checker.Violated || v.Levels[checker.ReadYourWrites] != checker.Undecided {
		t.Errorf("monotonic-reads %s, read-your-writes %s; want violated and undecided", v.Levels[checker.MonotonicReads], v.Levels[checker.ReadYourWrites])
	}
}

// That an element was stale for no time at all is a measurement too.
func TestSetsCountElementsThatWereStaleForAnInstant(t *testing.T) {
	v := check(t, `
		0 0 invoke add s 1
		1 0 ok add s 1
		2 0 invoke add s 2
		3 0 ok add s 2
		3 1 invoke read s nil
		4 1 ok read s [1]
		5 1 invoke read s nil
		6 1 ok read s [2]
		8 1 invoke read s nil
		9 1 ok read s [1 2]
`, checker.Options{})
	want := &checker.Elements{Attempted: 2, Stable: 2, Stale: 2, StableMS: checker.Spread{P50: 0, P99: 4, Max: 4}}
	if diff := cmp.Diff(want, v.Elements); diff != "" {
		t.Error(diff)
	}
}

func TestStalenessIsNotMeasuredWhereTheOrderOfAKeyIsNotKnown(t *testing.T) {
	v := check(t, `
		0 0 invoke write x 1
		1 0 ok write x 1
		2 0 invoke write x 1
		3 0 ok write x 1
		4 1 invoke read x nil
		5 1 ok read x 1
		6 0 invoke write y 2
		7 0 ok write y 2
		8 0 invoke write y 2
		9 0 ok write y 2
		10 1 invoke read y nil
		11 1 ok read y nil
		12 1 invoke read y nil
		13 1 ok read y 2
`, checker.Options{})
	if v.Measured || len(v.Warnings) != 1 || !strings.Contains(v.Warnings[0], "key x") {
		t.Errorf("measured: %v, warnings %q; want the reason of the first key", v.Measured, v.Warnings)
	}
}

// Two observers contradict each other about two writes; a read that began long
// after a later write was acknowledged missed it all the same.
func TestStalenessIsMeasuredWhereNoOrderFits(t *testing.T) {
	const contradicted = `
		0 0:a invoke write x 1
		0 1:a invoke write x 2
		1 0:a ok write x 1
		1 1:a ok write x 2
		2 2:b invoke read x nil
		3 2:b ok read x 1
		4 2:b invoke read x nil
		5 2:b ok read x 2
		6 3:c invoke read x nil
		7 3:c ok read x 2
		8 3:c invoke read x nil
		9 3:c ok read x 1
		10 0:a invoke write x 3
		11 0:a ok write x 3
		21 3:c invoke read x nil
		22 3:c ok read x 1
`
	for _, c := range []struct {
		bound time.Duration
		want  checker.Answer
	}{{9 * time.Millisecond, checker.Violated}, {10 * time.Millisecond, checker.Undecided}} {
		v := check(t, contradicted, checker.Options{Promise: checker.None, MaxStaleness: c.bound})
		if v.Verdict != checker.ClassDivergent || !v.Measured || v.StaleReads != 1 || v.StalenessMS.Max != 10 || v.Holds != c.want {
			t.Errorf("%s, %d stale reads by %v ms, a bound of %v is %s; want divergent, one by 10 ms and %s", v.Verdict, v.StaleReads, v.StalenessMS.Max, c.bound, v.Holds, c.want)
		}
		if len(v.Warnings) != 1 || !strings.Contains(v.Warnings[0], "agrees with what was observed (key x); each lag and number of versions is the least") {
			t.Errorf("warnings %q; want one that says what the numbers are worth", v.Warnings)
		}
	}
}

func TestSetsAreAccountedFor(t *testing.T) {
	v := check(t, `
		0 0 invoke add s 1
		1 0 ok add s 1
		2 0 invoke add s 2
		3 0 ok add s 2
		4 0 invoke add s 3
		5 0 info add s 3
		6 1 invoke read s nil
		7 1 ok read s [1]
		16 1 invoke read s nil
		17 1 ok read s [1 2]
		18 2 invoke add s 4
		19 2 ok add s 4
		20 1 invoke read s nil
		21 1 ok read s [1 2]
`, checker.Options{})
	want := &checker.Elements{Attempted: 4, Stable: 2, Lost: 1, NeverRead: 1, Stale: 1, StableMS: checker.Spread{P50: 3, P99: 3, Max: 3}}
	if diff := cmp.Diff(want, v.Elements); diff != "" {
		t.Error(diff)
	}
	if v.Holds != checker.Violated || v.AnomalyCounts["lost"] != 1 {
		t.Errorf("%s with %v; want a violation with one lost element", v.Holds, v.AnomalyCounts)
	}
}
