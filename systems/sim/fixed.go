package sim

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// Delays are drawn in fixed point, 32 bits behind the point. The same seed has
// to give the same bytes on every machine, and floating point does not: Go
// may fuse a multiplication with an addition on one architecture and not on
// another, and math.Exp is written in assembly on some.

const (
	one   = uint64(1) << 32
	ln2   = uint64(2977044472) // ln 2
	log2e = uint64(6196328019) // log2 e
)

// log2s[i] is log2(1+i/256) and exp2s[i] is 2^(i/256). Rounded to 32 bits they
// are the same wherever they are computed: no entry lies near a boundary of
// rounding, which a test makes sure of.
var log2s, exp2s = tables()

func tables() (logs, exps [257]uint64) {
	for i := range logs {
		logs[i] = uint64(math.Round(math.Log2(1+float64(i)/256) * (1 << 32)))
		exps[i] = uint64(math.Round(math.Exp2(float64(i)/256) * (1 << 32)))
	}
	return logs, exps
}

// times multiplies a whole number with a fixed-point one.
func times(n, q uint64) uint64 {
	hi, lo := bits.Mul64(n, q)
	return hi<<32 | lo>>32
}

// exponential draws from the exponential distribution with mean 1.
func exponential(r *rand.Rand) uint64 {
	x := r.Uint64() | 1 // in (0, 2^64)
	n := bits.Len64(x)
	m := x << (64 - n) // the leading one on top
	i, rest := m>>55&0xff, m>>23&(one-1)
	log := uint64(n-1)<<32 + log2s[i] + times(rest, log2s[i+1]-log2s[i])
	return times(64<<32-log, ln2)
}

// normal draws from a good approximation of the standard normal distribution,
// cut off at six standard deviations: the sum of twelve uniform numbers.
func normal(r *rand.Rand) int64 {
	var sum uint64
	for range 6 {
		x := r.Uint64()
		sum += x>>32 + x&(one-1)
	}
	return int64(sum) - 6<<32
}

// exp2 is 2^y, with y held within ±10.
func exp2(y int64) uint64 {
	y = max(-10<<32, min(y, 10<<32))
	whole, rest := y>>32, uint64(y)&(one-1)
	i, within := rest>>24, rest&(1<<24-1)
	q := exp2s[i] + (exp2s[i+1]-exp2s[i])*within>>24
	if whole < 0 {
		return q >> -whole
	}
	return q << whole
}

// logNormal draws from the log-normal distribution with median 1 whose
// logarithm has the given standard deviation, in fixed point.
func logNormal(r *rand.Rand, sigma uint64) uint64 {
	z := normal(r)
	s := times(sigma, log2e)
	if z < 0 {
		return exp2(-int64(times(uint64(-z), s)))
	}
	return exp2(int64(times(uint64(z), s)))
}
