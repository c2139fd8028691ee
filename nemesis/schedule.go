package nemesis

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Window is when a fault is to be in force, counted from the start of the load.
type Window struct {
	Fault      Fault
	Start, End time.Duration
}

// Schedule says how often faults come.
type Schedule struct {
	// Total is how long the load lasts.
	Total time.Duration
	// Every is the length of a period; there is one fault in each, at a time
	// drawn at random.
	Every time.Duration
	// For is how long a fault lasts.
	For time.Duration
	// Healthy is how long the cluster is left alone, at least, before and
	// after each fault.
	Healthy time.Duration
}

// Windows draws when each fault is to be in force. Every fault is used before
// one is used again. The windows lie wholly within the load, so that what a
// fault leaves behind is seen as well.
func (s Schedule) Windows(faults []Fault, rng *rand.Rand) ([]Window, error) {
	if len(faults) == 0 {
		return nil, nil
	}
	need := s.Healthy + s.For + s.Healthy
	switch {
	case s.For <= 0:
		return nil, fmt.Errorf("faults of %v: expected more than nothing", s.For)
	case s.Every < need:
		return nil, fmt.Errorf("faults of %v every %v leave no healthy time: expected a fault every %v or less often", s.For, s.Every, need)
	case s.Total < need:
		return nil, fmt.Errorf("a run of %v has no room for a fault of %v: expected at least %v", s.Total, s.For, need)
	}
	var (
		windows []Window
		order   []int
	)
	for begin := time.Duration(0); s.Total-begin >= need; begin += s.Every {
		if len(order) == 0 {
			order = rng.Perm(len(faults))
		}
		room := min(s.Every, s.Total-begin) - need
		start := begin + s.Healthy + time.Duration(rng.Int64N(int64(room)+1))
		windows = append(windows, Window{Fault: faults[order[0]], Start: start, End: start + s.For})
		order = order[1:]
	}
	return windows, nil
}
