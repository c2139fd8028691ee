package sim

import (
	"math"
	"math/rand/v2"
	"time"
)

// Delay is a distribution of durations. The zero Delay is always 0.
type Delay struct {
	shape shape
	a, b  time.Duration
	sigma uint64 // fixed point
}

type shape uint8

const (
	constant shape = iota
	exponentially
	logNormally
)

// Constant always gives d.
func Constant(d time.Duration) Delay { return Delay{a: max(0, d)} }

// Exponential gives least plus an exponentially distributed duration of the
// given mean.
func Exponential(least, mean time.Duration) Delay {
	return Delay{shape: exponentially, a: max(0, least), b: max(0, mean)}
}

// LogNormal gives durations around a median with a long tail; sigma is the
// standard deviation of their logarithm. With sigma 0.5 one in a hundred is over
// 3.2 times the median, with 1 over 10 times. No delay is more than 1024 times
// longer or shorter than the median.
func LogNormal(median time.Duration, sigma float64) Delay {
	sigma = max(0, min(sigma, 8))
	return Delay{shape: logNormally, a: max(0, median), sigma: uint64(math.Round(sigma*1000)) << 32 / 1000}
}

// draw gives one duration.
func (d Delay) draw(r *rand.Rand) time.Duration {
	switch d.shape {
	case exponentially:
		return d.a + time.Duration(times(uint64(d.b), exponential(r)))
	case logNormally:
		return time.Duration(times(uint64(d.a), logNormal(r, d.sigma)))
	}
	return d.a
}
