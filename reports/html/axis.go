package html

import (
	"math"
	"strconv"
)

// tick is a mark on an axis.
type tick struct {
	At   float64
	Text string
}

// steps gives round numbers from 0 to at most top, about n of them.
func steps(top float64, n int) []float64 {
	if top <= 0 || math.IsInf(top, 0) || math.IsNaN(top) {
		return nil
	}
	raw := top / float64(n)
	size := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5, 10} {
		if size*m >= raw {
			size *= m
			break
		}
	}
	var out []float64
	for i := 0; float64(i)*size <= top*1.0001; i++ {
		out = append(out, float64(i)*size)
	}
	return out
}

// decades gives the powers of ten from the one at or below low to the one at or
// above high.
func decades(low, high float64) []float64 {
	from, to := math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
	if to <= from {
		to = from + 1
	}
	var out []float64
	for e := from; e <= to; e++ {
		out = append(out, math.Pow(10, e))
	}
	return out
}

// number writes a number of an axis without noise.
func number(x float64) string {
	if x >= 1e6 || x > 0 && x < 1e-3 {
		return strconv.FormatFloat(x, 'g', 3, 64)
	}
	return strconv.FormatFloat(math.Round(x*1e6)/1e6, 'f', -1, 64)
}
