package live

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems"
	"github.com/stalemate-io/stalemate/systems/links"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/processes"
	"github.com/stalemate-io/stalemate/systems/push"
	"github.com/stalemate-io/stalemate/systems/sim"
)

// fakeSystem is a cluster of names with a store of one server.
type fakeSystem struct {
	fakeCluster
	trace  string
	judges []func(processes.Envelope) links.Fate
}

func (s *fakeSystem) Dependencies() []string       { return []string{"zk1"} }
func (s *fakeSystem) Active() (node.ID, error)     { return "n2", nil }
func (s *fakeSystem) TraceFile(name string) string { return filepath.Join(s.trace, name) }
func (s *fakeSystem) Links() systems.Links         { return fakeLinks{&s.fakeCluster} }

func (s *fakeSystem) Intercept(judge func(processes.Envelope) links.Fate) func() {
	s.judges = append(s.judges, judge)
	return func() {}
}

// send asks what becomes of an UpdateMetadata.
func (s *fakeSystem) send(from, to node.ID) links.Fate {
	for _, judge := range s.judges {
		if f := judge(processes.Envelope{From: from, To: to, Message: &push.UpdateMetadataRequest{}}); f != (links.Fate{}) {
			return f
		}
	}
	return links.Fate{}
}

// took gives what was done since the last time.
func (s *fakeSystem) took() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	did := strings.Join(s.did, ", ")
	s.did = nil
	return did
}

type fakeLinks struct{ c *fakeCluster }

func (l fakeLinks) Cut(from, to string) error          { return l.c.note("cut", from+">"+to) }
func (l fakeLinks) Heal(from, to string) error         { return l.c.note("heal", from+">"+to) }
func (l fakeLinks) Throttle(string, string, int) error { return errors.ErrUnsupported }
func (l fakeLinks) Delay(f, t string, d time.Duration) error {
	return l.c.note("delay "+d.String(), f+">"+t)
}

// notes takes nemesis events.
type notes struct {
	mu   sync.Mutex
	list []string
}

func (n *notes) note(e histories.Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, e.F)
}

func inject(t *testing.T, b *Breaker, fault string) error {
	t.Helper()
	f, err := sim.ParseFault(fault)
	must(t, err)
	return b.Inject(f)
}

func TestWhatABreakerDoesAndUndoes(t *testing.T) {
	for _, test := range []struct{ fault, done, undone string }{
		{"at 0s for 1s kill-node n1", "kill n1", "start n1"},
		{"at 0s for 1s pause-node @controller", "pause n2", "resume n2"},
		{"at 0s for 1s cut-one-way n1 -> n2", "cut n1>n2", "heal n1>n2"},
		{"at 0s for 1s hold-link @controller -> s1", "cut n2>zk1", "heal n2>zk1"},
		{"at 0s for 1s halves n1 | n3", "cut n1>n3, cut n3>n1", "heal n1>n3, heal n3>n1"},
		{"at 0s for 1s slow-link 300ms n1 -> n3", "delay 300ms n1>n3", "heal n1>n3"},
		{
			"at 0s for 1s isolate-node n3",
			"cut n3>n1, cut n1>n3, cut n3>n2, cut n2>n3, cut n3>zk1, cut zk1>n3",
			"heal n3>n1, heal n1>n3, heal n3>n2, heal n2>n3, heal n3>zk1, heal zk1>n3",
		},
	} {
		t.Run(test.fault, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, noted := &fakeSystem{}, &notes{}
				b := NewBreaker(s, noted.note, 0)
				must(t, inject(t, b, test.fault))
				if got := s.took(); got != test.done {
					t.Errorf("done: %s, want %s", got, test.done)
				}
				time.Sleep(time.Second)
				synctest.Wait()
				if got := s.took(); got != test.undone {
					t.Errorf("undone: %s, want %s", got, test.undone)
				}
				kind := strings.Fields(test.fault)[4]
				want := []string{"start-" + kind, "start-" + kind, "stop-" + kind, "stop-" + kind}
				if d := cmp.Diff(want, noted.list); d != "" {
					t.Error(d)
				}
				must(t, b.Close())
			})
		})
	}
}

func TestTheEndOfABreakerUndoesWhatLasts(t *testing.T) {
	for _, test := range []struct{ rule, fault, want string }{
		{"a paused node goes on", "at 0s pause-node n1", "pause n1, resume n1"},
		{"a link is whole again", "at 0s for 1h cut-one-way n1 -> n2", "cut n1>n2, heal n1>n2"},
		{"a dead node stays dead, since nobody waits for it", "at 0s for 1h kill-node n1", "kill n1"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			s := &fakeSystem{}
			b := NewBreaker(s, (&notes{}).note, 0)
			must(t, inject(t, b, test.fault))
			must(t, b.Close())
			if got := s.took(); got != test.want {
				t.Errorf("did %s, want %s", got, test.want)
			}
		})
	}
}

func TestABreakerTellsWhatItCouldNotDo(t *testing.T) {
	broken := errors.New("it will not die")
	b := NewBreaker(&fakeSystem{fakeCluster: fakeCluster{broken: broken}}, (&notes{}).note, 0)
	must(t, inject(t, b, "at 0s kill-node n1"))
	if err := b.Close(); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestTheNthMessageMeetsItsFate(t *testing.T) {
	for _, test := range []struct {
		fault string
		want  links.Fate
	}{
		{"at 0s lose-message UpdateMetadata #2 n2 -> n3", links.Fate{Lose: true}},
		{"at 0s delay-message 3s UpdateMetadata #2 n2 -> n3", links.Fate{Delay: 3 * time.Second}},
		{"at 0s double-message UpdateMetadata #2 n2 -> n3", links.Fate{Double: true}},
	} {
		t.Run(test.fault, func(t *testing.T) {
			s := &fakeSystem{}
			b := NewBreaker(s, (&notes{}).note, 0)
			must(t, inject(t, b, test.fault))
			must(t, inject(t, b, "at 0s lose-message LeaderAndIsr #1 n2 -> n3")) // of another kind
			var got []links.Fate
			for _, to := range []node.ID{"n1", "n3", "n1", "n3", "n3"} {
				got = append(got, s.send("n2", to))
			}
			if want := []links.Fate{{}, {}, {}, test.want, {}}; !slices.Equal(got, want) {
				t.Errorf("got %+v, want %+v", got, want)
			}
			for _, e := range b.Entries() { // a story tells of losses
				if e.Kind != sim.Lost || e.Node != "n2" || e.To != "n3" || !test.want.Lose {
					t.Errorf("entered %+v", e)
				}
			}
			if entered := len(b.Entries()); (entered == 1) != test.want.Lose {
				t.Errorf("%d entries", entered)
			}
			must(t, b.Close())
		})
	}
}

// What a node sends after the moment that a fault waits for reaches nobody, however
// late the fault itself comes.
func TestAFaultStrikesBeforeWhatFollowsItsMoment(t *testing.T) {
	for _, test := range []struct {
		fault, done string
		fate        links.Fate
	}{
		{"at 0s for 9s kill-node n2 on n2 store-write t-0 #2", "kill n2", links.Fate{Lose: true}},
		{"at 0s for 9s pause-node n2 on n2 store-write t-0 #2", "pause n2", links.Fate{Delay: 9 * time.Second}},
		{"at 0s for 9s isolate-node n2 on n2 store-write t-0 #2", "cut n2>n1, cut n1>n2, cut n2>n3, cut n3>n2, cut n2>zk1, cut zk1>n2", links.Fate{}},
	} {
		t.Run(test.fault, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &fakeSystem{trace: t.TempDir()}
				s.traces(t, "store-write t-0")
				b := NewBreaker(s, (&notes{}).note, 0)
				must(t, inject(t, b, test.fault))
				s.traces(t, "store-write t-0", "store-write t-1", "elected ")
				if got := s.send("n2", "n1"); got != (links.Fate{}) {
					t.Errorf("before its moment: %+v", got)
				}
				s.traces(t, "store-write t-0")
				if got := s.send("n1", "n2"); got != (links.Fate{}) {
					t.Errorf("what another node sends: %+v", got)
				}
				if got := s.send("n2", "n1"); got != test.fate || s.took() != test.done {
					t.Errorf("at its moment: %+v", got)
				}
				time.Sleep(9 * time.Second)
				synctest.Wait()
				if got := s.send("n2", "n1"); got != (links.Fate{}) {
					t.Errorf("when it is over: %+v", got)
				}
				must(t, b.Close())
			})
		})
	}
}

func TestAFaultComesThoughItsNodeSendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeSystem{trace: t.TempDir()}
		b := NewBreaker(s, (&notes{}).note, 0)
		must(t, inject(t, b, "at 0s pause-node n2 on n2 elected * #1"))
		s.traces(t, "elected ")
		time.Sleep(2 * lookEvery)
		synctest.Wait()
		if got := s.took(); got != "pause n2" {
			t.Errorf("did %q", got)
		}
		must(t, b.Close())
	})
}

// traces adds lines, each WHAT KEY, to the trace of n2.
func (s *fakeSystem) traces(t *testing.T, lines ...string) {
	t.Helper()
	f, err := os.OpenFile(s.TraceFile("n2"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	must(t, err)
	for _, line := range lines {
		what, key, _ := strings.Cut(line, " ")
		_, err := fmt.Fprintf(f, `{"node":"n2","what":%q,"key":%q}`+"\n", what, key)
		must(t, err)
	}
	must(t, f.Close())
}

func TestFaultsThatABreakerRefuses(t *testing.T) {
	b := NewBreaker(&fakeSystem{}, func(e histories.Event) { t.Errorf("noted %v", e) }, 0)
	for _, test := range []struct{ rule, fault, want string }{
		{"a clock is the simulator's", "at 0s for 1s clock-drift -80% c1", ErrOnlySimulated.Error()},
		{"so is a moment between two effects", "at 0s for 1s kill-node c1 effect 3", ErrOnlySimulated.Error()},
		{"and a share of lost messages", "at 0s for 1s lose 20% c1", ErrOnlySimulated.Error()},
	} {
		t.Run(test.rule, func(t *testing.T) {
			f, err := sim.ParseFault(test.fault)
			if err != nil {
				t.Fatal(err)
			}
			err = b.Inject(f)
			if !errors.Is(err, ErrOnlySimulated) || !strings.Contains(err.Error(), f.Kind) {
				t.Errorf("got %v", err)
			}
		})
	}
	if err := b.Inject(sim.Fault{Kind: "kill-node"}); err == nil || !strings.Contains(err.Error(), "needs a node") {
		t.Errorf("a fault that strikes nobody: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}
