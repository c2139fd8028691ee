package toys

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stalemate-io/stalemate/checker"
)

// pathOrder is the order in which read paths are listed.
var pathOrder = []string{"broker", "leader", "quorum"}

func (s Survey) result(all []finding) *Result {
	r := &Result{Seeds: s.Seeds, First: s.First}
	rows := map[string]*Row{}
	var order []string
	for _, f := range all {
		r.Simulated += f.simulated.Seconds()
		family, system := s.Families[f.family], s.Systems[f.system]
		if f.broken != nil {
			r.Invariants = append(r.Invariants, fmt.Sprintf("%s under %s, seed %d: %v", system, family.Name, f.seed, f.broken))
		}
		for _, path := range pathOrder {
			v := f.verdict.Paths[path]
			if v == nil {
				continue
			}
			key := family.Name + " " + system + " " + path
			row := rows[key]
			if row == nil {
				row = &Row{Family: family.Name, System: system, Path: path, Promise: Promises(system)[path]}
				if system == "push" {
					row.Off = family.Off
				}
				rows[key] = row
				order = append(order, key)
			}
			row.Add(f.seed, v)
		}
	}
	// A run may lack a path, so that rows may be met out of order.
	slices.SortStableFunc(order, func(a, b string) int {
		x, y := rows[a], rows[b]
		if x.Family != y.Family || x.System != y.System {
			return 0
		}
		return strings.Compare(x.Path, y.Path)
	})
	for _, key := range order {
		r.Rows = append(r.Rows, *rows[key])
	}
	return r
}

// Add adds what one run showed of the path.
func (r *Row) Add(seed uint64, v *checker.Verdict) {
	r.Runs++
	switch v.Verdict {
	case checker.ClassLinearizable:
		r.Linearizable++
	case checker.ClassOrderedLag:
		r.OrderedLag++
	case checker.ClassDivergent:
		r.Divergent++
		if r.FirstDivergent == nil {
			r.FirstDivergent = &seed
		}
	default:
		r.Undecided++
	}
	if v.Holds == checker.Violated {
		r.Broken++
	}
	r.Reads += v.Reads
	r.StaleReads += v.StaleReads
	if v.StaleReads > 0 {
		r.p99 = append(r.p99, v.StalenessMS.P99)
		r.behind = append(r.behind, v.VersionsBehind.P99)
		r.LagP99MS, r.BehindP99 = median(r.p99), median(r.behind)
	}
	r.LagWorstMS = max(r.LagWorstMS, v.StalenessMS.Max)
	r.BehindMax = max(r.BehindMax, v.VersionsBehind.Max)
	if r.Anomalies == nil {
		r.Anomalies = map[string]int{}
	}
	for _, kind := range slices.Sorted(maps.Keys(v.AnomalyCounts)) {
		switch kind {
		// What follows from staleness, or is told by regress, is left out.
		case "stale", "not-linearizable", "too-stale", "monotonic-reads", "read-your-writes":
		case "stuck":
			r.NeverConverged++
			r.Anomalies[kind]++
		default:
			r.Anomalies[kind]++
		}
	}
}

func median(xs []float64) float64 {
	if len(xs) == 0 {
		return 0
	}
	xs = slices.Sorted(slices.Values(xs))
	return xs[(len(xs)-1)/2]
}
