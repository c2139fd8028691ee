package toys

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stalemate-io/stalemate/checker"
)

func survey(seeds, workers int) Survey {
	return Survey{
		Systems: Systems(), Families: Families(), First: 1, Seeds: seeds, Workers: workers,
		Warmup: 6 * time.Second, Load: 20 * time.Second, Settle: 12 * time.Second,
	}
}

// TestPromises holds what the comparison is there to show: under every kind of
// trouble the log keeps its promises, and brokers that are pushed to hold two
// truths where a guard is off or a push is overtaken.
func TestPromises(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates an hour")
	}
	r, err := survey(4, 0).Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Invariants) > 0 {
		t.Errorf("broken invariants: %v", r.Invariants)
	}
	divergent := map[string]int{}
	stale := 0
	for _, row := range r.Rows {
		if row.Undecided > 0 || row.Runs != 4 || row.Reads == 0 {
			t.Errorf("%s, %s over %s: %d of %d runs are undecided, %d reads", row.Family, row.System, row.Path, row.Undecided, row.Runs, row.Reads)
		}
		if row.System == "kraft" && (row.Broken > 0 || row.Divergent > 0) {
			t.Errorf("kraft over %s under %s: %d of %d runs broke the promise, %d divergent", row.Path, row.Family, row.Broken, row.Runs, row.Divergent)
		}
		if row.Path == "quorum" && row.Linearizable != row.Runs {
			t.Errorf("quorum reads under %s: %d of %d linearizable", row.Family, row.Linearizable, row.Runs)
		}
		if row.System == "push" && row.Path == "broker" {
			divergent[row.Family] = row.Divergent
		}
		if row.System == "kraft" && row.Path == "leader" && row.Family == "cut-off-leader" {
			stale = row.StaleReads
		}
	}
	for _, family := range []string{"storm", "write-then-crash", "lost-push", "reordered-push", "zombie-controller"} {
		if divergent[family] == 0 {
			t.Errorf("push is never divergent under %s", family)
		}
	}
	if stale == 0 {
		t.Error("no stale read over path leader behind a cut-off leader")
	}
}

// TestSameSurveySameResult runs one survey twice, with another number of workers.
func TestSameSurveySameResult(t *testing.T) {
	one := survey(1, 1)
	one.Families = one.Families[:2]
	many := one
	many.Workers = 4
	a, err := one.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	b, err := many.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(a, b, cmpopts.IgnoreUnexported(Row{})); d != "" {
		t.Errorf("(-1 worker +4 workers):\n%s", d)
	}
	if a.Rows[0].Promise != checker.None || a.Rows[2].Promise != checker.OrderedLag {
		t.Errorf("promises are %v and %v", a.Rows[0].Promise, a.Rows[2].Promise)
	}
}
