package checker

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"
)

// TestBenchTable prints each engine beside porcupine, on the same history and
// in the same process, and their ratios. It runs where STALEMATE_BENCH is set;
// where porcupine ends at its bounds it says so instead of a ratio.
func TestBenchTable(t *testing.T) {
	if os.Getenv("STALEMATE_BENCH") == "" {
		t.Skip("set STALEMATE_BENCH=1 to time the engines beside porcupine (takes a few minutes)")
	}
	const porcupineTime, porcupineMemory = time.Minute, 7 << 30
	cases := []struct {
		engine                      string
		clients, operations, values int
		withCAS                     bool
	}{
		{engineFast, 5, 10_000, 0, false},
		{engineFast, 5, 100_000, 0, false},
		{engineFast, 20, 1_000, 0, false},
		{engineWindowed, 5, 10_000, 5, true},
		{engineWindowed, 5, 100_000, 5, true},
		{engineWindowed, 16, 1_000, 0, true},
	}
	fmt.Printf("%-9s %8s %10s %7s %12s %12s %10s %10s\n",
		"engine", "clients", "operations", "values", "time", "porcupine", "x faster", "x leaner")
	for _, c := range cases {
		h, ops := busyHistory(c.clients, c.operations, c.values, 0, c.withCAS)
		run := func(o linearOptions) (time.Duration, uint64, linearResult) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			start := time.Now()
			r := linearizable(context.Background(), view{history: h, keys: [][]int32{ops}},
				spec{model: modelCASRegister, nilReads: nilAbsent}, o)
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			return took, after.TotalAlloc - before.TotalAlloc, r
		}
		took, bytes, r := run(linearOptions{Engine: c.engine})
		if r.Answer != Holds {
			t.Errorf("%s: %v %s", c.engine, r.Answer, r.Reason)
		}
		slow, heavy, p := run(linearOptions{Engine: enginePorcupine, Timeout: porcupineTime, Memory: porcupineMemory, Workers: 1})
		faster, leaner, porcupine := "-", "-", slow.Round(time.Microsecond).String()
		if p.Answer == Undecided {
			porcupine = "gave up at " + porcupine
		} else {
			faster = fmt.Sprintf("%.0f", float64(slow)/float64(took))
			leaner = fmt.Sprintf("%.0f", float64(heavy)/float64(bytes))
		}
		fmt.Printf("%-9s %8d %10d %7d %12s %12s %10s %10s\n", c.engine, c.clients, c.operations, c.values,
			took.Round(time.Microsecond), porcupine, faster, leaner)
	}
}
