package sim

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stalemate-io/stalemate/systems/node"
)

func TestFaultLines(t *testing.T) {
	for _, line := range []string{
		"at 3s for 2s kill-node c1",
		"at 3s for 2s kill-node c1 on c1 store-write t-0 #2",
		"at 3s kill-node c1 on * store-write * #1",
		"at 3s pause-node c1 effect 17",
		"at 1s for 5s cut-one-way c1 -> b1 b2",
		"at 1s for 5s halves c1 b1 | c2 c3 b2",
		"at 1s for 5s slow-link 50ms c1 -> b1",
		"at 1s for 5s lose 20% c1",
		"at 1s for 5s duplicate 0.5% c1 -> x1",
		"at 1s delay-message 3s UpdateMetadata #2 c1 -> b4",
		"at 2s for 9s clock-drift -2.5% b2",
		"at 2s for 9s clock-drift -0.5% b2",
		"at 0s expire-session @controller",
	} {
		f, err := ParseFault(line)
		if err != nil {
			t.Error(err)
		} else if got := f.String(); got != line {
			t.Errorf("%q came back as %q", line, got)
		}
	}
}

func TestBadFaultLines(t *testing.T) {
	for line, want := range map[string]string{
		"":                                         `expected "at" and a time`,
		"at 3 kill-node c1":                        "expected a duration",
		"at 3s kill-nod c1":                        "expected a kind of fault: kill-node, ",
		"at 3s kill-node":                          "expected the name of a node, found the end of the line",
		"at 3s kill-node c1 -> c2":                 `expected the end of the line, found "->"`,
		"at 3s slow-link c1":                       "expected a duration",
		"at 3s slow-link 0s c1":                    "slow-link needs a duration above 0",
		"at 3s lose 120% c1":                       "share up to 100%",
		"at 3s lose -1% c1":                        "share up to 100%",
		"at 3s lose 20 c1":                         "expected a share",
		"at 3s halves c1 c2":                       "needs two sides",
		"at 3s lose-message c1 -> b1":              "expected which one, such as #1",
		"at 3s for 1s clock-jump 5s c1":            "is over at once",
		"at 3s clock-jump 5s c1 effect 3":          "cannot wait",
		"at 3s kill-node c1 effect 0":              "expected the number of an effect",
		"at 3s kill-node c1 on c1 write":           "expected a name or *",
		"at 3s kill-node c1 on c1 * t-0 #1":        "needs what is traced",
		"at 3s kill-node c1 on c1 w * #1 effect 2": "not for both",
		"at 3s for -1s kill-node c1":               "expected a duration",
	} {
		if _, err := ParseFault(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error is %v; want one with %q", line, err, want)
		}
	}
}

func FuzzFaultLine(f *testing.F) {
	f.Add("at 3s for 2s kill-node c1 on c1 store-write t-0 #2")
	f.Add("at 1s for 5s halves c1 b1 | c2 c3 b2")
	f.Add("at 2s for 9s clock-drift -2.5% b2")
	f.Fuzz(func(t *testing.T, line string) {
		fault, err := ParseFault(line)
		if err != nil {
			return
		}
		again, err := ParseFault(fault.String())
		if err != nil {
			t.Fatalf("%q was read and printed as %q, which is not read: %v", line, fault.String(), err)
		}
		if d := cmp.Diff(fault, again); d != "" {
			t.Fatalf("%q changed when printed and read: %s", line, d)
		}
	})
}

var everything = Profile{
	Nodes:    []node.ID{"n1", "n2", "n3"},
	Servers:  []node.ID{"s1", "s2", "s3"},
	Messages: []string{"ping"},
	Notes:    []string{"got"},
	From:     time.Second,
	Until:    10 * time.Second,
	Every:    300 * time.Millisecond,
	For:      500 * time.Millisecond,
}

func TestProfileSchedules(t *testing.T) {
	used := map[string]int{}
	swarms := map[int]bool{}
	for seed := range uint64(300) {
		faults := everything.Schedule(seed)
		if d := cmp.Diff(faults, everything.Schedule(seed)); d != "" {
			t.Fatalf("seed %d gives two schedules: %s", seed, d)
		}
		swarm := map[string]bool{}
		for _, f := range faults {
			if err := f.Validate(); err != nil {
				t.Fatalf("seed %d: %q: %v", seed, f.String(), err)
			}
			if again, err := ParseFault(f.String()); err != nil || !cmp.Equal(again, f) {
				t.Fatalf("seed %d: %q is read as %q: %v", seed, f.String(), again.String(), err)
			}
			if f.At < everything.From || f.At >= everything.Until {
				t.Fatalf("seed %d: %q is out of time", seed, f.String())
			}
			used[f.Kind]++
			swarm[f.Kind] = true
		}
		swarms[len(swarm)] = true
	}
	for _, k := range kinds {
		if used[k.Name] == 0 {
			t.Errorf("no seed of 300 uses %s", k.Name)
		}
	}
	if len(swarms) < 5 {
		t.Errorf("the runs use %v kinds of faults; expected all sorts of numbers", swarms)
	}
}

// faultyWorld is a world of echoes, a store and askers under a schedule.
func faultyWorld(t testing.TB, seed uint64, faults []Fault, heal time.Duration) *World {
	t.Helper()
	w := New(Config{Seed: seed, Store: &StoreConfig{SessionTimeout: 2 * time.Second}})
	addEchoes(t, w, 3)
	must(t, w.Schedule(faults, heal))
	return w
}

// TestAddingAFaultLeavesTheRestAlone is what shrinking lives on: until a fault
// begins, and at nodes it does not touch, nothing changes.
func TestAddingAFaultLeavesTheRestAlone(t *testing.T) {
	lossy, err := ParseFault("at 500ms for 1s lose 30% n2")
	must(t, err)
	late, err := ParseFault("at 3s for 1s kill-node n3")
	must(t, err)
	faults := []Fault{lossy, late}
	with := faultyWorld(t, 7, faults, 9*time.Second)
	without := faultyWorld(t, 7, faults[:1], 9*time.Second)
	with.Run(2999 * time.Millisecond)
	without.Run(2999 * time.Millisecond)
	if a, b := text(with.History()), text(without.History()); string(a) != string(b) {
		t.Error("a fault changed what happened before it")
	}
}

func TestHealUndoesEverything(t *testing.T) {
	for seed := range uint64(60) {
		faults := everything.Schedule(seed)
		w := faultyWorld(t, seed, faults, everything.Until)
		w.Run(everything.Until)
		for _, h := range w.hosts {
			if !h.up || h.downs != 0 || h.pauses != 0 || h.fuse != 0 || h.cost != 0 || h.disk.slow != 0 || h.clock.drift != 0 || h.server != nil && h.server.slow != 0 {
				t.Fatalf("seed %d: %s is not healed: %+v", seed, h.id, h)
			}
			for _, l := range h.links {
				if l != nil && (l.cut != 0 || l.held != 0 || l.slow != 0 || l.loss != 0 || l.twice != 0 || l.unordered != 0 || len(l.waiting) != 0) {
					t.Fatalf("seed %d: the link from %s to %s is not healed: %+v", seed, l.from.id, l.to.id, l)
				}
			}
		}
		starts := 0
		for _, e := range w.History() {
			switch {
			case strings.HasPrefix(e.F, "start-"):
				starts++
			case strings.HasPrefix(e.F, "stop-"):
				starts--
			}
		}
		if starts != 0 {
			t.Fatalf("seed %d: the history does not end every fault it begins", seed)
		}
		before := len(w.History())
		w.Run(everything.Until + 3*time.Second)
		oks := 0
		for _, e := range w.History()[before:] {
			if e.Type == 2 {
				oks++
			}
			if e.Process.Name != "" {
				t.Fatalf("seed %d: %s after everything was healed", seed, e.F)
			}
		}
		if oks == 0 {
			t.Fatalf("seed %d: nothing works after everything was healed", seed)
		}
	}
}

func TestScheduleRefusesWhatCannotBe(t *testing.T) {
	w := echoWorld(t, 1, 0)
	for line, want := range map[string]string{
		"at 1s kill-node n9":          `no node "n9"`,
		"at 1s kill-node @controller": "nobody can say who @controller is",
		"at 9s kill-node n1":          "healed already",
		"at 1s expire-session n1":     "has no store",
	} {
		f, err := ParseFault(line)
		must(t, err)
		if err := w.Schedule([]Fault{f}, 5*time.Second); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error is %v; want one with %q", line, err, want)
		}
	}
}

func TestRolesAreLookedUpWhenAFaultStrikes(t *testing.T) {
	w := echoWorld(t, 1, 0)
	boss := node.ID("n1")
	w.Role("boss", func() []node.ID { return []node.ID{boss} })
	f, err := ParseFault("at 2s for 1s kill-node @boss")
	must(t, err)
	must(t, w.Schedule([]Fault{f}, 0))
	w.Run(time.Second)
	boss = "n3"
	w.Run(2500 * time.Millisecond)
	if w.Machine("n3") != nil || w.Machine("n1") == nil {
		t.Error("the fault did not strike who was the boss at its time")
	}
	w.Run(3 * time.Second)
	if w.Machine("n3") == nil {
		t.Error("the node did not come back")
	}
	var fs []string
	for _, e := range w.History() {
		fs = append(fs, e.F+" "+e.Value.String())
	}
	want := []string{`start-kill-node ["n3"]`, `start-kill-node ["n3"]`, `stop-kill-node ["n3"]`, `stop-kill-node ["n3"]`}
	if !slices.Equal(fs, want) {
		t.Errorf("history says %q; want %q", fs, want)
	}
}
