package policy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stalemate-io/stalemate/checker"
)

// Ruling is what came of holding a verdict against a policy, or against its own
// promises.
type Ruling struct {
	// Policy names the file; empty where the verdict's own promises were asked.
	Policy string `json:"policy,omitempty"`
	// Answer is violated where any finding is, undecided where any is and none
	// is violated, and holds where every one holds or is excused.
	Answer   checker.Answer `json:"answer"`
	Findings []Finding      `json:"findings"`
	// Notes tell of allowances that are over and of requests about paths that
	// the history does not have.
	Notes []string `json:"notes,omitempty"`
}

// Finding is one request and its answer.
type Finding struct {
	// Path that was asked about; empty where the history has no paths.
	Path string `json:"path,omitempty"`
	// Asked for: a level, or a bound such as "staleness at most 500ms".
	Asked string `json:"asked"`
	// Level is set where a level was asked for.
	Level checker.Level `json:"level,omitempty"`
	// From says who asked: the file and line, or "promise".
	From   string         `json:"from"`
	Answer checker.Answer `json:"answer"`
	// Why in one sentence.
	Why string `json:"why"`
	// Kinds are the kinds of anomalies that a violation rests on.
	Kinds []string `json:"kinds,omitempty"`
	// Excused tells why a violation counts as held; empty where it does not.
	Excused string `json:"excused,omitempty"`
	// Verdict that the finding is about: that of the path, or of the history as
	// the system's own log completes it.
	Verdict *checker.Verdict `json:"-"`
}

// Counts is the answer with excuses taken into account.
func (f *Finding) Counts() checker.Answer {
	if f.Excused != "" {
		return checker.Holds
	}
	return f.Answer
}

// Excuses gives the excuse for an anomaly of one path, if it has one that counts.
func (r *Ruling) Excuses(path, kind string) string {
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Path == path && f.Excused != "" && slices.Contains(f.Kinds, kind) {
			return f.Excused
		}
	}
	return ""
}

// Breaks tells whether an anomaly of one path is part of a violation that counts.
func (r *Ruling) Breaks(path, kind string) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool {
		return f.Path == path && f.Counts() == checker.Violated && slices.Contains(f.Kinds, kind)
	})
}

// Judge holds a verdict on a system against a policy. A read path that the policy
// does not name keeps the promise that it was checked against, and so does all of
// a verdict where p is nil. now decides which allowances are over.
func (p *Policy) Judge(v *checker.Verdict, system string, now time.Time) *Ruling {
	j := &judge{policy: p, system: system, now: now, ruling: &Ruling{Answer: checker.Holds, Findings: []Finding{}}}
	if p != nil {
		j.ruling.Policy = p.Name
	}
	for _, path := range paths(v) {
		j.path(path, v)
	}
	if v.WithLog != nil {
		j.log(v)
	}
	if p == nil {
		j.ruling.Answer = v.Answer()
		return j.ruling
	}
	j.ruling.settle()
	j.missing(v)
	return j.ruling
}

// settle makes the answer of the findings: the worst that counts.
func (r *Ruling) settle() {
	for i := range r.Findings {
		if f := r.Findings[i].Counts(); Worse(f, r.Answer) {
			r.Answer = f
		}
	}
}

// missing notes what is asked of read paths that the history does not have.
func (j *judge) missing(v *checker.Verdict) {
	have := paths(v)
	for _, path := range slices.Sorted(maps.Keys(j.policy.Require[j.system])) {
		if path != Every && !slices.Contains(have, path) {
			j.ruling.Notes = append(j.ruling.Notes, fmt.Sprintf("%s:%d: nothing was read over the path %s, so nothing could be asked of it",
				j.policy.Name, j.policy.Require[j.system][path].Line, path))
		}
	}
}

// rank orders answers from best to worst.
var rank = map[checker.Answer]int{checker.Holds: 0, checker.Undecided: 1, checker.Violated: 2}

// Worse tells whether one answer is worse than another: a violation wins, since
// nothing can take it back, and what is undecided over what holds.
func Worse(a, b checker.Answer) bool { return rank[a] > rank[b] }

// paths are the read paths of a verdict, or the empty name for all of it.
func paths(v *checker.Verdict) []string {
	if len(v.Paths) == 0 {
		return []string{""}
	}
	return slices.Sorted(maps.Keys(v.Paths))
}

// of gives the verdict of a path.
func of(v *checker.Verdict, path string) *checker.Verdict {
	if path == "" && len(v.Paths) == 0 {
		return v
	}
	return v.Paths[path]
}

type judge struct {
	policy *Policy
	system string
	now    time.Time
	ruling *Ruling
}

// path judges one read path: as the clients saw it and, where the system's own log
// says more, as that completes it. Neither may hide what the other shows; what is
// undecided without the log may be decided with it.
func (j *judge) path(path string, v *checker.Verdict) {
	findings := j.asked(path, of(v, path))
	if v.WithLog != nil && v.WithLog.Judgement != nil {
		if with := of(v.WithLog.Judgement, path); with != nil {
			for i, w := range j.asked(path, with) {
				f := &findings[i]
				if w.Answer == checker.Violated && f.Answer != checker.Violated || f.Answer == checker.Undecided && w.Answer == checker.Holds {
					w.Why = "with the system's own log: " + w.Why
					*f = w
				}
			}
		}
	}
	for i := range findings {
		j.excuse(&findings[i])
	}
	j.ruling.Findings = append(j.ruling.Findings, findings...)
}

// asked gives the findings on one path's verdict, the same requests in the same
// order whatever the verdict is.
func (j *judge) asked(path string, v *checker.Verdict) []Finding {
	var out []Finding
	var r Requirement
	named := false
	if j.policy != nil {
		r, named = j.policy.requirement(j.system, path)
	}
	from := "promise"
	if named {
		from = fmt.Sprintf("%s:%d", j.policy.Name, r.Line)
	}
	level := r.Level
	if level == "" {
		level = v.Promise
		if named {
			from = "promise"
		}
	}
	out = append(out, onLevel(path, level, from, v))
	if named {
		from = fmt.Sprintf("%s:%d", j.policy.Name, r.Line)
		out = append(out, bounds(path, from, r, v)...)
	}
	// A bound of the command line or of the run is not in the verdict; that it
	// was broken is.
	if n := v.AnomalyCounts[tooStale]; n > 0 {
		out = append(out, Finding{
			Path: path, Asked: "the bound on staleness", From: "promise", Answer: checker.Violated, Verdict: v,
			Why: fmt.Sprintf("%s staler than allowed, by as much as %s", reads(n), ms(v.StalenessMS.Max)), Kinds: []string{tooStale},
		})
	} else if v.Holds == checker.Undecided && v.Levels[v.Promise] == checker.Holds {
		out = append(out, Finding{
			Path: path, Asked: "the bound on staleness", From: "promise", Answer: checker.Undecided, Verdict: v,
			Why: "staleness could not be measured on every key",
		})
	}
	return out
}

// onLevel answers whether a level held.
func onLevel(path string, level checker.Level, from string, v *checker.Verdict) Finding {
	f := Finding{Path: path, Asked: string(level), Level: level, From: from, Answer: v.Levels[level], Verdict: v, Why: strings.TrimSuffix(v.Reason, ".")}
	switch f.Answer {
	case checker.Violated:
		f.Kinds = Breaking(level, v)
	case checker.Holds:
	default:
		f.Answer = checker.Undecided // also where an older verdict has no answer
	}
	return f
}

// bounds answers whether staleness stayed within its budget. Where it was not
// measured on every key, or not exactly, the numbers are the least that it was: a
// bound that they exceed is broken, and one that they keep is undecided where a
// key is missing.
func bounds(path, from string, r Requirement, v *checker.Verdict) []Finding {
	var out []Finding
	for _, b := range []struct {
		what  string
		limit time.Duration
		found float64
	}{
		{"staleness at most ", r.MaxStaleness, v.StalenessMS.Max},
		{"p99 staleness at most ", r.P99Staleness, v.StalenessMS.P99},
	} {
		if b.limit == 0 {
			continue
		}
		f := Finding{Path: path, Asked: b.what + b.limit.String(), From: from, Answer: checker.Holds, Verdict: v, Why: "it was " + ms(b.found)}
		switch {
		case b.found > float64(b.limit)/1e6:
			f.Answer, f.Kinds = checker.Violated, []string{tooStale}
		case !v.Measured:
			f.Answer, f.Why = checker.Undecided, "staleness could not be measured on every key"
		case v.StaleReads == 0:
			f.Why = "no read was stale"
		}
		out = append(out, f)
	}
	return out
}

// log judges whether the system's own log contradicts what clients were told.
func (j *judge) log(v *checker.Verdict) {
	f := Finding{Asked: "a log that agrees with the clients", From: "promise", Answer: checker.Holds, Verdict: v, Why: "log and clients agree"}
	if kinds := present(v.WithLog.AnomalyCounts, logKinds); len(kinds) > 0 || len(v.WithLog.Anomalies) > 0 {
		f.Answer, f.Kinds = checker.Violated, kinds
		f.Why = "the system's own log contradicts what clients were told: " + strings.Join(kinds, ", ")
	}
	j.excuse(&f)
	j.ruling.Findings = append(j.ruling.Findings, f)
}

// excuse looks for allowances for every kind that a violation rests on.
func (j *judge) excuse(f *Finding) {
	if j.policy == nil || f.Answer != checker.Violated || len(f.Kinds) == 0 {
		return
	}
	var reasons []string
	excused := true
	for _, kind := range f.Kinds {
		a := j.allowed(kind, f.Path)
		if a == nil {
			excused = false
			continue
		}
		reasons = append(reasons, fmt.Sprintf("%s is allowed until %s: %s", kind, a.Expires.Format(time.DateOnly), a.Reason))
	}
	if excused {
		f.Excused = strings.Join(reasons, "; ")
	}
}

// allowed finds the allowance for a kind of anomaly that lasts longest, and notes
// where all of them are over.
func (j *judge) allowed(kind, path string) *Allowance {
	var last *Allowance
	for i := range j.policy.Allow {
		a := &j.policy.Allow[i]
		if a.covers(kind, j.system, path) && (last == nil || cmp.Compare(a.Expires.Unix(), last.Expires.Unix()) > 0) {
			last = a
		}
	}
	if last != nil && last.Expired(j.now) {
		note := fmt.Sprintf("%s:%d: %s was allowed until %s (%s) and is so no longer", j.policy.Name, last.Line, kind, last.Expires.Format(time.DateOnly), last.Reason)
		if !slices.Contains(j.ruling.Notes, note) {
			j.ruling.Notes = append(j.ruling.Notes, note)
		}
		return nil
	}
	return last
}

// present picks the kinds that were found.
func present(counts map[string]int, kinds []string) []string {
	var out []string
	for _, kind := range kinds {
		if counts[kind] > 0 {
			out = append(out, kind)
		}
	}
	return out
}

func reads(n int) string {
	if n == 1 {
		return "1 read was"
	}
	return fmt.Sprintf("%d reads were", n)
}

// ms writes milliseconds.
func ms(x float64) string { return fmt.Sprintf("%g ms", x) }
