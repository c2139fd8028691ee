package checker

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

// Verdict is all that Check found; its JSON form is verdict.json, whose fields
// are stable within a Format version.
type Verdict struct {
	Format  int   `json:"format"`
	Verdict Class `json:"verdict"`
	// Reason says why in one sentence; always set where Verdict is undecided.
	Reason string `json:"reason,omitempty"`
	// Promise is the level that the history was held against, and Holds
	// whether it held. Both edges of what the history showed follow.
	Promise        Level     `json:"promise"`
	Holds          Answer    `json:"holds"`
	StrongestHeld  []Level   `json:"strongest_held"`
	WeakestBroken  []Level   `json:"weakest_broken"`
	Operations     int       `json:"operations"`
	Reads          int       `json:"reads"`
	Unknown        int       `json:"unknown"`
	StaleReads     int       `json:"stale_reads"`
	StalenessMS    Spread    `json:"staleness_ms"`
	VersionsBehind Spread    `json:"versions_behind"`
	Engine         string    `json:"engine"`
	ConfirmedBy    string    `json:"confirmed_by,omitempty"`
	Anomalies      []Anomaly `json:"anomalies"`
	Warnings       []string  `json:"warnings"`
	// Paths holds the same for each read path, where the history has several.
	Paths map[string]*Verdict `json:"paths,omitempty"`
}

// Spread sums up a distribution over the stale reads.
type Spread struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
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
	Index   int     `json:"index"`
	Process int     `json:"process"`
	F       string  `json:"f"`
	Value   any     `json:"value"`
	Node    string  `json:"node,omitempty"`
	CallMS  float64 `json:"call_ms"`
	// ReturnMS is absent where the outcome is unknown.
	ReturnMS *float64 `json:"return_ms,omitempty"`
	Version  *int64   `json:"version,omitempty"`
	Text     string   `json:"text"`
}
