package checker

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stalemate-io/stalemate/histories"
)

// lagKinds are the kinds of histories that whole verdicts are held against the
// definitions with.
var lagKinds = []struct {
	name string
	gen  lagHistory
}{
	{"versions", lagHistory{3, 2, 2, 8, true, false, false, 8}},
	{"versions, one key", lagHistory{3, 2, 1, 7, true, false, false, 0}},
	{"versions and compare-and-sets", lagHistory{3, 2, 1, 7, true, true, false, 6}},
	{"unique values", lagHistory{3, 2, 2, 7, false, false, false, 5}},
	{"unique values and compare-and-sets", lagHistory{2, 2, 1, 7, false, true, false, 5}},
	{"repeated values", lagHistory{3, 2, 1, 6, false, false, true, 5}},
}

func eachLagHistory(t *testing.T, do func(t *testing.T, r *rand.Rand, h *histories.History, versions bool)) {
	for n, c := range lagKinds {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(n), 11))
			for range fuzzHistories(t) / 8 {
				do(t, r, c.gen.make(r), c.gen.versions)
			}
		})
	}
}

// judged is Check's verdict; nil where the history holds nothing to check.
func judged(t *testing.T, h *histories.History) *Verdict {
	t.Helper()
	v, err := Check(h, Options{Model: string(modelCASRegister)})
	if errors.Is(err, ErrNothingChecked) {
		return nil
	}
	if err != nil {
		t.Fatalf("%v:\n%s", err, show(h))
	}
	return v
}

func TestVerdictAgreesWithEveryOrder(t *testing.T) {
	eachLagHistory(t, func(t *testing.T, _ *rand.Rand, h *histories.History, versions bool) {
		v := judged(t, h)
		if v == nil || versions && !toldVersions(h) {
			return // what tells no version is held to its value
		}
		for _, c := range []struct {
			level  Level
			before func(a, b *histories.Operation) bool
		}{{Linearizable, realTime}, {OrderedLag, lagging(h)}} {
			if v.Levels[c.level] == Undecided {
				continue
			}
			want := (&sequence{h: h, before: c.before, versions: versions}).exists()
			if want != (v.Levels[c.level] == Holds) {
				t.Fatalf("%s is said to be %s (%s), trying every order says %v:\n%s", c.level, v.Levels[c.level], v.Reason, want, show(h))
			}
		}
	})
}

// A level that holds makes every weaker one hold, and every answer, count and
// edge agrees with the others.
func TestVerdictAgreesWithItself(t *testing.T) {
	eachLagHistory(t, func(t *testing.T, _ *rand.Rand, h *histories.History, versions bool) {
		v := judged(t, h)
		if v == nil {
			return
		}
		for _, l := range Levels() {
			for _, m := range Levels() {
				if l.Implies(m) && v.Levels[l] == Holds && v.Levels[m] != Holds {
					t.Fatalf("%s holds and %s is %s:\n%s", l, m, v.Levels[m], show(h))
				}
			}
		}
		if v.Verdict == ClassLinearizable && v.StaleReads > 0 {
			t.Fatalf("linearizable with %d stale reads:\n%s", v.StaleReads, show(h))
		}
		if (v.Verdict == ClassDivergent) != (v.Levels[OrderedLag] == Violated) {
			t.Fatalf("%s though ordered-lag is %s:\n%s", v.Verdict, v.Levels[OrderedLag], show(h))
		}
		if v.Levels[Linearizable] == Violated && len(v.Anomalies) == 0 {
			t.Fatalf("a violation without a proof:\n%s", show(h))
		}
	})
}

// The stale reads are those that the definition of Δ-atomicity names: some
// newer value was acknowledged or read by others before the read began.
func TestStalenessAgreesWithItsDefinition(t *testing.T) {
	eachLagHistory(t, func(t *testing.T, _ *rand.Rand, h *histories.History, versions bool) {
		if !versions || !toldVersions(h) {
			return
		}
		v := newView(h, everyPath)
		res := oneOrder(&v, &spec{model: modelCASRegister, nilReads: nilAbsent, version: -1})
		if res.Answer != Holds {
			return
		}
		got := map[int32]staleRead{}
		for _, s := range measureStaleness(res).stale {
			got[s.op] = s
		}
		for i := range h.Operations {
			read := &h.Operations[i]
			if read.F != histories.Read || read.Outcome != histories.Happened {
				continue
			}
			var known *histories.Operation
			for j := range h.Operations {
				op := &h.Operations[j]
				if op.Outcome == histories.Happened && op.Key == read.Key && versionOf(op) > versionOf(read) && op.Precedes(read) && (known == nil || op.Completed < known.Completed) {
					known = op
				}
			}
			s, stale := got[int32(i)]
			if stale != (known != nil) {
				t.Fatalf("read %d stale: %v, want %v:\n%s", i, stale, known != nil, show(h))
			}
			if stale && s.lag != read.Call-known.Return {
				t.Fatalf("read %d: lag %d, want %d:\n%s", i, s.lag, read.Call-known.Return, show(h))
			}
			if stale {
				if want := versionsBehind(h, read); int(s.behind) != want {
					t.Fatalf("read %d: %d versions behind, want %d:\n%s", i, s.behind, want, show(h))
				}
			}
		}
	})
}

// toldVersions reports whether every read of a value told its version.
func toldVersions(h *histories.History) bool {
	for i := range h.Operations {
		if op := &h.Operations[i]; op.F == histories.Read && op.Result != nilDatum && op.Version == histories.UnknownVersion {
			return false
		}
	}
	return true
}

// versionOf is the version of what an operation wrote or read. Nobody writes
// nil, so that what read it saw the initial value, whatever its version.
func versionOf(op *histories.Operation) int64 {
	if op.F == histories.Read && op.Result == nilDatum {
		return histories.UnknownVersion
	}
	return op.Version
}

// versionsBehind counts the versions, of those that somebody was told, after
// the one that was read and up to the newest that was known when it began.
func versionsBehind(h *histories.History, read *histories.Operation) int {
	newest := versionOf(read)
	versions := map[int64]bool{}
	for i := range h.Operations {
		op := &h.Operations[i]
		if op.Key != read.Key || op.Outcome != histories.Happened {
			continue
		}
		versions[versionOf(op)] = true
		if op.Precedes(read) {
			newest = max(newest, versionOf(op))
		}
	}
	n := 0
	for v := range versions {
		if v > versionOf(read) && v <= newest {
			n++
		}
	}
	return n
}

// Every pair of operations of one client is held against the four guarantees.
func TestSessionsAgreeWithTheirDefinition(t *testing.T) {
	eachLagHistory(t, func(t *testing.T, _ *rand.Rand, h *histories.History, versions bool) {
		if !versions || !toldVersions(h) {
			return
		}
		v := newView(h, everyPath)
		res := oneOrder(&v, &spec{model: modelCASRegister, nilReads: nilAbsent, version: -1})
		for _, reg := range res.registers {
			if reg != nil && (reg.undecided != "" || len(reg.flaws) > 0) {
				return
			}
		}
		got := sessions(res).answers
		want := map[Level]Answer{}
		for _, l := range sessionLevels {
			want[l] = Holds
		}
		for i := range h.Operations {
			for j := range h.Operations {
				a, b := &h.Operations[i], &h.Operations[j]
				if a.Process != b.Process || a.Key != b.Key || !a.Precedes(b) ||
					a.Outcome != histories.Happened || b.Outcome != histories.Happened || versionOf(a) <= versionOf(b) {
					continue
				}
				switch aRead, bRead := a.F == histories.Read, b.F == histories.Read; {
				case aRead && bRead:
					want[MonotonicReads] = Violated
				case bRead:
					want[ReadYourWrites] = Violated
				case aRead:
					want[WritesFollowReads] = Violated
				default:
					want[MonotonicWrites] = Violated
				}
			}
		}
		for _, l := range sessionLevels {
			if got[l] != want[l] {
				t.Fatalf("%s is said to be %s, want %s:\n%s", l, got[l], want[l], show(h))
			}
		}
	})
}

// A read of the oldest value after everything else can only make things worse.
func TestAStaleReadNeverImprovesTheVerdict(t *testing.T) {
	eachLagHistory(t, func(t *testing.T, r *rand.Rand, h *histories.History, versions bool) {
		before := judged(t, h)
		if before == nil {
			return
		}
		h.Operations = append(h.Operations, histories.Operation{
			F: histories.Read, Key: int32(r.IntN(len(h.Keys))), Process: 1000, Node: int16(r.IntN(len(h.Nodes))),
			Invoked: int32(h.Events), Completed: int32(h.Events) + 1, Outcome: histories.Happened,
			Version: histories.UnknownVersion, Call: int64(h.Events) * 1000, Return: int64(h.Events+1) * 1000,
		})
		h.Events += 2
		after := judged(t, h)
		if before.Verdict == ClassUndecided || after.Verdict == ClassUndecided {
			return
		}
		if rankOf[after.Verdict] < rankOf[before.Verdict] {
			t.Fatalf("from %s to %s:\n%s", before.Verdict, after.Verdict, show(h))
		}
	})
}

// Without versions a guarantee holds iff some order of the writes agrees with
// everything observed and with that guarantee.
func TestSessionsWithoutVersionsAgreeWithEveryOrder(t *testing.T) {
	pairs := map[Level][2]bool{ // whether the first and the second are reads
		MonotonicReads: {true, true}, ReadYourWrites: {false, true},
		MonotonicWrites: {false, false}, WritesFollowReads: {true, false},
	}
	decided := map[Answer]int{}
	r := rand.New(rand.NewPCG(5, 5))
	gen := lagHistory{2, 2, 1, 6, false, false, false, 2}
	for range fuzzHistories(t) {
		h := gen.make(r)
		v := newView(h, everyPath)
		res := oneOrder(&v, &spec{model: modelCASRegister, nilReads: nilAbsent, version: -1})
		if res.Answer != Holds {
			continue
		}
		for l, answer := range sessions(res).answers {
			decided[answer]++
			if answer == Undecided {
				continue
			}
			before := func(a, b *histories.Operation) bool {
				return lagging(h)(a, b) || a.Process == b.Process && a.Precedes(b) &&
					pairs[l] == [2]bool{a.F == histories.Read, b.F == histories.Read}
			}
			if want := (&sequence{h: h, before: before}).exists(); want != (answer == Holds) {
				t.Fatalf("%s is said to be %s, trying every order says %v:\n%s", l, answer, want, show(h))
			}
		}
	}
	if decided[Violated] == 0 || decided[Undecided] > decided[Holds]/10 {
		t.Errorf("answers %v: too few that show anything", decided)
	}
}

// Without versions a read counts as stale only where that is certain: then the
// history without its other reads is not linearizable either.
func TestStaleWithoutVersionsIsCertain(t *testing.T) {
	found := 0
	r := rand.New(rand.NewPCG(6, 6))
	gen := lagHistory{3, 2, 1, 8, false, false, false, 0}
	for range fuzzHistories(t) {
		h := gen.make(r)
		v := newView(h, everyPath)
		res := oneOrder(&v, &spec{model: modelCASRegister, nilReads: nilAbsent, version: -1})
		if res.Answer != Holds {
			continue
		}
		stale := measureStaleness(res)
		linear := (&sequence{h: h, before: realTime}).exists()
		if linear && len(stale.stale) > 0 || !linear && stale.exact && len(stale.stale) == 0 {
			t.Fatalf("linearizable: %v, stale reads: %v (exact: %v):\n%s", linear, stale.stale, stale.exact, show(h))
		}
		for _, s := range stale.stale {
			found++
			read, missed := &h.Operations[s.op], &h.Operations[s.missed]
			if s.behind < 1 || !missed.Precedes(read) || s.lag != read.Call-missed.Return {
				t.Fatalf("%+v:\n%s", s, show(h))
			}
		}
	}
	if found == 0 {
		t.Error("no read was stale")
	}
}
