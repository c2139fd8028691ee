package html

import (
	"cmp"
	"slices"

	"github.com/stalemate-io/stalemate/checker"
)

// pathVerdict is the verdict on one read path; name is empty where the history
// has but one.
type pathVerdict struct {
	name    string
	verdict *checker.Verdict
}

// pathsOf gives the verdict of every path, those most worth looking at first:
// broken promises, then undecided ones, then divergent, then by stale reads.
func pathsOf(v *checker.Verdict) []pathVerdict {
	if len(v.Paths) == 0 {
		return []pathVerdict{{"", v}}
	}
	var out []pathVerdict
	for name, p := range v.Paths {
		out = append(out, pathVerdict{name, p})
	}
	holds := map[checker.Answer]int{checker.Violated: 0, checker.Undecided: 1, checker.Holds: 2}
	class := map[checker.Class]int{checker.ClassDivergent: 0, checker.ClassUndecided: 1, checker.ClassOrderedLag: 2, checker.ClassLinearizable: 3}
	slices.SortFunc(out, func(a, b pathVerdict) int {
		return cmp.Or(
			cmp.Compare(holds[a.verdict.Holds], holds[b.verdict.Holds]),
			cmp.Compare(class[a.verdict.Verdict], class[b.verdict.Verdict]),
			cmp.Compare(b.verdict.StalenessMS.Max, a.verdict.StalenessMS.Max),
			cmp.Compare(a.name, b.name),
		)
	})
	return out
}

// pathOrder names the paths in that order, as the history names them.
func pathOrder(v *checker.Verdict) []string {
	out := []string{}
	for _, p := range pathsOf(v) {
		out = append(out, historyPath(p.name))
	}
	return out
}

// historyPath is the history's name of a path that a verdict names; the verdict
// calls unnamed what the history does not name.
func historyPath(name string) string {
	if name == "unnamed" {
		return ""
	}
	return name
}
