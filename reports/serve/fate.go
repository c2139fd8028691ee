package serve

import (
	"slices"

	"github.com/stalemate-io/stalemate/checker"
)

// fate is what became of a promise. Where nothing was promised nothing was kept
// either, whatever the verdict.
type fate string

const (
	unpromised fate = "none"
	kept       fate = "kept"
	broken     fate = "broken"
	undecided  fate = "undecided"
)

// fateOf says what became of all that a run promised.
func fateOf(v *checker.Verdict) fate {
	promised := slices.ContainsFunc(pathsOf(v), func(p namedVerdict) bool { return p.Verdict.Promise != checker.None })
	return newFate(promised, v.Answer())
}

func newFate(promised bool, a checker.Answer) fate {
	switch {
	case a == checker.Violated: // by the system's own log perhaps
		return broken
	case !promised:
		return unpromised
	case a == checker.Holds:
		return kept
	}
	return undecided
}

// Clause says it in words.
func (f fate) Clause() string {
	switch f {
	case unpromised:
		return "nothing was promised"
	case undecided:
		return "whether the promise was kept is undecided"
	}
	return "what was promised was " + string(f)
}
