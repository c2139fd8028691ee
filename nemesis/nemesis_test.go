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

	"github.com/stalemate-io/stalemate/histories"
)

// noted is an event with when it was noted and what was broken then.
type noted struct {
	histories.Event
	at     time.Duration
	broken []string
}

// run lets a nemesis work on c in virtual time and gives what it noted.
func run(ctx context.Context, c *fake, windows []Window) ([]noted, error) {
	var (
		events []noted
		start  = time.Now()
	)
	n := &Nemesis{
		Cluster: c,
		Windows: windows,
		Healthy: time.Second,
		Rand:    rand.New(rand.NewPCG(1, 2)),
		Note:    func(e histories.Event) { events = append(events, noted{e, time.Since(start), c.state()}) },
	}
	err := n.Run(ctx)
	return events, err
}

func fault(t *testing.T, name string) Fault {
	t.Helper()
	faults, err := Parse(name, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return faults[0]
}

func TestADisruptionIsFourEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFake(3)
		events, err := run(t.Context(), c, []Window{{fault(t, "pause-leader"), 2 * time.Second, 5 * time.Second}})
		if err != nil {
			t.Fatal(err)
		}
		want := []struct {
			f      string
			at     time.Duration
			broken []string
		}{
			{"start-pause-leader", 2 * time.Second, []string{}},
			{"start-pause-leader", 2 * time.Second, []string{"n3 paused"}},
			{"stop-pause-leader", 5 * time.Second, []string{"n3 paused"}},
			{"stop-pause-leader", 5 * time.Second, []string{}},
		}
		if len(events) != len(want) {
			t.Fatalf("%d events: %v", len(events), events)
		}
		for i, w := range want {
			e := events[i]
			if e.F != w.f || e.at != w.at || !slices.Equal(e.broken, w.broken) {
				t.Errorf("event %d: %s at %v with %q broken, want %s at %v with %q", i, e.F, e.at, e.broken, w.f, w.at, w.broken)
			}
			if e.Process != histories.Nemesis || e.Type != histories.Info || e.Error != "" {
				t.Errorf("event %d: process %v, type %v, error %q", i, e.Process, e.Type, e.Error)
			}
			if e.Value != histories.List(histories.String("n3")) {
				t.Errorf("event %d: targets %v", i, e.Value)
			}
			if len(e.Extra) != 1 || e.Extra[0].Name != "what" || e.Extra[0].Value != histories.String("leader n3 is paused") {
				t.Errorf("event %d: %v", i, e.Extra)
			}
		}
	})
}

func TestEverythingIsHealedWhenTheRunIsCalledOff(t *testing.T) {
	for _, f := range All(Settings{}) {
		t.Run(f.Name(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newDependent()
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(3*time.Second, cancel)
				start := time.Now()
				events, err := run(ctx, c, []Window{{f, 2 * time.Second, time.Hour}, {f, 2 * time.Hour, 3 * time.Hour}})
				if err != nil {
					t.Error(err)
				}
				if took := time.Since(start); took != 3*time.Second {
					t.Errorf("ended after %v", took)
				}
				if c.broke == 0 || len(c.state()) != 0 {
					t.Errorf("broke %d times, still broken: %q", c.broke, c.state())
				}
				if len(events) != 4 {
					t.Errorf("events: %v", events)
				}
			})
		})
	}
}

func TestADisruptionThatBeganInPartIsUndone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFake(3)
		c.refuse = errors.New("permission denied")
		events, err := run(t.Context(), c, []Window{{fault(t, "isolate-leader"), 0, time.Hour}})
		if err == nil || !strings.Contains(err.Error(), "isolate-leader") || !strings.Contains(err.Error(), "permission denied") {
			t.Errorf("got %v", err)
		}
		if len(c.state()) != 0 {
			t.Errorf("still broken: %q", c.state())
		}
		if len(events) != 4 || events[1].Error == "" || events[2].at != 0 || events[3].Error != "" {
			t.Errorf("events: %+v", events)
		}
	})
}

func TestAFaultWithoutATargetIsNotedAndTheNextTried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFake(3)
		c.leader = ""
		events, err := run(t.Context(), c, []Window{
			{fault(t, "pause-leader"), 0, time.Second},
			{fault(t, "pause-node"), 2 * time.Second, 3 * time.Second},
		})
		if err == nil || !strings.Contains(err.Error(), "no leader to aim at") {
			t.Errorf("got %v", err)
		}
		if len(events) != 5 || events[0].F != "start-pause-leader" || events[0].Error == "" {
			t.Fatalf("events: %+v", events)
		}
		if healthy := events[1].at - events[0].at; healthy != time.Second {
			t.Errorf("the next fault came %v after one that was late, want a second", healthy)
		}
	})
}

func TestTheWatcherIsToldWhatIsInForce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		n := &Nemesis{
			Cluster: newFake(3),
			Windows: []Window{{fault(t, "kill-leader"), 0, time.Second}},
			Rand:    rand.New(rand.NewPCG(1, 2)),
			Note:    func(histories.Event) {},
			Watch:   func(what string) { told = append(told, what) },
		}
		if err := n.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if want := []string{"leader n3 is killed, to be started again", ""}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
	})
}
