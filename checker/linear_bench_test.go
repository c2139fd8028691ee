package checker

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// BenchmarkLinearizable times each engine on one register.
func BenchmarkLinearizable(b *testing.B) {
	cases := []struct {
		engine                      string
		clients, operations, values int
		unknown                     int
		withCAS, stale              bool
	}{
		{engineFast, 5, 100_000, 0, 0, false, false},
		{engineFast, 5, 100_000, 0, 50, true, true},
		{engineFast, 100, 1_000_000, 0, 50, false, false},
		{engineFast, 20, 1_000_000, 0, 50, false, true},
		{engineFast, 20, 1_000_000, 0, 0, true, false},
		{engineFast, 5, 10_000_000, 0, 50, false, false},
		{engineWindowed, 5, 100_000, 5, 0, true, false},
		{engineWindowed, 5, 100_000, 5, 5, true, true},
		{engineWindowed, 5, 1_000_000, 5, 0, true, false},
		{engineWindowed, 16, 1_000, 5, 0, true, false},
		{engineWindowed, 16, 1_000, 0, 0, false, true},
		{enginePorcupine, 5, 10_000, 5, 0, true, false},
		{enginePorcupine, 5, 10_000, 0, 0, false, false},
	}
	for _, c := range cases {
		name := fmt.Sprintf("%s/clients=%d/ops=%d/values=%d/unknown=%d/cas=%v/stale=%v",
			c.engine, c.clients, c.operations, c.values, c.unknown, c.withCAS, c.stale)
		b.Run(name, func(b *testing.B) {
			h, ops := busyHistory(c.clients, c.operations, c.values, c.unknown, c.withCAS)
			want := Holds
			if c.stale && spoil(h) {
				want = Violated
			}
			v := view{history: h, keys: [][]int32{ops}}
			s := spec{model: modelCASRegister, nilReads: nilAbsent}
			b.ReportAllocs()
			b.ResetTimer()
			for b.Loop() {
				r := linearizable(context.Background(), v, s, linearOptions{Engine: c.engine, Timeout: 30 * time.Second})
				if r.Answer != want && !(c.stale && c.values > 0) {
					b.Fatalf("%v %s %v", r.Answer, r.Reason, r.Err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.operations), "ns/operation")
		})
	}
}
