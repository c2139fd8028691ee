package register

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stalemate-io/stalemate/histories"
)

func options() Options {
	return Options{
		Keys: 2, Clients: 1, Paths: []string{"get", "watch"}, Final: "get", Caches: []string{"watch"},
		Rate: 100, Writes: 0.5, Seed: 3, Timeout: time.Second, Settle: 10 * time.Second,
	}
}

// log keeps the lines of a history.
type log struct{ strings.Builder }

// whole runs all phases on f for a while and gives the events.
func whole(t *testing.T, f *fake, o Options, length time.Duration) []histories.Event {
	t.Helper()
	var out log
	rec := histories.NewRecorder(&out)
	w, err := New(f, rec, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Setup(t.Context()); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	time.AfterFunc(length, func() { close(stop) })
	w.Load(t.Context(), stop)
	if err := w.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.Final(t.Context(), true)
	if err := errors.Join(w.Close(), rec.Close()); err != nil {
		t.Fatal(err)
	}
	return events(t, out.String())
}

func events(t *testing.T, text string) []histories.Event {
	t.Helper()
	var list []histories.Event
	_, err := histories.ReadEvents(strings.NewReader(text), histories.ReadOptions{}, func(e *histories.Event) error {
		list = append(list, *e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestARunStandsInItsHistoryFromCreationToFinalReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		list := whole(t, f, options(), 20*time.Second)

		// The creations come first, are client 0's, and make version 0.
		for i := range 4 {
			e := list[i]
			if e.Process.Client != 0 || e.F != "write" || e.Key != histories.String(KeyName(i/2)) || e.Value != histories.Int(int64(i/2)) {
				t.Errorf("event %d: %+v", i, e)
			}
			if v, known := e.Version.Get(); e.Type == histories.OK && (!known || v != 0) {
				t.Errorf("creation at version %v", e.Version)
			}
		}
		// No value is written twice, and each is larger than those before.
		last := int64(-1)
		kinds := map[string]int{}
		final := slices.IndexFunc(list, func(e histories.Event) bool { return e.F == "final-reads" })
		for i, e := range list {
			if e.Type != histories.Invoke {
				continue
			}
			kind := e.F
			value := e.Value
			if e.F == "cas" {
				_, value, _ = e.Value.AsPair()
			}
			if len(e.Extra) > 0 {
				kind += " " + e.Extra[0].Name
			}
			kinds[kind]++
			if e.F != "read" {
				n, ok := value.AsInt()
				if !ok || n <= last {
					t.Fatalf("event %d writes %v after %d", i, e.Value, last)
				}
				last = n
				if e.Path != "" {
					t.Errorf("a write along path %q", e.Path)
				}
			} else if i < final != (len(e.Extra) == 0) {
				t.Errorf("event %d: final is marked %v, the final reads begin at %d", i, e.Extra, final)
			}
		}
		// 2000 operations are due, half of them writes.
		for kind, want := range map[string][2]int{
			"read": {900, 1100}, "write": {520, 680}, "write expect": {150, 250}, "cas": {150, 250},
			// Two keys on three nodes, by get and from the caches.
			"read final": {12, 12},
		} {
			if n := kinds[kind]; n < want[0] || n > want[1] {
				t.Errorf("%d of %q, want %v", n, kind, want)
			}
		}
		if list[final].Process != histories.Nemesis || list[final].Extra[0].Value != histories.Bool(true) {
			t.Errorf("final-reads: %+v", list[final])
		}
		// On each node a writer, two readers and two clients for the end.
		want := []string{
			"n1 ", "n1 get", "n1 get", "n1 watch", "n1 watch",
			"n2 ", "n2 get", "n2 get", "n2 watch", "n2 watch",
			"n3 ", "n3 get", "n3 get", "n3 watch", "n3 watch",
		}
		if got := f.list(); !slices.Equal(got, want) {
			t.Errorf("opened %q", got)
		}
		if f.closed != len(want) {
			t.Errorf("closed %d of %d clients", f.closed, len(want))
		}
	})
}

func TestTheFinalReadsLeaveOutCachesThatWereNotAskedFor(t *testing.T) {
	o := options()
	o.Paths = []string{"sync"}
	w, err := New(newFake(), histories.NewRecorder(nil), o)
	if err != nil {
		t.Fatal(err)
	}
	if got := w.finalPaths(); !slices.Equal(got, []string{"get"}) {
		t.Errorf("got %q", got)
	}
}

func setup(t *testing.T, f *fake, o Options) (*Workload, error) {
	t.Helper()
	w, err := New(f, histories.NewRecorder(nil), o)
	if err != nil {
		t.Fatal(err)
	}
	return w, w.Setup(t.Context())
}

func TestARunDoesNotStartOnASystemThatDoesNotWork(t *testing.T) {
	tests := []struct {
		rule   string
		change func(*fake, *Options)
		want   string
	}{
		{"a register cannot be created", func(f *fake, _ *Options) { f.refuse = errors.New("connection closed") }, "creating register r0: connection closed"},
		{"a client cannot be opened", func(_ *fake, o *Options) { o.Paths = []string{"broken"} }, "client of n1: connection refused"},
		{"the nodes do not agree", func(f *fake, _ *Options) { f.behind["n2"] = 1 }, "get of r0 is at version 0 on n1, get at -1 on n2"},
		{"a node does not answer", func(f *fake, _ *Options) { f.hung["n3"] = true }, "get of r0 on n3"},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, o := newFake(), options()
				test.change(f, &o)
				w, err := setup(t, f, o)
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("got %v, want %q", err, test.want)
				}
				if err := w.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestSettlingAsksUntilAllNodesAgree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		w, err := setup(t, f, options())
		if err != nil {
			t.Fatal(err)
		}
		f.behind["n2"], f.hung["n3"] = 5, true
		time.AfterFunc(3*time.Second, func() { f.mu.Lock(); f.hung["n3"] = false; f.mu.Unlock() })
		time.AfterFunc(6*time.Second, func() { f.mu.Lock(); f.behind["n2"] = 0; f.mu.Unlock() })
		start := time.Now()
		if err := w.Settle(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took < 6*time.Second || took > 7*time.Second {
			t.Errorf("settled after %v, want 6 s and a little", took)
		}
	})
}

func TestSettlingGivesUpAndSaysWhatDiffers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		w, err := setup(t, f, options())
		if err != nil {
			t.Fatal(err)
		}
		f.behind["n2"] = 1
		start := time.Now()
		err = w.Settle(t.Context())
		if err == nil || !strings.Contains(err.Error(), "on n2") || !strings.Contains(err.Error(), "10s") {
			t.Errorf("got %v", err)
		}
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("gave up after %v", took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		start = time.Now()
		if err := w.Settle(ctx); err == nil || time.Since(start) != 0 {
			t.Errorf("called off: %v after %v", err, time.Since(start))
		}
	})
}

func TestOptionsThatMakeNoSense(t *testing.T) {
	tests := []struct {
		rule   string
		change func(*Options)
		want   string
	}{
		{"there is a key", func(o *Options) { o.Keys = 0 }, "keys"},
		{"there is a client", func(o *Options) { o.Clients = -1 }, "clients"},
		{"there is a path", func(o *Options) { o.Paths = nil }, "read path"},
		{"the rate is positive", func(o *Options) { o.Rate = 0 }, "rate"},
		{"the rate is a number", func(o *Options) { o.Rate = math.NaN() }, "rate"},
		{"something is read", func(o *Options) { o.Writes = 1 }, "share of writes"},
		{"something is written", func(o *Options) { o.Writes = 0 }, "share of writes"},
		{"operations may take a while", func(o *Options) { o.Timeout = 0 }, "time-out"},
		{"settling may take a while", func(o *Options) { o.Settle = 0 }, "settle"},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			o := options()
			test.change(&o)
			if _, err := New(newFake(), histories.NewRecorder(nil), o); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}
