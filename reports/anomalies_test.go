package reports

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/policy"
)

// paths are three read paths: one that broke its promise with a stale read, one
// that promises nothing and diverged, and one that broke its promise by diverging.
func paths() *checker.Verdict {
	of := func(promise checker.Level, holds checker.Answer, class checker.Class, kinds ...string) *checker.Verdict {
		v := &checker.Verdict{
			Verdict: class, Promise: promise, Holds: holds, Reads: 1, AnomalyCounts: map[string]int{},
			Levels: map[checker.Level]checker.Answer{checker.Linearizable: checker.Violated, checker.OrderedLag: checker.Holds, checker.None: checker.Holds},
		}
		if class == checker.ClassDivergent {
			v.Levels[checker.OrderedLag] = checker.Violated
		}
		for _, kind := range kinds {
			v.Anomalies = append(v.Anomalies, checker.Anomaly{Kind: kind, Text: "text"})
			v.AnomalyCounts[kind]++
		}
		return v
	}
	return &checker.Verdict{
		Verdict: checker.ClassDivergent, Holds: checker.Violated,
		Paths: map[string]*checker.Verdict{
			"a": of(checker.Linearizable, checker.Violated, checker.ClassOrderedLag, "monotonic-reads", "stale", "not-linearizable"),
			"b": of(checker.None, checker.Holds, checker.ClassDivergent, "fork", "stale"),
			"c": of(checker.OrderedLag, checker.Violated, checker.ClassDivergent, "conflict", "regress", "stuck", "stale"),
		},
	}
}

func TestTheWorstAnomaliesComeFirst(t *testing.T) {
	v := paths()
	heads := func(text, pattern string) []string {
		var out []string
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			out = append(out, m[1])
		}
		return out
	}
	var text strings.Builder
	if err := Text(&text, "x", v, TextOptions{Verbose: true}); err != nil {
		t.Fatal(err)
	}
	want := []string{"c: conflict", "c: regress", "c: stuck", "b: fork", "a: monotonic-reads", "a: stale", "c: stale", "a: not-linearizable", "b: stale"}
	if got := heads(text.String(), `(?m)^([abc]: [a-z-]+)$`); !slices.Equal(got, want) {
		t.Errorf("the text has %v, want %v", got, want)
	}
	var summary strings.Builder
	if err := Markdown(&summary, []Judged{{Name: "x", Verdict: v, Ruling: (*policy.Policy)(nil).Judge(v, "", time.Now())}}); err != nil {
		t.Fatal(err)
	}
	// What promises nothing is no request that was broken.
	want = []string{"c: conflict", "c: regress", "c: stuck", "a: monotonic-reads"}
	if got := heads(summary.String(), `<summary>([abc]: [a-z-]+)</summary>`); !slices.Equal(got, want) {
		t.Errorf("the summary has %v, want %v", got, want)
	}
}
