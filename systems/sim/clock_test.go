package sim

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestClockNeverGoesBackAndItsTimersFireOnTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := clock{local: time.Duration(rapid.Int64Range(0, 1e13).Draw(t, "start"))}
		now, last := time.Duration(0), c.local
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			now += time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "passes"))
			if c.at(now) < last {
				t.Fatalf("the clock went back from %v to %v", last, c.at(now))
			}
			last = c.at(now)
			due := last + time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "timer"))
			when := c.when(due, now)
			if c.at(when) < due || when > now && c.at(when-1) >= due {
				t.Fatalf("a timer for %v fires at %v, when the clock shows %v", due, when, c.at(when))
			}
			if rapid.Bool().Draw(t, "change") {
				c.set(now, time.Duration(rapid.Int64Range(-1e9, 1e12).Draw(t, "jump")), rapid.Int64Range(-2_000_000, 2_000_000).Draw(t, "drift"))
			}
		}
	})
}

func TestTimersFollowTheirClock(t *testing.T) {
	for _, c := range []struct {
		fault string
		fires time.Duration
	}{
		{"at 1s slow-node 1ms b", 10 * time.Second},
		{"at 1s clock-jump 5s a", 5 * time.Second},
		{"at 1s clock-jump 1m a", time.Second},
		{"at 2s clock-drift +100% a", 6 * time.Second},
		{"at 2s for 2s clock-drift -50% a", 11 * time.Second},
	} {
		w, a, _ := mutes(t, Config{Seed: 1})
		faults(t, w, c.fault)
		w.Run(0)
		var fired time.Duration
		a().env.After(10*time.Second, func() { fired = w.Now() })
		w.Run(time.Minute)
		if fired != c.fires {
			t.Errorf("%s: a timer of 10 s fired at %v; want %v", c.fault, fired, c.fires)
		}
	}
}

// TestAgendaAgainstSorting puts items on the agenda and cancels them at random,
// and expects them in the order of time and then of planning.
func TestAgendaAgainstSorting(t *testing.T) {
	type planned struct {
		at time.Duration
		n  int
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var a agenda
		var want, got []planned
		items := map[*item]planned{}
		for n := range r.IntN(1000) {
			p := planned{time.Duration(r.IntN(50)), n}
			it := &item{}
			a.add(p.at, it)
			if r.IntN(3) == 0 {
				a.cancel(it)
				continue
			}
			items[it] = p
			want = append(want, p)
		}
		slices.SortStableFunc(want, func(x, y planned) int { return int(x.at - y.at) })
		for {
			e, ok := a.next(1 << 40)
			if !ok {
				break
			}
			got = append(got, items[e.item])
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %v; want %v", got, want)
		}
	}
}
