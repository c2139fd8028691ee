package checker

import "github.com/stalemate-io/stalemate/histories"

// Convergence is how long reads went on being stale after a fault was over:
// from the end of the fault to the invocation of the last stale read before the
// next fault began or the history ended.
type Convergence struct {
	Fault    string  `json:"fault"`
	HealedMS float64 `json:"healed_ms"`
	// ConvergedMS is 0 where no read was stale after the heal.
	ConvergedMS float64 `json:"converged_ms"`
}

// convergence measures every fault that was healed, in a history with times.
func convergence(h *histories.History, faults []fault, stale []staleRead) []Convergence {
	var out []Convergence
	for k := range faults {
		f := &faults[k]
		if f.stop == histories.Open || f.to == histories.UnknownTime {
			continue
		}
		until := int32(histories.Open)
		if k+1 < len(faults) {
			until = faults[k+1].start
		}
		c := Convergence{Fault: f.String(), HealedMS: ms(f.to)}
		for i := range stale {
			op := &h.Operations[stale[i].op]
			if op.Invoked > f.stop && op.Invoked < until && op.Call != histories.UnknownTime {
				c.ConvergedMS = max(c.ConvergedMS, ms(op.Call-f.to))
			}
		}
		out = append(out, c)
	}
	return out
}

// ms turns nanoseconds into milliseconds, to the microsecond.
func ms(ns int64) float64 { return float64(ns/1000) / 1000 }
