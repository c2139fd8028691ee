package sim

import (
	"hash/fnv"
	"math"
	"slices"
	"testing"
	"time"
)

func TestDelayDistributions(t *testing.T) {
	const n = 100_000
	ms := float64(time.Millisecond)
	for _, c := range []struct {
		name               string
		delay              Delay
		least, median, p99 float64 // in ms
	}{
		{"constant", Constant(time.Millisecond), 1, 1, 1},
		{"exponential", Exponential(time.Millisecond, 2*time.Millisecond), 1, 1 + 2*math.Ln2, 1 + 2*math.Log(100)},
		{"lognormal, sigma 0.5", LogNormal(2*time.Millisecond, 0.5), 0, 2, 2 * math.Exp(0.5*2.326)},
		{"lognormal, sigma 1", LogNormal(2*time.Millisecond, 1), 0, 2, 2 * math.Exp(2.326)},
	} {
		r := stream(1, "test", 0)
		draws := make([]float64, n)
		for i := range draws {
			draws[i] = float64(c.delay.draw(r)) / ms
		}
		slices.Sort(draws)
		near := func(got, want float64) bool { return math.Abs(got-want) <= 0.05*want }
		if draws[0] < c.least || !near(draws[n/2], c.median) || !near(draws[n*99/100], c.p99) {
			t.Errorf("%s: least %.3f, median %.3f, p99 %.3f; want %.3f, %.3f, %.3f",
				c.name, draws[0], draws[n/2], draws[n*99/100], c.least, c.median, c.p99)
		}
	}
}

// TestTablesAreTheSameEverywhere: the tables come from floating point, so make
// sure that no last bit of it decides an entry, and that this machine has the
// entries that all have.
func TestTablesAreTheSameEverywhere(t *testing.T) {
	h := fnv.New64a()
	for i := range log2s {
		for _, exact := range []float64{math.Log2(1+float64(i)/256) * (1 << 32), math.Exp2(float64(i)/256) * (1 << 32)} {
			if _, f := math.Modf(exact); math.Abs(f-0.5) < 1e-4 {
				t.Errorf("entry %d lies near a boundary of rounding: %f", i, exact)
			}
		}
		for _, e := range []uint64{log2s[i], exp2s[i]} {
			for shift := 0; shift < 64; shift += 8 {
				h.Write([]byte{byte(e >> shift)})
			}
		}
	}
	if got := h.Sum64(); got != tablesHash {
		t.Errorf("the tables are others than elsewhere: %#x", got)
	}
}

const tablesHash = 0xf74d5207ca6d8142
