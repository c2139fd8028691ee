package checker

import (
	"fmt"
	"slices"
	"strings"
)

// Level is a consistency level that a history can be held against. Levels are
// partially ordered by strength; see Implies.
type Level string

// The levels, strongest first.
const (
	// Linearizable: one order of all operations, in agreement with real time
	// and with what every operation returned (Herlihy & Wing 1990).
	Linearizable Level = "linearizable"
	// OrderedLag: one order of all writes, in agreement with real time among
	// writes, and every observer's reads walk forward through it: old, yet
	// consistent. An observer is the node that answered where the history
	// tells it, else the client. Once every fault is healed and the system has
	// settled, every observer arrives at the end of the order.
	OrderedLag Level = "ordered-lag"
	// The four session guarantees (Terry et al. 1994), for each client and key.
	MonotonicReads    Level = "monotonic-reads"
	ReadYourWrites    Level = "read-your-writes"
	MonotonicWrites   Level = "monotonic-writes"
	WritesFollowReads Level = "writes-follow-reads"
	// None asks for nothing; only malformed histories fail it.
	None Level = "none"
)

// Levels lists every level, strongest first.
func Levels() []Level {
	return []Level{
		Linearizable, OrderedLag, MonotonicReads, ReadYourWrites,
		MonotonicWrites, WritesFollowReads, None,
	}
}

// implied gives the levels that directly follow from a level. Ordered lag does
// not imply monotonic reads or read your writes: a client that moves from one
// node to another may meet an older one. Its order of writes agrees with real
// time and no observer is ahead of it, which is what the other two ask.
var implied = map[Level][]Level{
	Linearizable:      {OrderedLag, MonotonicReads, ReadYourWrites},
	OrderedLag:        {MonotonicWrites, WritesFollowReads},
	MonotonicReads:    {None},
	ReadYourWrites:    {None},
	MonotonicWrites:   {None},
	WritesFollowReads: {None},
}

// Implies reports whether a history that holds l also holds weaker.
func (l Level) Implies(weaker Level) bool {
	if l == weaker {
		return true
	}
	return slices.ContainsFunc(implied[l], func(next Level) bool { return next.Implies(weaker) })
}

// ParseLevel finds a level by name.
func ParseLevel(name string) (Level, error) {
	if l := Level(name); slices.Contains(Levels(), l) {
		return l, nil
	}
	var names []string
	for _, l := range Levels() {
		names = append(names, string(l))
	}
	return "", fmt.Errorf("no level is called %q; the levels are %s", name, strings.Join(names, ", "))
}

// edges gives the two edges of what a history showed: the strongest levels
// that hold (none stronger than them holds) and the weakest that are broken
// (none weaker than them is broken).
func edges(answers map[Level]Answer) (strongest, weakest []Level) {
	strongest, weakest = []Level{}, []Level{}
	for _, l := range Levels() {
		covers := func(m Level) bool { return m != l && answers[m] == Holds && m.Implies(l) }
		under := func(m Level) bool { return m != l && answers[m] == Violated && l.Implies(m) }
		if answers[l] == Holds && !slices.ContainsFunc(Levels(), covers) {
			strongest = append(strongest, l)
		}
		if answers[l] == Violated && !slices.ContainsFunc(Levels(), under) {
			weakest = append(weakest, l)
		}
	}
	return strongest, weakest
}

// closeAnswers carries answers along implication: what holds makes everything weaker
// hold, what is broken makes everything stronger broken. A proof of a violation
// is never taken back.
func closeAnswers(answers map[Level]Answer) {
	for _, l := range Levels() {
		for _, m := range Levels() {
			if l.Implies(m) && answers[m] == Violated {
				answers[l] = Violated
			}
		}
	}
	for _, l := range Levels() {
		for _, m := range Levels() {
			if l.Implies(m) && answers[l] == Holds {
				answers[m] = Holds
			}
		}
	}
}
