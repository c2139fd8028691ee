package policy

import (
	"time"

	"github.com/stalemate-io/stalemate/checker"
)

// File is the name of the policy that is used where it lies in the working
// directory.
const File = "stalemate.yaml"

// Every stands for all systems, or for all read paths that have no entry of
// their own.
const Every = "*"

// MaxRetries bounds how often a run may be tried again.
const MaxRetries = 10

// Policy is the content of a policy file.
type Policy struct {
	// Name of the file, as it was given.
	Name string
	// Require has what is asked for, by system and read path.
	Require map[string]map[string]Requirement
	// Allow lists the known anomalies.
	Allow []Allowance
	// Retries is how often a run is tried again whose system failed: did not
	// start, never answered. A violation is never tried again.
	Retries int
}

// Requirement is what is asked of the reads over one path.
type Requirement struct {
	// Level that must hold; empty where only staleness is bounded.
	Level checker.Level
	// MaxStaleness bounds the staleness of every read and P99Staleness that of
	// 99 in 100 stale ones; zero where there is no bound.
	MaxStaleness, P99Staleness time.Duration
	// Line of the file.
	Line int
}

// Allowance excuses anomalies of one kind until a day.
type Allowance struct {
	// Kind of anomaly, as in verdict.json.
	Kind string
	// System and Path say where; Every, the default, is everywhere.
	System, Path string
	Reason       string
	// Expires is the last day on which the allowance counts, in UTC.
	Expires time.Time
	// Line of the file.
	Line int
}

// Expired tells whether the allowance is over at a time.
func (a *Allowance) Expired(now time.Time) bool { return !now.UTC().Before(a.Expires.AddDate(0, 0, 1)) }

// covers tells whether the allowance is about a kind of anomaly there.
func (a *Allowance) covers(kind, system, path string) bool {
	return a.Kind == kind && (a.System == Every || a.System == system) && (a.Path == Every || a.Path == path)
}

// requirement finds what is asked of a read path: the entry of the system and
// path itself, else that of the system's every path, else the same two of every
// system.
func (p *Policy) requirement(system, path string) (Requirement, bool) {
	for _, s := range []string{system, Every} {
		for _, q := range []string{path, Every} {
			if r, ok := p.Require[s][q]; ok {
				return r, true
			}
		}
	}
	return Requirement{}, false
}
