package nemesis

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stalemate-io/stalemate/systems"
)

var _ systems.Dependent = (*fake)(nil)

// The fake cluster of three nodes is led by n3.
func TestFaults(t *testing.T) {
	tests := []struct {
		rule, fault string
		// Each of these must be what is broken, for some seed; and nothing
		// else, for no seed.
		broken [][]string
	}{
		{"isolate-leader cuts every link of the leader both ways", "isolate-leader", [][]string{
			{"n1>n3 cut", "n2>n3 cut", "n3>n1 cut", "n3>n2 cut"},
		}},
		{"isolate-node does so to any node", "isolate-node", [][]string{
			{"n1>n2 cut", "n1>n3 cut", "n2>n1 cut", "n3>n1 cut"},
			{"n1>n2 cut", "n2>n1 cut", "n2>n3 cut", "n3>n2 cut"},
			{"n1>n3 cut", "n2>n3 cut", "n3>n1 cut", "n3>n2 cut"},
		}},
		{"lose-store-leader cuts the leader off from what the nodes depend on", "lose-store-leader", [][]string{
			{"n3>s1 cut", "s1>n3 cut"},
		}},
		{"lose-store-node does so to any node", "lose-store-node", [][]string{
			{"n1>s1 cut", "s1>n1 cut"}, {"n2>s1 cut", "s1>n2 cut"}, {"n3>s1 cut", "s1>n3 cut"},
		}},
		{"lose-peers-leader cuts the leader off from the other nodes alone", "lose-peers-leader", [][]string{
			{"n1>n3 cut", "n2>n3 cut", "n3>n1 cut", "n3>n2 cut"},
		}},
		{"lose-peers-node does so to any node", "lose-peers-node", [][]string{
			{"n1>n2 cut", "n1>n3 cut", "n2>n1 cut", "n3>n1 cut"},
			{"n1>n2 cut", "n2>n1 cut", "n2>n3 cut", "n3>n2 cut"},
			{"n1>n3 cut", "n2>n3 cut", "n3>n1 cut", "n3>n2 cut"},
		}},
		{"pause-leader pauses the leader", "pause-leader", [][]string{{"n3 paused"}}},
		{"pause-node pauses any node", "pause-node", [][]string{{"n1 paused"}, {"n2 paused"}, {"n3 paused"}}},
		{"kill-leader kills the leader", "kill-leader", [][]string{{"n3 killed"}}},
		{"kill-node kills any node", "kill-node", [][]string{{"n1 killed"}, {"n2 killed"}, {"n3 killed"}}},
		{"cut-one-way makes a node deaf or dumb", "cut-one-way", [][]string{
			{"n1>n2 cut", "n1>n3 cut"}, {"n2>n1 cut", "n3>n1 cut"},
			{"n2>n1 cut", "n2>n3 cut"}, {"n1>n2 cut", "n3>n2 cut"},
			{"n3>n1 cut", "n3>n2 cut"}, {"n1>n3 cut", "n2>n3 cut"},
		}},
		{"halves cuts a minority off", "halves", [][]string{
			{"n1>n2 cut", "n1>n3 cut", "n2>n1 cut", "n3>n1 cut"},
			{"n1>n2 cut", "n2>n1 cut", "n2>n3 cut", "n3>n2 cut"},
			{"n1>n3 cut", "n2>n3 cut", "n3>n1 cut", "n3>n2 cut"},
		}},
		{"bridge leaves one node that reaches both sides", "bridge", [][]string{
			{"n1>n2 cut", "n2>n1 cut"}, {"n1>n3 cut", "n3>n1 cut"}, {"n2>n3 cut", "n3>n2 cut"},
		}},
		{"slow-link delays what the leader sends to one follower", "slow-link", [][]string{
			{"n3>n1 delayed 70ms"}, {"n3>n2 delayed 70ms"},
		}},
		{"late-push holds one push of the leader to another node back", "late-push", [][]string{
			{"push to n1 held 9s"}, {"push to n2 held 9s"},
		}},
	}
	covered := []string{}
	for _, test := range tests {
		covered = append(covered, test.fault)
		t.Run(test.rule, func(t *testing.T) {
			faults, err := Parse(test.fault, Settings{Delay: 70 * time.Millisecond, Hold: 9 * time.Second})
			if err != nil || len(faults) != 1 {
				t.Fatalf("Parse gave %v, %v", faults, err)
			}
			missing := slices.Clone(test.broken)
			for seed := range uint64(100) {
				c := newFake(3)
				if strings.HasPrefix(test.fault, "lose-") || test.fault == "late-push" {
					c = newDependent()
				}
				if err := faults[0].Available(c); err != nil {
					t.Fatal(err)
				}
				d, err := faults[0].Plan(t.Context(), c, rand.New(rand.NewPCG(seed, 0)))
				if err != nil {
					t.Fatal(err)
				}
				if c.broke != 0 {
					t.Fatal("planning broke something")
				}
				if err := d.Begin(t.Context()); err != nil {
					t.Fatal(err)
				}
				is := func(want []string) bool { return slices.Equal(c.state(), want) }
				if !slices.ContainsFunc(test.broken, is) {
					t.Fatalf("seed %d broke %q", seed, c.state())
				}
				missing = slices.DeleteFunc(missing, is)
				if d.What == "" || len(d.Targets) == 0 {
					t.Errorf("the disruption does not say what it does to whom: %+v", d)
				}
				for _, target := range d.Targets {
					if !strings.Contains(d.What, target) {
						t.Errorf("%q does not name target %s", d.What, target)
					}
				}
				if err := d.End(t.Context()); err != nil {
					t.Fatal(err)
				}
				if len(c.state()) != 0 {
					t.Fatalf("still broken after the end: %q", c.state())
				}
			}
			if len(missing) != 0 {
				t.Errorf("no seed broke %q", missing)
			}
		})
	}
	if !slices.Equal(covered, Names()) {
		t.Errorf("faults tested: %q, faults there are: %q", covered, Names())
	}
}

func TestANodeThatIsCutOffLosesWhatItDependsOn(t *testing.T) {
	tests := []struct {
		fault string
		want  []string // what is broken between the first target and s1, sorted
	}{
		{"isolate-leader", []string{"n3>s1 cut", "s1>n3 cut"}},
		{"halves", []string{"TARGET>s1 cut", "s1>TARGET cut"}},
		{"cut-one-way", []string{"TARGET>s1 cut"}},
		{"pause-leader", nil},
	}
	for _, test := range tests {
		t.Run(test.fault, func(t *testing.T) {
			faults, err := Parse(test.fault, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			c := newDependent()
			d, err := faults[0].Plan(t.Context(), c, rand.New(rand.NewPCG(3, 0)))
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Begin(t.Context()); err != nil {
				t.Fatal(err)
			}
			var want, got []string
			for _, w := range test.want {
				if strings.Contains(d.What, "hears no other") {
					w = "s1>TARGET cut"
				}
				want = append(want, strings.ReplaceAll(w, "TARGET", d.Targets[0]))
			}
			for _, b := range c.state() {
				if strings.Contains(b, "s1") {
					got = append(got, b)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
			if err := d.End(t.Context()); err != nil || len(c.state()) > 0 {
				t.Errorf("after the end: %v, %q", err, c.state())
			}
		})
	}
}

func TestFaultsThatNeedLinksAreNotAvailableWithout(t *testing.T) {
	for _, f := range All(Settings{}) {
		c := newFake(3)
		c.noLinks = true
		err := f.Available(c)
		onProcess := strings.HasPrefix(f.Name(), "pause-") || strings.HasPrefix(f.Name(), "kill-")
		if onProcess != (err == nil) {
			t.Errorf("%s without links: %v", f.Name(), err)
		}
	}
}

func TestFaultsThatNeedMoreNodesAreNotAvailable(t *testing.T) {
	for nodes, want := range map[int][]string{
		1: {"pause-leader", "pause-node", "kill-leader", "kill-node"},
		2: {"isolate-leader", "isolate-node", "pause-leader", "pause-node", "kill-leader", "kill-node", "cut-one-way", "halves", "slow-link"},
		3: slices.DeleteFunc(Names(), func(name string) bool { return strings.HasPrefix(name, "lose-") || name == "late-push" }),
	} {
		var got []string
		for _, f := range All(Settings{}) {
			if f.Available(newFake(nodes)) == nil {
				got = append(got, f.Name())
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d nodes: %q, want %q", nodes, got, want)
		}
	}
}

func TestFaultsOfASystemWithAStoreAreNotAvailableWithout(t *testing.T) {
	for _, f := range All(Settings{}) {
		_, loses := f.(lose)
		_, pushes := f.(latePush)
		if (loses || pushes) && (f.Available(newFake(3)) == nil || f.Available(newDependent()) != nil) {
			t.Errorf("%s: %v without servers beside the nodes, %v with", f.Name(), f.Available(newFake(3)), f.Available(newDependent()))
		}
	}
}

func TestParseNamesWhatItDoesNotKnow(t *testing.T) {
	if _, err := Parse("pause-leader,pause-everything", Settings{}); err == nil || !strings.Contains(err.Error(), `"pause-everything"`) {
		t.Errorf("got %v", err)
	}
	for _, none := range []string{"", "none", " "} {
		if faults, err := Parse(none, Settings{}); err != nil || len(faults) != 0 {
			t.Errorf("Parse(%q) = %v, %v", none, faults, err)
		}
	}
}

func TestTheFirstWordOfANameStandsForAllThatBeginWithIt(t *testing.T) {
	faults, err := Parse("kill, cut,slow-link", Settings{})
	var got []string
	for _, f := range faults {
		got = append(got, f.Name())
	}
	if want := []string{"kill-leader", "kill-node", "cut-one-way", "slow-link"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v: want %q", got, err, want)
	}
	for _, half := range []string{"kil", "kill-"} {
		if _, err := Parse(half, Settings{}); err == nil {
			t.Errorf("%q was taken for a fault", half)
		}
	}
}

func TestALeaderIsWaitedForDuringAnElection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFake(3)
		c.leader = ""
		asked := 0
		c.onLeader = func() {
			if asked++; asked == 20 {
				c.leader = "n2"
			}
		}
		name, err := leader(t.Context(), c)
		if name != "n2" || err != nil {
			t.Errorf("got %q, %v", name, err)
		}
	})
}

func TestALeaderIsNotWaitedForForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFake(3)
		c.leader = ""
		start := time.Now()
		if _, err := leader(t.Context(), c); err == nil {
			t.Error("found a leader where there is none")
		}
		if took := time.Since(start); took != leaderWait {
			t.Errorf("took %v", took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := leader(ctx, c); err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after a cancel: %v", err)
		}
	})
}
