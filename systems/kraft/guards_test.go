package kraft

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// seeds is how many seeds a storm is run with: few by default, and as many as
// the environment variable STALEMATE_SEEDS says for a long search.
func seeds(t testing.TB, few int) int {
	if s := os.Getenv("STALEMATE_SEEDS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			t.Fatalf("STALEMATE_SEEDS is %q: expected a number of seeds", s)
		}
		return n
	}
	if testing.Short() {
		return max(1, few/4)
	}
	return few
}

// earned is a storm in which a guard is needed, and what breaks without it.
var earned = []struct {
	guard string
	storm storm
	few   int // seeds of the storm with all guards on
	want  []string
}{
	{"pre-vote", loneVoter, 60, []string{"a healthy leader was deposed"}},
	{"check-quorum", cutOff, 12, []string{"after a successor was elected"}},
	{"vote-durability", restarts, 120, []string{"election safety", "log matching", "two leaders in one epoch"}},
	{"fsync-before-ack", restarts, 0, []string{"leader completeness", "state-machine safety", "below the high watermark"}},
	{"truncation-on-divergence", elections, 0, []string{"log matching", "state-machine safety"}},
	{"hw-own-epoch", elections, 120, []string{"leader completeness", "state-machine safety", "below the high watermark"}},
	{"quorum-confirm", cutOff, 0, []string{"quorum read"}},
	{"broker-epoch", incarnations, 20, []string{"in-sync replicas"}},
}

// TestEveryGuardEarnsItsPlace finds what each guard is there to prevent, and
// nothing amiss with all of them on. make guards prints what it finds.
func TestEveryGuardEarnsItsPlace(t *testing.T) {
	const most = 2000
	for _, e := range earned {
		t.Run(e.guard, func(t *testing.T) {
			for seed := range uint64(most) {
				_, err := blow(t, seed, e.storm, func(cfg *Config) {
					if err := cfg.Guards.Set(e.guard, false); err != nil {
						t.Fatal(err)
					}
				})
				if err == nil {
					continue
				}
				t.Logf("without it: %v", err)
				i := slices.IndexFunc(e.want, func(w string) bool { return strings.Contains(err.Error(), w) })
				if i < 0 {
					t.Fatalf("expected one of %q", e.want)
				}
				with := seeds(t, 1)
				for seed := range uint64(with) {
					if _, err := blow(t, seed, e.storm, nil); err != nil {
						t.Fatalf("with it: %v", err)
					}
				}
				t.Attr("guard", fmt.Sprintf("kraft;%s;%s;%d;%d", e.guard, e.want[i], seed, with))
				return
			}
			t.Errorf("%d seeds found nothing amiss without it", most)
		})
	}
}

func TestNothingBreaksWithAllGuards(t *testing.T) {
	for _, e := range earned {
		if e.few == 0 {
			continue // the storm of another guard
		}
		t.Run("in the storm for "+e.guard, func(t *testing.T) {
			reads, answers, elected := 0, 0, 0
			for seed := range uint64(seeds(t, e.few)) {
				w, err := blow(t, seed, e.storm, nil)
				if err != nil {
					t.Fatal(err)
				}
				reads, answers, elected = reads+w.reads, answers+w.answers, elected+w.invariants.Elections()
			}
			if elected == 0 {
				t.Error("no leader was ever elected")
			}
			t.Logf("%d elections, %d changes acknowledged, %d quorum reads", elected, answers, reads)
		})
	}
}

func TestClusterConvergesAfterAnyStorm(t *testing.T) {
	flush := func(c *Config) { c.Guards.DataFlush = true }
	eager := func(c *Config) {
		c.Raft.SnapshotEvery, c.Raft.SnapshotChunk = 20, 100
		c.Raft.EagerHighWatermark = true
	}
	for _, c := range []struct {
		name   string
		storm  storm
		change func(*Config)
	}{
		{"with the defaults", ordinary, nil},
		{"with snapshots and prompt commits", ordinary, eager},
		{"and loses nothing that brokers have flushed", ordinary, flush},
		{"with any fault of the simulator", swarm, nil},
		{"with any fault of the simulator, snapshots and prompt commits", swarm, eager},
		{"with any fault of the simulator, and loses nothing that brokers have flushed", swarm, flush},
	} {
		t.Run(c.name, func(t *testing.T) {
			elected, answers, reads, values := 0, 0, 0, 0
			n := seeds(t, 25)
			for seed := range uint64(n) {
				w, err := blow(t, seed, c.storm, c.change)
				if err == nil {
					err = w.calm(time.Minute)
				}
				if err == nil && w.cfg.Guards.DataFlush {
					err = w.lost()
				}
				if err != nil {
					t.Fatal(err)
				}
				elected, answers = elected+w.invariants.Elections(), answers+w.answers
				reads, values = reads+w.reads, values+len(w.values)
			}
			t.Logf("%d elections, %d changes and %d values acknowledged, %d quorum reads", elected, answers, values, reads)
			// Every run begins with an election; a storm must have cost some a leader.
			if elected <= n || answers < n || reads < n || values < n {
				t.Errorf("too little happened in %d runs to mean anything", n)
			}
		})
	}
}

func TestSnapshotsAreTakenAndFetchedInStorms(t *testing.T) {
	loaded := 0
	for seed := range uint64(seeds(t, 40)) {
		for _, s := range []storm{elections, restarts} {
			w, err := blow(t, seed, s, func(c *Config) { c.Raft.SnapshotEvery, c.Raft.SnapshotChunk = 7, 16 })
			if err != nil {
				t.Fatal(err)
			}
			loaded += w.loaded
		}
	}
	if loaded == 0 {
		t.Error("no replica ever needed another's snapshot")
	}
	t.Logf("%d snapshots fetched", loaded)
}
