package html

import (
	"fmt"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
)

// clock gives the place of events on the time axis. Where a history has no
// times, positions stand for them: the order is right, the distances say
// nothing.
type clock struct {
	h *histories.History
	// timed is false where positions stand for times.
	timed bool
	// end is the time of the last event, in microseconds.
	end float64
}

func newClock(h *histories.History) *clock {
	c := &clock{h: h, timed: true}
	for i := range h.Operations {
		if h.Operations[i].Call == histories.UnknownTime {
			c.timed = false
			break
		}
	}
	for i := range h.Operations {
		call, ret, over := c.span(&h.Operations[i])
		c.end = max(c.end, call)
		if over {
			c.end = max(c.end, ret)
		}
	}
	for i := range h.Faults {
		if c.timed {
			c.end = max(c.end, float64(h.Faults[i].Time)/1000)
		}
	}
	c.end = max(c.end, 1)
	return c
}

// perPosition is how many microseconds a position is drawn as.
const perPosition = 1000

// span gives when an operation was called and returned, in microseconds; over
// is false where it did not return.
func (c *clock) span(op *histories.Operation) (call, ret float64, over bool) {
	if !c.timed {
		return float64(op.Invoked) * perPosition, float64(op.Completed) * perPosition, op.Completed != histories.Open
	}
	return float64(op.Call) / 1000, float64(op.Return) / 1000, op.Return != histories.OpenTime && op.Return != histories.UnknownTime
}

// window gives a fault's span in microseconds.
func (c *clock) window(f *checker.FaultWindow) (from, to float64) {
	if !c.timed || f.From == histories.UnknownTime {
		from, to = float64(f.Start)*perPosition, float64(f.Stop)*perPosition
		if f.Stop == histories.Open {
			to = c.end
		}
		return from, to
	}
	from, to = float64(f.From)/1000, float64(f.To)/1000
	if f.To == histories.OpenTime {
		to = c.end
	}
	return from, max(from, to)
}

// text writes a time in seconds, or a position.
func (c *clock) text(us float64) string {
	if !c.timed {
		return fmt.Sprintf("event %.0f", us/perPosition)
	}
	return fmt.Sprintf("%.3f s", us/1e6)
}
