package explore

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/internal/toys"
	"github.com/stalemate-io/stalemate/systems/push"
)

// Failure is what went wrong in a run. Two runs fail alike if their failures are
// equal.
type Failure struct {
	// Path is the read path over which it was seen, or "inside" where an
	// invariant of the system broke.
	Path string `json:"path"`
	// Kind is the kind of the anomaly, or the invariant.
	Kind string `json:"kind"`
	// Cause is what brought it about, in general terms; empty where unknown.
	Cause string `json:"cause,omitempty"`
}

// Inside is the Path of what only the system's invariants show.
const Inside = "inside"

// Compare orders failures.
func (f Failure) Compare(g Failure) int {
	return cmp.Or(cmp.Compare(f.Path, g.Path), cmp.Compare(f.Kind, g.Kind), cmp.Compare(f.Cause, g.Cause))
}

// String gives the failure in words.
func (f Failure) String() string {
	s := f.Path + " " + f.Kind
	if f.Cause != "" {
		s += ": " + f.Cause
	}
	return s
}

// uncaused is the failure of a run that was not traced.
func (f Failure) uncaused() Failure { return Failure{Path: f.Path, Kind: f.Kind} }

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// Slug is the failure as part of a file's name.
func (f Failure) Slug() string {
	return strings.Trim(notInNames.ReplaceAllString(strings.ToLower(f.Path+" "+f.Kind+" "+f.Cause), "-"), "-")
}

// failures lists what broke the promises that the verdict on some events was held
// against.
func (p *Plan) failures(v *checker.Verdict, events []histories.Event) []Failure {
	if v == nil {
		return nil
	}
	var out []Failure
	for path, over := range v.Paths {
		out = append(out, p.failuresOver(path, over)...)
	}
	if len(v.Paths) == 0 {
		out = p.failuresOver(pathOf(events), v)
	}
	return out
}

// pathOf is the one read path that is taken in some events.
func pathOf(events []histories.Event) string {
	for i := range events {
		if events[i].Path != "" {
			return events[i].Path
		}
	}
	return ""
}

func (p *Plan) failuresOver(path string, v *checker.Verdict) []Failure {
	if v.Holds != checker.Violated {
		return nil
	}
	var out []Failure
	apart := false
	for i := range v.Anomalies {
		a := &v.Anomalies[i]
		if p.Workload == toys.Data && acrossKeys(a) {
			apart = true
			continue
		}
		if breaks(a.Kind, v.Promise) {
			cause, _, _ := strings.Cut(a.Cause, ":")
			out = append(out, Failure{path, a.Kind, cause})
		}
	}
	if len(out) == 0 && !apart {
		out = append(out, Failure{Path: path, Kind: "not " + string(v.Promise)})
	}
	return out
}

// acrossKeys tells whether an anomaly takes several keys to show. Partitions are
// logs of their own, in no order among each other: a broker that is deposed in one
// and leads another is old there and new here.
func acrossKeys(a *checker.Anomaly) bool {
	return slices.ContainsFunc(a.Witness, func(w checker.Witness) bool { return w.Key != a.Witness[0].Key })
}

// breaks tells whether an anomaly of a kind breaks a promise. Staleness breaks
// linearizability alone; the session guarantees are anomalies of their own name.
func breaks(kind string, promise checker.Level) bool {
	switch kind {
	case "stale", "too-stale", "not-linearizable":
		return promise == checker.Linearizable
	case "monotonic-reads", "read-your-writes", "monotonic-writes", "writes-follow-reads":
		return string(promise) == kind
	}
	return promise == checker.Linearizable || promise == checker.OrderedLag
}

// general tells an invariant that broke in general terms: names and numbers are
// left out, and of "log matching: …" what follows.
func general(err error) string {
	text := strings.TrimPrefix(err.Error(), "at ")
	_, text, _ = strings.Cut(text, ": ")
	text = names.ReplaceAllString(text, "…")
	for strings.HasPrefix(text, "…") || strings.HasPrefix(text, "from leader") {
		// As in "c1 has stopped: c1 in epoch 7: two leaders in one epoch: …".
		_, rest, more := strings.Cut(text, ": ")
		if !more {
			break
		}
		text = rest
	}
	text, _, _ = strings.Cut(text, ":")
	return text
}

var names = regexp.MustCompile(`\bt-[0-9]+\b|\b[bcsx]?[0-9]+\b`)

// invariants lists what broke inside the system, which clients need not see.
func invariants(k *toys.Cluster, audit *push.Audit) ([]Failure, error) {
	if err := k.Broken(); err != nil {
		return []Failure{{Inside, "invariant", general(err)}}, nil
	}
	if audit == nil {
		return nil, nil
	}
	found, err := audit.Faults(toys.Writes(k.Store()))
	if err != nil {
		return nil, err
	}
	var out []Failure
	for _, f := range found {
		// Of caches, clients tell more; and no guard keeps them in order.
		if f.Kind != push.CacheRegress {
			out = append(out, Failure{Path: Inside, Kind: string(f.Kind)})
		}
	}
	return out, nil
}
