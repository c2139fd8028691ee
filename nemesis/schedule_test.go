package nemesis

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestWindowsLeaveHealthyTimeAroundEachFault(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		millis := func(name string, low, high int) time.Duration {
			return time.Duration(rapid.IntRange(low, high).Draw(t, name)) * time.Millisecond
		}
		s := Schedule{For: millis("for", 1, 5000), Healthy: millis("healthy", 0, 3000)}
		need := s.For + 2*s.Healthy
		s.Every = need + millis("slack", 0, 10000)
		s.Total = need + millis("more", 0, 100000)
		faults := All(Settings{})[:rapid.IntRange(1, 10).Draw(t, "faults")]
		seed := rapid.Uint64().Draw(t, "seed")
		windows, err := s.Windows(faults, rand.New(rand.NewPCG(seed, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if len(windows) < int(s.Total/s.Every) || len(windows) == 0 {
			t.Fatalf("%d windows in %v, expected one every %v", len(windows), s.Total, s.Every)
		}
		var last time.Duration
		used := map[string]int{}
		for _, w := range windows {
			if w.Start-last < s.Healthy {
				t.Fatalf("only %v healthy before %v", w.Start-last, w.Start)
			}
			if w.End-w.Start != s.For {
				t.Fatalf("lasts %v, want %v", w.End-w.Start, s.For)
			}
			last = w.End
			used[w.Fault.Name()]++
		}
		if s.Total-last < s.Healthy {
			t.Fatalf("only %v after the last fault", s.Total-last)
		}
		for _, n := range used {
			if most := (len(windows) + len(faults) - 1) / len(faults); n > most {
				t.Fatalf("used unevenly: %v", used)
			}
		}
		again, _ := s.Windows(faults, rand.New(rand.NewPCG(seed, 1)))
		if !reflect.DeepEqual(windows, again) {
			t.Fatal("the same seed gave another schedule")
		}
	})
}

func TestSchedulesWithoutRoomSayHowMuchTheyNeed(t *testing.T) {
	second := time.Second
	tests := []struct {
		rule     string
		schedule Schedule
		want     string
	}{
		{"a fault lasts", Schedule{Total: 30 * second, Every: 10 * second}, "more than nothing"},
		{"a period holds the fault and healthy time", Schedule{Total: 30 * second, Every: 5 * second, For: 4 * second, Healthy: second}, "every 6s or less often"},
		{"the run holds one fault", Schedule{Total: 5 * second, Every: 10 * second, For: 4 * second, Healthy: second}, "at least 6s"},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			_, err := test.schedule.Windows(All(Settings{}), rand.New(rand.NewPCG(0, 0)))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
		})
	}
	if windows, err := (Schedule{}).Windows(nil, nil); windows != nil || err != nil {
		t.Errorf("no faults: %v, %v", windows, err)
	}
}
