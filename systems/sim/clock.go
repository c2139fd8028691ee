package sim

import (
	"math/bits"
	"time"
)

// clock is a host's own clock: it starts anywhere, may run fast or slow, and
// may jump ahead. It never goes back.
type clock struct {
	local time.Duration // what it showed ...
	since time.Duration // ... at this moment of the world's time
	drift int64         // parts per million it is fast; never below -999,000
}

const million = 1_000_000

// at is what the clock shows at a moment of the world's time, which is never
// before since.
func (c *clock) at(now time.Duration) time.Duration {
	d := int64(now - c.since)
	if c.drift != 0 {
		// d times the rate, rounded down, without overflow.
		rate := million + c.drift
		d = d/million*rate + d%million*rate/million
	}
	return c.local + time.Duration(d)
}

// when is the first moment of the world's time, now or later, at which the
// clock shows at least local.
func (c *clock) when(local, now time.Duration) time.Duration {
	if c.at(now) >= local {
		return now
	}
	if c.drift == 0 {
		return c.since + local - c.local
	}
	hi, lo := bits.Mul64(uint64(local-c.local), million)
	d, rest := bits.Div64(hi, lo, uint64(million+c.drift))
	if rest > 0 {
		d++
	}
	return c.since + time.Duration(d)
}

// set makes the clock jump ahead and run at another speed from now on.
func (c *clock) set(now, jump time.Duration, drift int64) {
	c.local, c.since = c.at(now)+max(0, jump), now
	c.drift = max(-999_000, drift)
}
