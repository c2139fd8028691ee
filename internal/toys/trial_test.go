package toys

import (
	"context"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/checker"
)

func quick(system string, seed uint64) Trial {
	return Trial{
		Config: Config{System: system, Controllers: 3, Brokers: 5, Partitions: 12, Seed: seed},
		Warmup: 6 * time.Second, Load: 10 * time.Second, Settle: 8 * time.Second,
	}
}

// TestNothingBroken holds both systems to their promises where nothing breaks.
func TestNothingBroken(t *testing.T) {
	for _, system := range Systems() {
		t.Run(system, func(t *testing.T) {
			for seed := range uint64(3) {
				o, err := quick(system, seed).Run(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				for path, v := range o.Verdict.Paths {
					t.Logf("%s: %s, %d reads, %d stale, max %v ms, %v %s", path, v.Verdict, v.Reads, v.StaleReads, v.StalenessMS.Max, v.AnomalyCounts, v.Reason)
					if v.Verdict == checker.ClassDivergent || v.Verdict == checker.ClassUndecided {
						t.Errorf("seed %d: path %s is %s: %s %v", seed, path, v.Verdict, v.Reason, v.Anomalies)
					}
					if v.Reads < 200 {
						t.Errorf("seed %d: only %d reads over path %s", seed, v.Reads, path)
					}
				}
			}
		})
	}
}
