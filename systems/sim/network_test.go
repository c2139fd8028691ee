package sim

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
)

// mute is a node that keeps what it receives and never answers by itself.
type mute struct {
	env     node.Env
	got     []node.Message
	replies []func(node.Message)
}

func (m *mute) Start() {}

func (m *mute) Receive(_ node.ID, message node.Message, reply func(node.Message)) {
	m.got = append(m.got, message)
	m.replies = append(m.replies, reply)
}

// mutes is a world of two such nodes, a and b.
func mutes(t testing.TB, config Config) (w *World, a, b func() *mute) {
	t.Helper()
	w = New(config)
	for _, id := range []node.ID{"a", "b"} {
		must(t, w.Add(id, func(env node.Env) node.Machine { return &mute{env: env} }))
	}
	w.Run(0)
	at := func(id node.ID) func() *mute { return func() *mute { return w.Machine(id).(*mute) } }
	return w, at("a"), at("b")
}

func faults(t testing.TB, w *World, lines ...string) {
	t.Helper()
	for _, line := range lines {
		f, err := ParseFault(line)
		must(t, err)
		must(t, w.Schedule([]Fault{f}, 0))
	}
}

func TestHowCallsEnd(t *testing.T) {
	const patience = time.Second
	for _, c := range []struct {
		rule   string
		do     func(w *World)
		faults []string
		want   error
		soon   bool // long before patience is at an end
		got    int  // how many requests reached the node
	}{
		{rule: "a node that is down refuses", do: func(w *World) { w.Crash("b") }, want: node.ErrUnreachable, soon: true},
		{rule: "a node that dies with the request in hand resets", do: func(w *World) { w.At(w.now+100*time.Millisecond, func() { w.Crash("b") }) }, want: node.ErrReset, soon: true},
		{rule: "a node that is paused is silent", do: func(w *World) { w.Pause("b") }, want: node.ErrTimeout},
		{rule: "a node that does not answer is silent", do: func(*World) {}, want: node.ErrTimeout, got: 1},
		{rule: "a cut link is silent", faults: []string{"at 0s cut-one-way a -> b"}, want: node.ErrTimeout},
		{rule: "a node that is down behind a cut link is silent", do: func(w *World) { w.Crash("b") }, faults: []string{"at 0s cut-one-way b -> a"}, want: node.ErrTimeout},
		{rule: "a node that dies behind a cut link is silent", do: func(w *World) { w.At(w.now+100*time.Millisecond, func() { w.Crash("b") }) }, faults: []string{"at 0s cut-one-way b -> a"}, want: node.ErrTimeout},
		{rule: "a lost request is silence", faults: []string{"at 0s lose-message int #1 a -> b"}, want: node.ErrTimeout},
		{rule: "a cut of the way back loses the answer only", faults: []string{"at 0s cut-one-way b -> a"}, want: node.ErrTimeout, got: 1},
	} {
		t.Run(c.rule, func(t *testing.T) {
			w, a, b := mutes(t, Config{Seed: 1})
			faults(t, w, c.faults...)
			w.Run(time.Millisecond)
			if c.do != nil {
				c.do(w)
			}
			start := w.Now()
			var err error
			var took time.Duration
			ends := 0
			a().env.Call("b", 1, patience, func(_ node.Message, e error) { err, took, ends = e, w.Now()-start, ends+1 })
			w.Run(10 * time.Second)
			if ends != 1 || !errors.Is(err, c.want) {
				t.Fatalf("done was called %d times, with %v; want %v", ends, err, c.want)
			}
			if c.soon != (took < patience/2) {
				t.Errorf("the caller learnt it after %v", took)
			}
			if c.got > 0 && len(b().got) != c.got {
				t.Errorf("the node got %d requests; want %d", len(b().got), c.got)
			}
		})
	}
}

func TestCallToNobody(t *testing.T) {
	w, a, _ := mutes(t, Config{Seed: 1})
	var err error
	a().env.Call("nobody", 1, time.Second, func(_ node.Message, e error) { err = e })
	w.Run(10 * time.Millisecond)
	if !errors.Is(err, node.ErrUnreachable) {
		t.Errorf("error is %v; want %v", err, node.ErrUnreachable)
	}
}

func TestMessagesOfAConnectionStayInOrder(t *testing.T) {
	for _, c := range []struct {
		rule    string
		config  Config
		faults  []string
		ordered bool
	}{
		{rule: "as TCP does", ordered: true},
		{rule: "also when they are held back", faults: []string{"at 0s for 1s hold-link a -> b"}, ordered: true},
		{rule: "not where the world is unordered", config: Config{Unordered: true}},
		{rule: "not where a fault reorders them", faults: []string{"at 0s reorder a -> b"}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			c.config.Delay = LogNormal(10*time.Millisecond, 1)
			w, a, b := mutes(t, c.config)
			faults(t, w, c.faults...)
			w.Run(0)
			for i := range 100 {
				a().env.Send("b", i)
			}
			w.Run(10 * time.Second)
			got := make([]int, 0, 100)
			for _, m := range b().got {
				got = append(got, m.(int))
			}
			if len(got) != 100 || slices.IsSorted(got) != c.ordered {
				t.Errorf("got %v", got)
			}
		})
	}
}

// TestRetryOvertakesItsFirstCopy is how an old push runs after newer ones
// (L4 in the catalogue of divergences).
func TestRetryOvertakesItsFirstCopy(t *testing.T) {
	w, a, b := mutes(t, Config{Seed: 1})
	faults(t, w, "at 0s delay-message 3s string #1 a -> b")
	w.Run(0)
	a().env.Call("b", "old", time.Second, func(_ node.Message, err error) {
		if !errors.Is(err, node.ErrTimeout) {
			t.Errorf("the first attempt ended with %v", err)
		}
		a().env.Call("b", "retry of old", time.Second, func(node.Message, error) {})
		a().env.Send("b", "new")
	})
	w.Run(10 * time.Second)
	if want := []node.Message{"retry of old", "new", "old"}; !slices.Equal(b().got, want) {
		t.Errorf("got %v; want %v", b().got, want)
	}
}

func TestLossAndDuplicationAreAsOftenAsAsked(t *testing.T) {
	w, a, b := mutes(t, Config{Seed: 1})
	faults(t, w, "at 0s lose 20% a -> b", "at 0s duplicate 10% a -> b")
	w.Run(0)
	const n = 10_000
	for i := range n {
		a().env.Send("b", i)
	}
	w.Run(10 * time.Second)
	seen := map[node.Message]int{}
	for _, m := range b().got {
		seen[m]++
	}
	twice := 0
	for _, times := range seen {
		if times == 2 {
			twice++
		}
	}
	if lost := n - len(seen); lost < 1800 || lost > 2200 || twice < 700 || twice > 900 {
		t.Errorf("%d of %d were lost and %d came twice; expected about 2000 and 800", lost, n, twice)
	}
}

// TestCrashAtEveryEffect: whatever the boundary, exactly the effects before it
// happen.
func TestCrashAtEveryEffect(t *testing.T) {
	for n, want := range map[uint64]int{1: 0, 2: 0, 3: 1, 4: 1, 5: 2, 6: 2, 7: 3} {
		w, a, b := mutes(t, Config{Seed: 1})
		w.CrashAfter("a", n)
		env := a().env
		env.Disk().Append("log", []byte("x"))               // 1
		env.Send("b", 1)                                    // 2
		env.Trace(node.Trace{What: "half"})                 // 3
		env.Send("b", 2)                                    // 4
		env.After(time.Second, func() { env.Send("b", 3) }) // 5 and 6
		w.Run(5 * time.Second)
		if len(b().got) != want {
			t.Errorf("a crash at effect %d let %v through; want %d messages", n, b().got, want)
		}
		if up := w.Machine("a") != nil; up != (n == 7) {
			t.Errorf("effect %d: the node is up: %v", n, up)
		}
	}
}

// TestFaultsAtATrace: a fault strikes between what was traced and what follows.
func TestFaultsAtATrace(t *testing.T) {
	for _, c := range []struct {
		fault string
		then  []node.Message // what b has got while the fault lasts
		after []node.Message // and once it is over
	}{
		{"at 0s for 1s kill-node a on a half * #2", []node.Message{"0 before", "0 after", "1 before"}, []node.Message{"0 before", "0 after", "1 before"}},
		{"at 0s for 1s pause-node a on a half * #2", []node.Message{"0 before", "0 after", "1 before"}, []node.Message{"0 before", "0 after", "1 before", "1 after"}},
		{"at 0s for 1s cut-one-way a -> b on * half * #2", []node.Message{"0 before", "0 after"}, []node.Message{"0 before", "0 after"}},
	} {
		t.Run(c.fault, func(t *testing.T) {
			w, a, b := mutes(t, Config{Seed: 1})
			faults(t, w, c.fault)
			w.Run(0)
			env := a().env
			for i := range 2 {
				w.At(time.Duration(i)*100*time.Millisecond, func() {
					env.Send("b", fmt.Sprint(i, " before"))
					env.Trace(node.Trace{What: "half"})
					env.Send("b", fmt.Sprint(i, " after"))
				})
			}
			w.Run(500 * time.Millisecond)
			if !slices.Equal(b().got, c.then) {
				t.Errorf("b got %q; want %q", b().got, c.then)
			}
			w.Run(5 * time.Second)
			if !slices.Equal(b().got, c.after) {
				t.Errorf("in the end b got %q; want %q", b().got, c.after)
			}
		})
	}
}

func TestPausedNodeDoesEverythingAfterwards(t *testing.T) {
	w, a, b := mutes(t, Config{Seed: 1})
	var order []string
	w.Pause("b")
	b().env.After(time.Second, func() { order = append(order, fmt.Sprint("timer, after ", len(b().got))) })
	stopped := b().env.After(time.Second, func() { order = append(order, "a timer that was stopped") })
	a().env.Send("b", 1)
	w.At(2*time.Second, func() { a().env.Send("b", 2) })
	w.Run(3 * time.Second)
	if len(b().got) != 0 || len(order) != 0 {
		t.Fatal("the node did something while it was paused")
	}
	stopped.Stop()
	w.Resume("b")
	if !slices.Equal(b().got, []node.Message{1, 2}) || !slices.Equal(order, []string{"timer, after 1"}) {
		t.Errorf("on its resume the node got %v and ran %q", b().got, order)
	}
}
