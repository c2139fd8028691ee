package policy

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stalemate-io/stalemate/checker"
)

// lagging is the verdict on reads that were stale by up to 80 ms.
func lagging(promise checker.Level) *checker.Verdict {
	v := &checker.Verdict{
		Verdict: checker.ClassOrderedLag, Promise: promise, Measured: true, Reads: 10, StaleReads: 3, Reason: "3 of 10 reads stale",
		StalenessMS: checker.Spread{P50: 10, P99: 70, Max: 80},
		Levels: map[checker.Level]checker.Answer{
			checker.Linearizable: checker.Violated, checker.OrderedLag: checker.Holds, checker.MonotonicReads: checker.Holds,
			checker.ReadYourWrites: checker.Holds, checker.MonotonicWrites: checker.Holds, checker.WritesFollowReads: checker.Holds, checker.None: checker.Holds,
		},
		AnomalyCounts: map[string]int{"stale": 3},
	}
	v.Holds = v.Levels[promise]
	return v
}

// divergent is the verdict on reads in opposite orders, and some that were only stale.
func divergent(promise checker.Level) *checker.Verdict {
	v := lagging(promise)
	v.Verdict, v.Levels[checker.OrderedLag], v.AnomalyCounts["fork"] = checker.ClassDivergent, checker.Violated, 1
	v.Holds = v.Levels[promise]
	return v
}

func undecided() *checker.Verdict {
	v := lagging(checker.OrderedLag)
	v.Verdict, v.Levels[checker.OrderedLag], v.Holds = checker.ClassUndecided, checker.Undecided, checker.Undecided
	return v
}

func unmeasured() *checker.Verdict {
	v := lagging(checker.OrderedLag)
	v.Measured = false
	return v
}

func TestJudge(t *testing.T) {
	allow := func(kind, more string) string {
		return "allow: [{anomaly: " + kind + ", reason: known, expires: 2027-03-31" + more + "}]\n"
	}
	for name, test := range map[string]struct {
		verdict *checker.Verdict
		policy  string
		answer  checker.Answer
		says    string // in a note or an excuse
	}{
		"a path that the policy does not name keeps its promise": {lagging(checker.OrderedLag), "", checker.Holds, ""},
		"and breaks it": {lagging(checker.Linearizable), "", checker.Violated, ""},
		"the policy may ask for more than was promised":                         {lagging(checker.OrderedLag), "require: {zk: {'*': linearizable}}\n", checker.Violated, ""},
		"the policy may ask for less than was promised":                         {lagging(checker.Linearizable), "require: {zk: {'*': ordered-lag}}\n", checker.Holds, ""},
		"what is asked of every system counts for each":                         {lagging(checker.OrderedLag), "require: {'*': {'*': linearizable}}\n", checker.Violated, ""},
		"what is asked of the system itself wins over that":                     {lagging(checker.OrderedLag), "require: {'*': {'*': linearizable}, zk: {'*': none}}\n", checker.Holds, ""},
		"what is asked of another system does not count":                        {lagging(checker.OrderedLag), "require: {etcd: {'*': linearizable}}\n", checker.Holds, ""},
		"a level that is undecided is no pass":                                  {undecided(), "require: {zk: {'*': ordered-lag}}\n", checker.Undecided, ""},
		"a budget that is kept":                                                 {lagging(checker.OrderedLag), "require: {zk: {'*': {max-staleness: 80ms}}}\n", checker.Holds, ""},
		"a budget that one read exceeds":                                        {lagging(checker.OrderedLag), "require: {zk: {'*': {max-staleness: 79ms}}}\n", checker.Violated, ""},
		"a budget for 99 in 100 that is kept":                                   {lagging(checker.OrderedLag), "require: {zk: {'*': {p99-staleness: 70ms}}}\n", checker.Holds, ""},
		"a budget for 99 in 100 that is exceeded":                               {lagging(checker.OrderedLag), "require: {zk: {'*': {p99-staleness: 69ms}}}\n", checker.Violated, ""},
		"a budget is undecided where staleness was not measured":                {unmeasured(), "require: {zk: {'*': {max-staleness: 1s}}}\n", checker.Undecided, ""},
		"and broken where what was measured exceeds it":                         {unmeasured(), "require: {zk: {'*': {max-staleness: 1ms}}}\n", checker.Violated, ""},
		"a budget alone leaves the promise as it is":                            {lagging(checker.Linearizable), "require: {zk: {'*': {max-staleness: 1s}}}\n", checker.Violated, ""},
		"an allowed anomaly is excused":                                         {lagging(checker.Linearizable), allow("stale", ""), checker.Holds, "stale is allowed until 2027-03-31: known"},
		"an allowance for another kind excuses nothing":                         {lagging(checker.Linearizable), allow("fork", ""), checker.Violated, ""},
		"an allowance for one of two kinds excuses nothing":                     {divergent(checker.Linearizable), allow("fork", ""), checker.Violated, ""},
		"for what only one of them breaks it does":                              {divergent(checker.OrderedLag), allow("fork", ""), checker.Holds, "fork is allowed"},
		"an allowance for another system excuses nothing":                       {lagging(checker.Linearizable), allow("stale", ", system: etcd"), checker.Violated, ""},
		"an allowance for another path excuses nothing":                         {lagging(checker.Linearizable), allow("stale", ", path: get"), checker.Violated, ""},
		"an allowance that is over excuses nothing":                             {lagging(checker.Linearizable), strings.Replace(allow("stale", ""), "2027-03-31", "2026-12-31", 1), checker.Violated, "is so no longer"},
		"an allowance counts on its last day":                                   {lagging(checker.Linearizable), strings.Replace(allow("stale", ""), "2027-03-31", "2027-01-01", 1), checker.Holds, "until 2027-01-01"},
		"of two allowances the later one counts":                                {lagging(checker.Linearizable), "allow: [{anomaly: stale, reason: old, expires: 2026-01-01}, {anomaly: stale, reason: new, expires: 2028-01-01}]\n", checker.Holds, "new"},
		"staleness beyond a budget can be allowed":                              {lagging(checker.OrderedLag), "require: {zk: {'*': {max-staleness: 1ms}}}\n" + allow("too-stale", ""), checker.Holds, "too-stale is allowed"},
		"an allowance does not decide what is undecided":                        {undecided(), allow("fork", ""), checker.Undecided, ""},
		"a path that is asked about and was not read is noted":                  {lagging(checker.OrderedLag), "require: {zk: {sync: linearizable}}\n", checker.Holds, "nothing was read over the path sync"},
		"one violated path is enough":                                           {twoPaths(), "", checker.Violated, ""},
		"each path has a requirement of its own":                                {twoPaths(), "require: {zk: {get: ordered-lag, '*': linearizable}}\n", checker.Violated, ""},
		"and an allowance of its own":                                           {twoPaths(), allow("stale", ", path: sync"), checker.Holds, "stale"},
		"a contradiction with the system's own log breaks what the policy asks": {withLog(), "require: {zk: {'*': none}}\n", checker.Violated, ""},
		"unless it is allowed":                                                  {withLog(), "require: {zk: {'*': none}}\n" + allow("log-lost", ""), checker.Holds, "log-lost"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Parse("p.yaml", []byte("version: 1\n"+test.policy))
			if err != nil {
				t.Fatal(err)
			}
			r := p.Judge(test.verdict, "zk", time.Date(2027, 1, 1, 23, 59, 0, 0, time.UTC))
			if r.Answer != test.answer {
				t.Errorf("%s, expected %s: %+v", r.Answer, test.answer, r.Findings)
			}
			said := strings.Join(r.Notes, "; ")
			for _, f := range r.Findings {
				said += f.Excused
			}
			if !strings.Contains(said, test.says) || test.says == "" && said != "" {
				t.Errorf("says %q, expected %q", said, test.says)
			}
		})
	}
}

// twoPaths reads get, which lags as it may, and sync, which lags and must not.
func twoPaths() *checker.Verdict {
	get, sync := lagging(checker.OrderedLag), lagging(checker.Linearizable)
	return &checker.Verdict{
		Promise: checker.Linearizable, Holds: checker.Violated, Levels: sync.Levels, Paths: map[string]*checker.Verdict{"get": get, "sync": sync},
	}
}

// withLog is a verdict that the system's own log contradicts.
func withLog() *checker.Verdict {
	v := lagging(checker.OrderedLag)
	v.WithLog = &checker.WithLog{Holds: checker.Violated, AnomalyCounts: map[string]int{"log-lost": 1}}
	return v
}

func TestWhatTheLogAddsIsJudgedToo(t *testing.T) {
	v := lagging(checker.OrderedLag)
	v.WithLog = &checker.WithLog{Holds: checker.Violated, Judgement: divergent(checker.OrderedLag)}
	r := (&Policy{Name: "p.yaml"}).Judge(v, "zk", day(2027, 1, 1))
	if r.Answer != checker.Violated || !strings.HasPrefix(r.Findings[0].Why, "with the system's own log: ") {
		t.Errorf("%s: %+v", r.Answer, r.Findings)
	}
	v = undecided()
	v.WithLog = &checker.WithLog{Holds: checker.Holds, Judgement: lagging(checker.OrderedLag)}
	if r := (&Policy{Name: "p.yaml"}).Judge(v, "zk", day(2027, 1, 1)); r.Answer != checker.Holds {
		t.Errorf("%s: %+v", r.Answer, r.Findings)
	}
}

// TestAPolicyThatAsksNothingChangesNothing holds for verdicts of any shape: the
// ruling of an empty policy, and that without one, is the verdict's own answer.
func TestAPolicyThatAsksNothingChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anyVerdict(t)
		for name, p := range map[string]*Policy{"none": nil, "empty": {Name: "p.yaml"}} {
			if r := p.Judge(v, "zk", time.Now()); r.Answer != v.Answer() {
				t.Errorf("policy %s: %s, while the verdict answers %s: %+v", name, r.Answer, v.Answer(), r.Findings)
			}
		}
	})
}

func anyVerdict(t *rapid.T) *checker.Verdict {
	shapes := map[string]func() *checker.Verdict{
		"lagging":    func() *checker.Verdict { return lagging(checker.OrderedLag) },
		"broken":     func() *checker.Verdict { return lagging(checker.Linearizable) },
		"divergent":  func() *checker.Verdict { return divergent(checker.OrderedLag) },
		"undecided":  undecided,
		"unmeasured": unmeasured,
		"too stale": func() *checker.Verdict {
			v := lagging(checker.OrderedLag)
			v.Holds, v.AnomalyCounts["too-stale"] = checker.Violated, 1
			return v
		},
	}
	one := func(name string) *checker.Verdict {
		return shapes[rapid.SampledFrom([]string{"lagging", "broken", "divergent", "undecided", "unmeasured", "too stale"}).Draw(t, name)]()
	}
	if rapid.Bool().Draw(t, "has a log") {
		return withLog()
	}
	if rapid.Bool().Draw(t, "has paths") {
		v := &checker.Verdict{Holds: checker.Holds, Paths: map[string]*checker.Verdict{"get": one("get"), "sync": one("sync")}}
		for _, p := range v.Paths {
			if rank[p.Holds] > rank[v.Holds] {
				v.Holds = p.Holds
			}
		}
		return v
	}
	return one("all")
}
