// Package diff tells what got worse between two verdicts on the same system: a
// level that held and holds no more, staleness that grew beyond what chance
// explains, a kind of anomaly that was not there before.
//
// Runs against real clusters are never alike, so numbers are compared with a
// tolerance and answers are not: a level either holds or does not.
package diff

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/stalemate-io/stalemate/checker"
)

// Tolerance says how much staleness may grow before it counts as worse: by a
// Share of what it was, and by Floor beyond that.
type Tolerance struct {
	Share float64 // 0.25 is a quarter more
	Floor time.Duration
}

// Trend says which way something went.
type Trend string

// The trends. Open is what cannot be compared, since one of the two verdicts
// does not know it.
const (
	Worse  Trend = "worse"
	Better Trend = "better"
	Same   Trend = "same"
	Open   Trend = "open"
)

// Change is one thing that both verdicts speak of.
type Change struct {
	// Path is the read path, empty where a verdict has none.
	Path string `json:"path,omitempty"`
	// What was compared: a level, a quantile of staleness, a kind of anomaly.
	What  string `json:"what"`
	Old   string `json:"old"`
	New   string `json:"new"`
	Trend Trend  `json:"trend"`
}

// Diff is all that was compared.
type Diff struct {
	// Trend is worse where anything is, else open where anything is, else
	// better where anything is, else the same.
	Trend   Trend    `json:"trend"`
	Changes []Change `json:"changes"`
}

// Between compares an old verdict with a new one.
func Between(old, new *checker.Verdict, t Tolerance) *Diff {
	d := &Diff{Changes: []Change{}}
	olds, news := paths(old), paths(new)
	names := slices.Sorted(maps.Keys(olds))
	for name := range news {
		if _, ok := olds[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		d.path(name, olds[name], news[name], t)
	}
	d.log(old, new)
	d.Trend = d.worst()
	return d
}

// paths gives the verdicts of all read paths, or the whole under the empty name.
func paths(v *checker.Verdict) map[string]*checker.Verdict {
	if len(v.Paths) > 0 {
		return v.Paths
	}
	return map[string]*checker.Verdict{"": v}
}

func (d *Diff) add(path, what, old, new string, trend Trend) {
	d.Changes = append(d.Changes, Change{path, what, old, new, trend})
}

func (d *Diff) path(name string, old, new *checker.Verdict, t Tolerance) {
	switch {
	case old == nil:
		d.add(name, "read path", "not read", "read", Open)
		return
	case new == nil:
		d.add(name, "read path", "read", "not read", Open)
		return
	}
	for _, l := range checker.Levels() {
		if l != checker.None {
			d.answer(name, string(l), old.Levels[l], new.Levels[l])
		}
	}
	d.quantile(name, "staleness p50", old, new, t, func(s checker.Spread) float64 { return s.P50 })
	d.quantile(name, "staleness p99", old, new, t, func(s checker.Spread) float64 { return s.P99 })
	d.quantile(name, "staleness max", old, new, t, func(s checker.Spread) float64 { return s.Max })
	d.kinds(name, old.AnomalyCounts, new.AnomalyCounts)
}

// answer compares whether a level held. What an undecided answer hides is not
// known, so that nothing can be said but where a proof is there: broken now,
// and not known to be so before.
func (d *Diff) answer(path, what string, old, new checker.Answer) {
	trend := Same
	switch {
	case old == new && old != checker.Undecided:
	case old == checker.Holds && new == checker.Violated:
		trend = Worse
	case old == checker.Violated && new == checker.Holds:
		trend = Better
	default:
		trend = Open
	}
	d.add(path, what, word(old), word(new), trend)
}

func word(a checker.Answer) string {
	if a == "" {
		return "not checked"
	}
	return string(a)
}

// quantile compares the staleness of reads. Quantiles are those of the stale
// reads; where none was stale they are zero.
func (d *Diff) quantile(path, what string, old, new *checker.Verdict, t Tolerance, of func(checker.Spread) float64) {
	a, b := of(old.StalenessMS), of(new.StalenessMS)
	shown := func(v *checker.Verdict, x float64) string {
		switch {
		case !v.Measured:
			return fmt.Sprintf("at least %g ms", x)
		case v.StaleReads == 0:
			return "none stale"
		}
		return fmt.Sprintf("%g ms", x)
	}
	trend := Same
	switch {
	case !old.Measured || !new.Measured:
		trend = Open
	case b > t.limit(a):
		trend = Worse
	case a > t.limit(b):
		trend = Better
	}
	d.add(path, what, shown(old, a), shown(new, b), trend)
}

// limit is how much counts as no more than x.
func (t Tolerance) limit(x float64) float64 {
	return x*(1+t.Share) + float64(t.Floor)/float64(time.Millisecond)
}

// kinds compares which kinds of anomalies there were. How often depends on how
// long a run was and counts for nothing, and that reads were stale is told by
// their staleness.
func (d *Diff) kinds(path string, old, new map[string]int) {
	all := map[string]bool{}
	for _, counts := range []map[string]int{old, new} {
		for kind, n := range counts {
			if n > 0 && kind != "stale" {
				all[kind] = true
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		trend := Same
		switch {
		case old[kind] == 0:
			trend = Worse
		case new[kind] == 0:
			trend = Better
		}
		d.add(path, kind, fmt.Sprint(old[kind]), fmt.Sprint(new[kind]), trend)
	}
}

// log compares how the system's own log contradicts the clients.
func (d *Diff) log(old, new *checker.Verdict) {
	switch {
	case old.WithLog == nil && new.WithLog == nil:
	case old.WithLog == nil || new.WithLog == nil:
		known := map[bool]string{true: "not known", false: "known"}
		d.add("", "the system's own log", known[old.WithLog == nil], known[new.WithLog == nil], Open)
		if new.WithLog != nil {
			d.kinds("", nil, new.WithLog.AnomalyCounts)
		}
	default:
		d.kinds("", old.WithLog.AnomalyCounts, new.WithLog.AnomalyCounts)
	}
}

func (d *Diff) worst() Trend {
	for _, trend := range []Trend{Worse, Open, Better} {
		if slices.ContainsFunc(d.Changes, func(c Change) bool { return c.Trend == trend }) {
			return trend
		}
	}
	return Same
}
