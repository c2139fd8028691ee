package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
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
	uniform
	exponentially
	logNormally
)

// Constant always gives d.
func Constant(d time.Duration) Delay { return Delay{a: max(0, d)} }

// Uniform gives durations from least to most, all equally likely.
func Uniform(least, most time.Duration) Delay {
	least = max(0, least)
	return Delay{shape: uniform, a: least, b: max(least, most)}
}

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
	case uniform:
		return d.a + time.Duration(r.Uint64N(uint64(d.b-d.a)+1))
	case exponentially:
		return d.a + time.Duration(times(uint64(d.b), exponential(r)))
	case logNormally:
		return time.Duration(times(uint64(d.a), logNormal(r, d.sigma)))
	}
	return d.a
}

// String gives the form that ParseDelay reads.
func (d Delay) String() string {
	switch d.shape {
	case uniform:
		return fmt.Sprintf("uniform(%v,%v)", d.a, d.b)
	case exponentially:
		return fmt.Sprintf("exponential(%v,%v)", d.a, d.b)
	case logNormally:
		return fmt.Sprintf("lognormal(%v,%s)", d.a,
			strconv.FormatFloat(math.Round(float64(d.sigma)/(1<<32)*1000)/1000, 'f', -1, 64))
	}
	return d.a.String()
}

// ParseDelay reads "2ms", "uniform(1ms,5ms)", "exponential(1ms,2ms)" (least and
// mean of what comes on top) or "lognormal(1ms,0.5)" (median and sigma).
func ParseDelay(text string) (Delay, error) {
	bad := func(err error) (Delay, error) {
		return Delay{}, fmt.Errorf("%q is no delay: %w; expected 2ms, uniform(1ms,5ms), exponential(1ms,2ms) or lognormal(1ms,0.5)", text, err)
	}
	name, rest, found := strings.Cut(strings.TrimSpace(text), "(")
	if !found {
		d, err := duration(name)
		if err != nil {
			return bad(err)
		}
		return Constant(d), nil
	}
	arguments, found := strings.CutSuffix(rest, ")")
	first, second, two := strings.Cut(arguments, ",")
	if !found || !two {
		return bad(fmt.Errorf("it takes two arguments in parentheses"))
	}
	a, err := duration(first)
	if err != nil {
		return bad(err)
	}
	if name == "lognormal" {
		sigma, err := strconv.ParseFloat(strings.TrimSpace(second), 64)
		if err != nil || !(sigma >= 0 && sigma <= 8) {
			return bad(fmt.Errorf("sigma must be a number from 0 to 8"))
		}
		return LogNormal(a, sigma), nil
	}
	b, err := duration(second)
	if err != nil {
		return bad(err)
	}
	switch name {
	case "uniform":
		if b < a {
			return bad(fmt.Errorf("the least is larger than the most"))
		}
		return Uniform(a, b), nil
	case "exponential":
		return Exponential(a, b), nil
	}
	return bad(fmt.Errorf("unknown distribution %q", name))
}

// duration reads a duration that is not negative and below a day, which keeps
// every sum of them far from overflow.
func duration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(strings.TrimSpace(text))
	if err != nil {
		return 0, err
	}
	if d < 0 || d > 24*time.Hour {
		return 0, fmt.Errorf("%v is not between 0 and 24h", d)
	}
	return d, nil
}
