package push

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/stalemate-io/stalemate/systems/sim"
)

// The names of what soak counts beside the faults that the audit finds.
const (
	staysWrong    = "disagreement after the trouble"
	staysWrongYet = "disagreement after a failover"
	lostRecord    = "acknowledged record lost"
	logsDiffer    = "committed logs differ"
)

// TestAllAgreeUnlessPushesAreOvertaken is what this design can promise with all
// its guards on: whatever crashes, pauses, is cut off or gets lost, each broker
// hears all in order, however late; no cache ever goes back, and once there is
// peace all agree. And no acknowledged record is lost on the way.
func TestAllAgreeUnlessPushesAreOvertaken(t *testing.T) {
	for _, crashes := range []bool{false, true} {
		for _, direct := range []bool{false, true} {
			t.Run(fmt.Sprintf("crashes=%v direct-isr=%v", crashes, direct), func(t *testing.T) {
				t.Parallel()
				p := profile{crashes: crashes, change: func(c *Config, _ *sim.Config) { c.DirectISR = direct }}
				for seed := uint64(1); seed <= *seeds; seed++ {
					if s := soak(t, seed, p); len(s.wrong) > 0 {
						t.Errorf("seed %d: %v\n%s", seed, s.wrong, s.note)
					}
				}
			})
		}
	}
}

// TestOvertakenPushesLeaveCachesWrong is what it cannot promise: a push that is
// overtaken by its own repetition puts a cache back to where it was, and it
// stays there until something makes a controller push that partition again.
// Roles are safe, for LeaderAndIsr has its leader epoch, as long as no replica
// is deleted and its epoch forgotten (see the story of the resurrected replica);
// and so is the store.
func TestOvertakenPushesLeaveCachesWrong(t *testing.T) {
	regressed, stayed := uint64(0), uint64(0)
	p := profile{crashes: true, late: true, still: true}
	for seed := uint64(1); seed <= *seeds; seed++ {
		s := soak(t, seed, p)
		if s.wrong[string(CacheRegress)] > 0 {
			regressed++
		}
		if s.wrong[staysWrong] > 0 {
			stayed++
		}
		delete(s.wrong, string(CacheRegress))
		delete(s.wrong, staysWrong)
		if len(s.wrong) > 0 {
			t.Errorf("seed %d: %v\n%s", seed, s.wrong, s.note)
		}
	}
	if regressed == 0 || stayed == 0 {
		t.Errorf("in %d seeds no cache went back (%d) or none stayed there (%d)", *seeds, regressed, stayed)
	}
}

// TestGuardsEarnTheirPlace switches each guard off and finds what it was there
// to prevent, in a run that shows nothing of the kind with all guards on, and
// neither do others. make guards prints what it finds.
func TestGuardsEarnTheirPlace(t *testing.T) {
	for _, g := range []struct {
		guard   string
		p       profile
		direct  bool
		prevent string
	}{
		{"controller-epoch-gate", profile{}, false, string(SupersededPush)},
		{"controller-epoch-check", profile{}, false, string(ZombieWrite)},
		{"conditional-writes", profile{}, true, string(LostUpdate)},
		{"leader-epoch-check", profile{late: true}, false, string(RoleRegress)},
		{"resend-on-failover", profile{}, false, staysWrongYet},
		{"resend-until-answered", profile{}, false, staysWrong},
		{"announce-brokers-first", profile{crashes: true}, false, staysWrong},
		{"broker-epoch", profile{crashes: true}, false, staysWrong},
		{"isr-only-election", profile{crashes: true}, false, lostRecord},
		{"fetch-leader-epoch", profile{}, false, string(EpochMismatch)},
		{"epoch-truncation", profile{}, false, logsDiffer},
	} {
		t.Run(g.guard+" prevents "+g.prevent, func(t *testing.T) {
			t.Parallel()
			with := func(on bool) func(*Config, *sim.Config) {
				return func(c *Config, _ *sim.Config) {
					c.DirectISR = g.direct
					if err := c.Guards.Set(g.guard, on); err != nil {
						t.Fatal(err)
					}
				}
			}
			const most = 2000
			for seed := uint64(1); seed <= most; seed++ {
				g.p.change = with(false)
				if soak(t, seed, g.p).wrong[g.prevent] == 0 {
					continue
				}
				g.p.change = with(true)
				tried := append([]uint64{seed}, guarded(t)...)
				for _, seed := range tried {
					if s := soak(t, seed, g.p); s.wrong[g.prevent] > 0 {
						t.Errorf("seed %d shows it with the guard on, too: %s", seed, s.note)
					}
				}
				t.Attr("guard", fmt.Sprintf("push;%s;%s;%d;%d", g.guard, g.prevent, seed, len(tried)))
				return
			}
			t.Errorf("not found in %d seeds", most)
		})
	}
}

// guarded lists seeds to run with a guard on: a few, or as many as the environment
// variable STALEMATE_SEEDS says.
func guarded(t *testing.T) []uint64 {
	n := 1
	if s := os.Getenv("STALEMATE_SEEDS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil || n < 1 {
			t.Fatalf("STALEMATE_SEEDS is %q: expected a number of seeds", s)
		}
	}
	all := make([]uint64, n)
	for i := range all {
		all[i] = uint64(i) + 1
	}
	return all
}

// seeds is how many runs each soak makes.
var seeds = flag.Uint64("seeds", 40, "how many seeds each soak of a push cluster tries")
