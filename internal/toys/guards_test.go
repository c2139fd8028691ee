package toys

import (
	"context"
	"testing"
)

// TestEveryGuardIsSeenToEarnItsPlace searches a few seeds; stalemate guards
// searches more.
func TestEveryGuardIsSeenToEarnItsPlace(t *testing.T) {
	for _, e := range EarnedGuards() {
		t.Run(e.System+" without "+e.Guard, func(t *testing.T) {
			w, err := e.Weigh(context.Background(), 1, 60, 5)
			if err != nil {
				t.Fatal(err)
			}
			if !w.Found {
				t.Errorf("%d seeds showed nothing amiss without it", w.Tried)
			}
			if w.With > 0 {
				t.Errorf("%d of %d seeds broke %s with every guard on", w.With, w.Runs, e.Broken)
			}
			t.Logf("%s falls over path %s at seed %d", e.Broken, e.Path, w.Without)
		})
	}
}
