package diff

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stalemate-io/stalemate/checker"
)

// verdict is one on lagging reads, changed by edits.
func verdict(edits ...func(*checker.Verdict)) *checker.Verdict {
	v := &checker.Verdict{
		Measured: true, Reads: 100, StaleReads: 10, StalenessMS: checker.Spread{P50: 10, P99: 80, Max: 100},
		Levels:        map[checker.Level]checker.Answer{checker.Linearizable: checker.Violated, checker.OrderedLag: checker.Holds},
		AnomalyCounts: map[string]int{"stale": 10, "not-linearizable": 1},
	}
	for _, l := range checker.Levels() {
		if _, ok := v.Levels[l]; !ok {
			v.Levels[l] = checker.Holds
		}
	}
	for _, edit := range edits {
		edit(v)
	}
	return v
}

func level(l checker.Level, a checker.Answer) func(*checker.Verdict) {
	return func(v *checker.Verdict) { v.Levels[l] = a }
}

func worst(ms float64) func(*checker.Verdict) {
	return func(v *checker.Verdict) { v.StalenessMS.Max = ms }
}

func kind(k string, n int) func(*checker.Verdict) {
	return func(v *checker.Verdict) { v.AnomalyCounts[k] = n }
}

func unmeasured(v *checker.Verdict) { v.Measured = false }

func fresh(v *checker.Verdict) {
	v.StaleReads, v.StalenessMS = 0, checker.Spread{}
}

func log(counts map[string]int) func(*checker.Verdict) {
	return func(v *checker.Verdict) { v.WithLog = &checker.WithLog{AnomalyCounts: counts} }
}

func overPaths(names ...string) *checker.Verdict {
	v := &checker.Verdict{Paths: map[string]*checker.Verdict{}}
	for _, name := range names {
		v.Paths[name] = verdict()
	}
	return v
}

func TestBetween(t *testing.T) {
	for name, test := range map[string]struct {
		old, new *checker.Verdict
		trend    Trend
	}{
		"a verdict is the same as itself":                        {verdict(), verdict(), Same},
		"a level that held is broken":                            {verdict(), verdict(level(checker.OrderedLag, checker.Violated)), Worse},
		"a level that was broken holds":                          {verdict(level(checker.OrderedLag, checker.Violated)), verdict(), Better},
		"what held is undecided":                                 {verdict(), verdict(level(checker.OrderedLag, checker.Undecided)), Open},
		"what was undecided is broken":                           {verdict(level(checker.OrderedLag, checker.Undecided)), verdict(level(checker.OrderedLag, checker.Violated)), Open},
		"what is undecided twice is not the same":                {verdict(level(checker.OrderedLag, checker.Undecided)), verdict(level(checker.OrderedLag, checker.Undecided)), Open},
		"staleness within the tolerance":                         {verdict(), verdict(worst(130)), Same},
		"staleness beyond it":                                    {verdict(), verdict(worst(130.1)), Worse},
		"staleness that shrank within the tolerance":             {verdict(), verdict(worst(80)), Same},
		"staleness that shrank beyond it":                        {verdict(), verdict(worst(50)), Better},
		"stale reads where none were":                            {verdict(fresh), verdict(), Worse},
		"no stale reads where some were":                         {verdict(), verdict(fresh), Better},
		"stale reads where none were, below the floor":           {verdict(fresh), verdict(func(v *checker.Verdict) { v.StalenessMS = checker.Spread{P50: 1, P99: 4, Max: 5} }), Same},
		"staleness that could not be measured":                   {verdict(), verdict(unmeasured), Open},
		"a new kind of anomaly":                                  {verdict(), verdict(kind("fork", 1)), Worse},
		"a kind of anomaly that is gone":                         {verdict(kind("fork", 1)), verdict(), Better},
		"a kind of anomaly that is there more often":             {verdict(kind("fork", 1)), verdict(kind("fork", 9)), Same},
		"stale reads are told by their staleness":                {verdict(), verdict(kind("stale", 0)), Same},
		"worse wins over better":                                 {verdict(kind("fork", 1)), verdict(kind("regress", 1)), Worse},
		"worse wins over open":                                   {verdict(), verdict(kind("regress", 1), unmeasured), Worse},
		"open wins over better":                                  {verdict(kind("fork", 1)), verdict(unmeasured), Open},
		"the same paths":                                         {overPaths("get", "sync"), overPaths("get", "sync"), Same},
		"a path that is not read any more":                       {overPaths("get", "sync"), overPaths("get"), Open},
		"a path that was not read before":                        {overPaths("get"), overPaths("get", "sync"), Open},
		"a log that contradicts the clients anew":                {verdict(log(nil)), verdict(log(map[string]int{"log-lost": 1})), Worse},
		"a log that is known now and contradicts the clients":    {verdict(), verdict(log(map[string]int{"log-lost": 1})), Worse},
		"a log that is known now and agrees":                     {verdict(), verdict(log(nil)), Open},
		"a log that is not known any more":                       {verdict(log(nil)), verdict(), Open},
		"a verdict of an older format, which lacks some answers": {verdict(), verdict(level(checker.OrderedLag, "")), Open},
	} {
		t.Run(name, func(t *testing.T) {
			d := Between(test.old, test.new, Tolerance{Share: 0.25, Floor: 5 * time.Millisecond})
			if d.Trend != test.trend {
				t.Errorf("%s, expected %s: %+v", d.Trend, test.trend, d.Changes)
			}
		})
	}
}

// TestWorseTurnedRoundIsBetter holds for any two verdicts that are decided and
// measured.
func TestWorseTurnedRoundIsBetter(t *testing.T) {
	round := map[Trend]Trend{Worse: Better, Better: Worse, Same: Same}
	rapid.Check(t, func(t *rapid.T) {
		any := func(name string) *checker.Verdict {
			answer := rapid.SampledFrom([]checker.Answer{checker.Holds, checker.Violated})
			return verdict(
				level(checker.OrderedLag, answer.Draw(t, name+" ordered lag")), level(checker.Linearizable, answer.Draw(t, name+" linearizable")),
				worst(rapid.Float64Range(0, 1000).Draw(t, name+" max")), kind("fork", rapid.IntRange(0, 2).Draw(t, name+" forks")),
			)
		}
		old, new := any("old"), any("new")
		there, back := Between(old, new, Tolerance{Share: 0.25}), Between(new, old, Tolerance{Share: 0.25})
		for i, c := range there.Changes {
			if back.Changes[i].Trend != round[c.Trend] {
				t.Errorf("%+v one way, %+v the other", c, back.Changes[i])
			}
		}
	})
}
