package processes

import (
	"errors"
	"os"
	"strconv"
	"testing"

	"go.uber.org/goleak"

	"github.com/stalemate-io/stalemate/systems/docker"
	"github.com/stalemate-io/stalemate/systems/docker/dockertest"
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
	dir := t.TempDir()
	goThrough(t, func(i int) {
		c, err := Launch(t.Context(), Options{Settings: small, Dir: dir})
		must(t, err)
		end(t, i, c)
		if left := nodesIn(t, dir); len(left) > 0 {
			t.Fatalf("cycle %d left processes behind: %v", i, left)
		}
	})
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != small.Controllers+small.Brokers {
		t.Errorf("%d entries in the folder, %v", len(entries), err)
	}
}

func TestStartingAndStoppingContainersLeavesNothing(t *testing.T) {
	dockertest.Need(t)
	dir := t.TempDir()
	goThrough(t, func(i int) {
		space, err := docker.OpenSpace(t.Context())
		must(t, err)
		c, err := Launch(t.Context(), Options{Settings: small, Dir: dir, Space: space})
		if err != nil {
			t.Fatal(errors.Join(err, space.Close()))
		}
		end(t, i, c)
		must(t, space.Close())
		engine, err := docker.Connect(t.Context())
		must(t, err)
		left, err := engine.Leftovers(t.Context())
		must(t, errors.Join(err, engine.Close()))
		for _, l := range left {
			if l.Run == space.Name() {
				t.Fatalf("cycle %d left %+v", i, l)
			}
		}
	})
}

// goThrough goes through cycles, none of which may leave a goroutine or a descriptor.
func goThrough(t *testing.T, cycle func(i int)) {
	n, err := strconv.Atoi(os.Getenv(cycles))
	if err != nil {
		t.Skipf("set %s to how many cycles to go through", cycles)
	}
	before := 0
	for i := range n {
		cycle(i)
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
}

// end ends a cluster as it may be when a run ends.
func end(t *testing.T, i int, c *Cluster) {
	t.Helper()
	switch i % 3 {
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
}
