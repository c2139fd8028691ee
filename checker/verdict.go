package checker

import "github.com/stalemate-io/stalemate/histories"

// Answer is what one check says.
type Answer string

// The answers. There is no default: a check that did not run has no answer.
const (
	Holds     Answer = "holds"
	Violated  Answer = "violated"
	Undecided Answer = "undecided"
)

// Class is the one-word verdict on a history.
type Class string

// The classes, from best to worst; ClassUndecided where none could be shown.
const (
	ClassLinearizable Class = "linearizable"
	ClassOrderedLag   Class = "ordered-lag"
	ClassDivergent    Class = "divergent"
	ClassUndecided    Class = "undecided"
)

// Format is the version of the form of verdict.json.
const Format = 1

// Verdict is all that Check found; its JSON form is verdict.json, whose fields
// are stable within a Format version and documented in docs/verdict.md. The same
// history and options give the same bytes.
type Verdict struct {
	Format  int   `json:"format"`
	Verdict Class `json:"verdict"`
	// Reason says why in one sentence.
	Reason string `json:"reason,omitempty"`
	// Promise is the level that the history was held against, and Holds
	// whether it held. Levels has the answer for every level, and the two
	// edges of what the history showed follow.
	Promise       Level            `json:"promise"`
	Holds         Answer           `json:"holds"`
	Levels        map[Level]Answer `json:"levels"`
	StrongestHeld []Level          `json:"strongest_held"`
	WeakestBroken []Level          `json:"weakest_broken"`
	// Model is the sequential specification that was checked.
	Model string `json:"model"`
	// Operations counts what happened or may have, Reads the reads among them
	// that returned, Unknown the writes of unknown outcome.
	Operations int `json:"operations"`
	Reads      int `json:"reads"`
	Unknown    int `json:"unknown"`
	// Measured says whether staleness could be measured: where the order of
	// writes is not known, the numbers below are those of the other keys.
	Measured       bool   `json:"measured"`
	StaleReads     int    `json:"stale_reads"`
	StalenessMS    Spread `json:"staleness_ms"`
	VersionsBehind Spread `json:"versions_behind"`
	// Nodes and Keys give the same for each node, and for the keys that had
	// stale reads, worst first, at most maxShares of them.
	Nodes       []Share       `json:"nodes,omitempty"`
	Keys        []Share       `json:"keys,omitempty"`
	Convergence []Convergence `json:"convergence,omitempty"`
	Elements    *Elements     `json:"elements,omitempty"`
	// Engine names what decided linearizability, ConfirmedBy what agreed that
	// every witness of a violation is one.
	Engine      string `json:"engine"`
	ConfirmedBy string `json:"confirmed_by,omitempty"`
	// Anomalies shows a few of each kind; AnomalyCounts says how many there are.
	Anomalies     []Anomaly      `json:"anomalies"`
	AnomalyCounts map[string]int `json:"anomaly_counts,omitempty"`
	Warnings      []string       `json:"warnings"`
	// WithLog is what the system's own log adds; CheckWithLog sets it.
	WithLog *WithLog `json:"with_log,omitempty"`
	// Paths holds the same for each read path, where the history has several.
	// The verdict above is then the worst of theirs.
	Paths map[string]*Verdict `json:"paths,omitempty"`
	// Within compares the paths of each node that answered over several.
	Within []Within `json:"within,omitempty"`
}

// Spread sums up a distribution over the stale reads, by nearest rank.
type Spread struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// Share is the part of the stale reads that one node or key has.
type Share struct {
	Name           string `json:"name"`
	Reads          int    `json:"reads"`
	StaleReads     int    `json:"stale_reads"`
	StalenessMS    Spread `json:"staleness_ms"`
	VersionsBehind Spread `json:"versions_behind"`
}

// Anomaly is one thing that should not have been, with the few operations that
// prove it.
type Anomaly struct {
	Kind    string    `json:"kind"`
	Cause   string    `json:"cause,omitempty"`
	Key     string    `json:"key,omitempty"`
	Node    string    `json:"node,omitempty"`
	Text    string    `json:"text"`
	Witness []Witness `json:"witness"`
}

// Witness is one operation of an anomaly's proof.
type Witness struct {
	// Index is the position of the operation's invocation in the history.
	Index   int             `json:"index"`
	Process int             `json:"process"`
	F       string          `json:"f"`
	Key     string          `json:"key,omitempty"`
	Value   histories.Value `json:"value"`
	Node    string          `json:"node,omitempty"`
	// Outcome is ok, fail or info, as in the history.
	Outcome string `json:"outcome"`
	// CallMS and ReturnMS are milliseconds since the start of the run, absent
	// where the history has no times; ReturnMS also where nothing came back.
	CallMS   *float64 `json:"call_ms,omitempty"`
	ReturnMS *float64 `json:"return_ms,omitempty"`
	Version  *int64   `json:"version,omitempty"`
	Text     string   `json:"text"`
}
