package checker

import (
	"cmp"
	"slices"

	"github.com/stalemate-io/stalemate/histories"
)

// maxShares is how many keys a verdict lists.
const maxShares = 32

// spread sums up values, which it sorts: the 50th and 99th percentile by
// nearest rank, and the largest.
func spread(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	slices.Sort(values)
	rank := func(percent int) float64 { return values[max((len(values)*percent+99)/100, 1)-1] }
	return Spread{rank(50), rank(99), values[len(values)-1]}
}

// summary makes the spreads of some stale reads.
func summary(stale []staleRead) (lag, behind Spread) {
	lags := make([]float64, 0, len(stale))
	versions := make([]float64, 0, len(stale))
	for i := range stale {
		if stale[i].lag >= 0 {
			lags = append(lags, ms(stale[i].lag))
		}
		versions = append(versions, float64(stale[i].behind))
	}
	return spread(lags), spread(versions)
}

// shares splits stale reads by what of each group reads belong to.
func shares(v *view, stale []staleRead, groups int, group func(*histories.Operation) int, name func(int) string) []Share {
	reads := make([]int, groups)
	split := make([][]staleRead, groups)
	for _, op := range v.operations {
		if op.F == histories.Read && op.Outcome == histories.Happened {
			reads[group(op)]++
		}
	}
	for i := range stale {
		g := group(&v.history.Operations[stale[i].op])
		split[g] = append(split[g], stale[i])
	}
	var out []Share
	for g := range groups {
		if reads[g] == 0 {
			continue
		}
		s := Share{Name: name(g), Reads: reads[g], StaleReads: len(split[g])}
		s.StalenessMS, s.VersionsBehind = summary(split[g])
		out = append(out, s)
	}
	return out
}

// byNode gives each node's share, in order of name; nothing where the history
// names no nodes.
func byNode(v *view, stale []staleRead) []Share {
	h := v.history
	if len(h.Nodes) < 2 {
		return nil
	}
	out := shares(v, stale, len(h.Nodes),
		func(op *histories.Operation) int { return int(op.Node) },
		func(n int) string { return h.Nodes[n] })
	slices.SortFunc(out, func(a, b Share) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// byKey gives the shares of the keys with stale reads, worst first.
func byKey(v *view, stale []staleRead) []Share {
	h := v.history
	if len(h.Keys) < 2 || len(stale) == 0 {
		return nil
	}
	out := shares(v, stale, len(h.Keys),
		func(op *histories.Operation) int { return int(op.Key) },
		func(k int) string { return short(h.Keys[k]) })
	out = slices.DeleteFunc(out, func(s Share) bool { return s.StaleReads == 0 })
	slices.SortStableFunc(out, func(a, b Share) int { return cmp.Compare(b.StalenessMS.Max, a.StalenessMS.Max) })
	return out[:min(len(out), maxShares)]
}

// widen makes each number the larger of two spreads.
func (s *Spread) widen(t Spread) {
	s.P50, s.P99, s.Max = max(s.P50, t.P50), max(s.P99, t.P99), max(s.Max, t.Max)
}
