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
		delay              Delay
		least, median, p99 float64 // in ms
	}{
		{Constant(time.Millisecond), 1, 1, 1},
		{Uniform(time.Millisecond, 3*time.Millisecond), 1, 2, 2.98},
		{Exponential(time.Millisecond, 2*time.Millisecond), 1, 1 + 2*math.Ln2, 1 + 2*math.Log(100)},
		{LogNormal(2*time.Millisecond, 0.5), 0, 2, 2 * math.Exp(0.5*2.326)},
		{LogNormal(2*time.Millisecond, 1), 0, 2, 2 * math.Exp(2.326)},
	} {
		r := stream(1, "test", 0)
		draws := make([]float64, n)
		for i := range draws {
			draws[i] = float64(c.delay.draw(r)) / ms
		}
		slices.Sort(draws)
		near := func(got, want float64) bool { return math.Abs(got-want) <= 0.05*want }
		if draws[0] < c.least || !near(draws[n/2], c.median) || !near(draws[n*99/100], c.p99) {
			t.Errorf("%v: least %.3f, median %.3f, p99 %.3f; want %.3f, %.3f, %.3f",
				c.delay, draws[0], draws[n/2], draws[n*99/100], c.least, c.median, c.p99)
		}
		again, err := ParseDelay(c.delay.String())
		if err != nil || again != c.delay {
			t.Errorf("%v is read back as %v: %v", c.delay, again, err)
		}
	}
}

func TestBadDelays(t *testing.T) {
	for _, text := range []string{"", "1", "-1ms", "25h", "uniform(1ms)", "uniform(2ms,1ms)", "normal(1ms,2ms)", "lognormal(1ms,x)", "lognormal(1ms,NaN)", "lognormal(1ms,9)", "uniform(1ms,2ms"} {
		if d, err := ParseDelay(text); err == nil {
			t.Errorf("%q was read as %v", text, d)
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
