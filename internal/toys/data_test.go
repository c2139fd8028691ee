package toys

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/systems/sim"
)

func dataTrial(t *testing.T, system, family string, seed uint64, on ...string) *Outcome {
	t.Helper()
	trial := Trial{
		Config:   Config{System: system, Controllers: 3, Brokers: 5, Partitions: 12, Seed: seed, On: on},
		Workload: Data, Warmup: 6 * time.Second, Load: 20 * time.Second, Settle: 12 * time.Second,
	}
	for _, f := range Families() {
		if f.Name == family {
			trial.Schedule = func(k *Cluster) []sim.Fault { return f.Schedule(k, trial.Warmup, trial.Warmup+trial.Load) }
		}
	}
	o, err := trial.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestDeposedLeadersServeStaleData looks for reads of data that a leader answers
// which is cut off and no longer leads: old, but in order.
func TestDeposedLeadersServeStaleData(t *testing.T) {
	for _, system := range Systems() {
		t.Run(system, func(t *testing.T) {
			for seed := uint64(1); seed <= 40; seed++ {
				v := dataTrial(t, system, "cut-off-leader", seed).Verdict
				if v.StaleReads == 0 {
					continue
				}
				t.Logf("seed %d: %d of %d reads, by at most %.0f ms", seed, v.StaleReads, v.Reads, v.StalenessMS.Max)
				if v.Verdict != checker.ClassOrderedLag || v.Holds != checker.Holds {
					t.Errorf("seed %d is %s and its promise %s; expected ordered lag, as promised", seed, v.Verdict, v.Holds)
				}
				for _, a := range v.Anomalies {
					if !strings.HasPrefix(a.Cause, CauseDeposed) {
						t.Errorf("the cause of %s is %q; expected %q", a.Kind, a.Cause, CauseDeposed)
					}
				}
				return
			}
			t.Error("40 seeds, and no read was stale")
		})
	}
}

// TestSelfFencingKeepsDeposedLeadersSilent runs storms with both extras of kraft on:
// without data-flush, a storm's crashes lose records that were acknowledged.
func TestSelfFencingKeepsDeposedLeadersSilent(t *testing.T) {
	reads := 0
	for _, family := range []string{"cut-off-leader", "storm"} {
		for seed := uint64(1); seed <= 6; seed++ {
			v := dataTrial(t, "kraft", family, seed, "self-fencing", "data-flush").Verdict
			if reads += v.Reads; v.Verdict != checker.ClassLinearizable {
				t.Errorf("%s, seed %d is %s: %v", family, seed, v.Verdict, v.AnomalyCounts)
			}
		}
	}
	if reads < 10000 {
		t.Errorf("%d reads: too few to mean anything", reads)
	}
}
