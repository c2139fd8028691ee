package processes

import (
	"os"
	"strconv"
	"testing"

	"go.uber.org/goleak"
)

// cycles in the environment is how often a cluster is started and stopped.
const cycles = "STALEMATE_CYCLES"

// openFiles counts this process's descriptors, where that can be found out.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc to count descriptors in")
	}
	return len(entries)
}

func TestStartingAndStoppingLeavesNothing(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv(cycles))
	if err != nil {
		t.Skipf("set %s to how many cycles to go through", cycles)
	}
	dir := t.TempDir()
	before := 0
	for i := range n {
		c, err := Launch(t.Context(), Options{Settings: small, Dir: dir})
		must(t, err)
		switch i % 3 { // as it may be when a run ends
		case 1:
			must(t, c.Pause(t.Context(), "c1"))
		case 2:
			must(t, c.Kill(t.Context(), "b1"))
		}
		if i%2 == 0 {
			must(t, c.Resume(t.Context(), "c1"))
			must(t, c.Stop(t.Context()))
		}
		must(t, c.Close())
		if left := nodesIn(t, dir); len(left) > 0 {
			t.Fatalf("cycle %d left processes behind: %v", i, left)
		}
		if err := goleak.Find(); err != nil {
			t.Fatalf("cycle %d: %v", i, err)
		}
		switch open := openFiles(t); {
		case i == 0:
			before = open
		case open > before:
			t.Fatalf("%d descriptors are open after cycle %d, %d after the first", open, i, before)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != small.Controllers+small.Brokers {
		t.Errorf("%d entries in the folder, %v", len(entries), err)
	}
}
