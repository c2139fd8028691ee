package forensics

import (
	"errors"
	"slices"

	"github.com/stalemate-io/stalemate/histories/kafkalogs"
)

// ErrNothing is that no file told anything that can be judged.
var ErrNothing = errors.New("no line tells of leadership: expected state-change.log, controller.log or server.log of Kafka, " +
	"the output of kafka-dump-log --cluster-metadata-decoder or kafka-topics --describe, or partition states from ZooKeeper")

// The verdicts.
const (
	// Divergent: no single order explains what the nodes wrote.
	Divergent = "divergent"
	// OrderedLag: one order explains it, and somebody was behind.
	OrderedLag = "ordered-lag"
	// OneOrder: one order explains it, and nobody is known to have been behind.
	OneOrder = "one-order"
	// Undecided: nodes differ, and nothing tells who is newer.
	Undecided = "undecided"
)

// Report is what came of the files.
type Report struct {
	Verdict string `json:"verdict"`
	// Because says why, where the verdict is undecided.
	Because string `json:"because,omitempty"`
	// Findings are the divergences, and what else deserves to be known, gravest
	// first.
	Findings []Finding `json:"findings,omitempty"`
	// Counts is how many findings there are of each kind; Findings holds no
	// more than MaxFindings of each.
	Counts map[Kind]int `json:"counts,omitempty"`
	// Compared is how often each check had two facts to hold against each other.
	// A check that is missing had none, so that it found nothing says nothing;
	// where all of those for divergences are missing, the verdict is undecided.
	// Fenced and Refused are told in one line each and compare nothing.
	Compared map[Kind]int `json:"compared,omitempty"`
	// Observers are the nodes that were heard, and what they tell.
	Observers []Observer `json:"observers"`
	// Files says what became of each file.
	Files []File `json:"files"`
	// Warnings are limits of this judgement.
	Warnings []string `json:"warnings,omitempty"`
}

// MaxFindings is how many findings of a kind a Report holds.
const MaxFindings = 20

// Kind is what was found.
type Kind string

// The kinds of findings. The first four are divergences.
const (
	Conflict Kind = "conflict"
	Regress  Kind = "regress"
	Zombie   Kind = "zombie"
	Fork     Kind = "fork"
	// Differ: two nodes answered differently, in no known order.
	Differ Kind = "differ"
	// Lost: a state was sent to a broker, which took what was sent later and
	// never this.
	Lost Kind = "never-received"
	// Behind: a node's log ends with an older state than another's.
	Behind Kind = "behind"
	// Fenced and Refused: a guard did its work.
	Fenced  Kind = "fenced"
	Refused Kind = "refused"
)

// kinds is their order in a report.
var kinds = []Kind{Conflict, Zombie, Regress, Fork, Differ, Lost, Behind, Fenced, Refused}

// Divergence tells whether findings of this kind make a divergence.
func (k Kind) Divergence() bool {
	return k == Conflict || k == Regress || k == Zombie || k == Fork
}

// Kinds lists all kinds, the gravest first.
func Kinds() []Kind { return slices.Clone(kinds) }

// Divergences is how many divergences were found.
func (r *Report) Divergences() int {
	n := 0
	for _, k := range kinds {
		if k.Divergence() {
			n += r.Counts[k]
		}
	}
	return n
}

// compared is how often anything was compared that could have been a
// divergence, or answers that differ.
func (r *Report) compared() int {
	n := r.Compared[Differ]
	for _, k := range kinds {
		if k.Divergence() {
			n += r.Compared[k]
		}
	}
	return n
}

// Finding is one thing that was found, with the lines that show it.
type Finding struct {
	Kind      Kind    `json:"kind"`
	Partition string  `json:"partition,omitempty"`
	Text      string  `json:"text"`
	Lines     []Quote `json:"lines"`
}

// Quote is a line of a file.
type Quote struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

func quote(f *kafkalogs.Fact) Quote { return Quote{f.File, f.Line, f.Text} }

// Observer is a node as far as the files tell of it: a broker's metadata cache,
// its roles, a controller, a metadata log.
type Observer struct {
	Name       string `json:"name"`
	Partitions int    `json:"partitions"`
	Changes    int    `json:"changes"`
}

// File is what became of a file.
type File struct {
	Name    string            `json:"name"`
	Lines   int               `json:"lines"`
	Facts   int               `json:"facts"`
	Ignored []kafkalogs.Other `json:"ignored,omitempty"`
	Cut     bool              `json:"cut,omitempty"`
}
