package workloads

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems"
)

// played is a client whose system is played by the test.
type played struct {
	mu       sync.Mutex
	identity string
	prepare  error
	invoke   func(context.Context, systems.Op) systems.Outcome
	asked    []systems.Op
	at       []time.Duration
	start    time.Time
}

func (p *played) Prepare(_ context.Context, op *systems.Op) error {
	op.Expected, op.ExpectedVersion = histories.Int(40), 4
	return p.prepare
}

func (p *played) Invoke(ctx context.Context, op systems.Op) systems.Outcome {
	p.mu.Lock()
	p.asked = append(p.asked, op)
	p.at = append(p.at, time.Since(p.start))
	p.mu.Unlock()
	return p.invoke(ctx, op)
}

func (p *played) Identity() string { return p.identity }
func (p *played) Close() error     { return nil }

func ok(version int64) systems.Outcome {
	return systems.Outcome{Type: histories.OK, Value: histories.Int(version * 10), Version: histories.At(version)}
}

func newLoad(rate float64) (*Load, func() []histories.Event) {
	var (
		out  strings.Builder
		next int64
	)
	rec := histories.NewRecorder(&out)
	l := &Load{
		Recorder: rec,
		Rate:     rate,
		Seed:     1,
		Timeout:  2 * time.Second,
		Values:   func() histories.Value { next++; return histories.Int(next) },
		Tally:    &Tally{},
	}
	return l, func() []histories.Event {
		if err := rec.Close(); err != nil {
			panic(err)
		}
		var events []histories.Event
		_, err := histories.ReadEvents(strings.NewReader(out.String()), histories.ReadOptions{}, func(e *histories.Event) error {
			events = append(events, *e)
			return nil
		})
		if err != nil {
			panic(err)
		}
		return events
	}
}

// line writes an event the way the tests below want to compare it.
func line(e histories.Event) string {
	s := fmt.Sprintf("%v %v %s %v=%v", e.Process, e.Type, e.F, e.Key, e.Value)
	if e.Node != "" {
		s += " on " + e.Node
	}
	if e.Path != "" {
		s += " by " + e.Path
	}
	if v, known := e.Version.Get(); known {
		s += fmt.Sprintf(" v%d", v)
	}
	for _, f := range e.Extra {
		s += fmt.Sprintf(" %s:%v", f.Name, f.Value)
	}
	if e.Error != "" {
		s += " (" + e.Error + ")"
	}
	return s
}

func TestHowOperationsStandInTheHistory(t *testing.T) {
	refused, lost := errors.New("version conflict"), errors.New("connection closed")
	outcome := func(o systems.Outcome) func(context.Context, systems.Op) systems.Outcome {
		return func(context.Context, systems.Op) systems.Outcome { return o }
	}
	tests := []struct {
		rule   string
		op     systems.Op
		invoke func(context.Context, systems.Op) systems.Outcome
		want   []string
	}{
		{"a read returns value and version", systems.Op{F: "read", Key: "r0", Path: "sync"}, outcome(ok(7)), []string{
			"0 invoke read r0=nil on n1 by sync",
			"0 ok read r0=70 on n1 by sync v7",
		}},
		{"a write keeps its value and gets a version", systems.Op{F: "write", Key: "r0"}, outcome(ok(7)), []string{
			"0 invoke write r0=1 on n1",
			"0 ok write r0=1 on n1 v7",
		}},
		{"a conditional write says what it compared with", systems.Op{F: "write", Key: "r0", Conditional: true}, outcome(ok(5)), []string{
			"0 invoke write r0=1 on n1 expect:4",
			"0 ok write r0=1 on n1 v5 expect:4",
		}},
		{"a cas says what it replaces", systems.Op{F: "cas", Key: "r0", Conditional: true}, outcome(ok(5)), []string{
			"0 invoke cas r0=[40 1] on n1",
			"0 ok cas r0=[40 1] on n1 v5",
		}},
		{"a refused write failed", systems.Op{F: "write", Key: "r0"}, outcome(systems.Outcome{Type: histories.Fail, Err: refused}), []string{
			"0 invoke write r0=1 on n1",
			"0 fail write r0=1 on n1 (version conflict)",
		}},
		{"a write without answer is unknown", systems.Op{F: "write", Key: "r0"}, outcome(systems.Outcome{Type: histories.Info, Err: lost}), []string{
			"0 invoke write r0=1 on n1",
			"0 info write r0=1 on n1 (connection closed)",
		}},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			l, events := newLoad(1)
			l.Sender(&played{invoke: test.invoke}, "n1").Send(t.Context(), test.op)
			var got []string
			for _, e := range events() {
				got = append(got, line(e))
			}
			if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

func TestAnOperationThatCouldNotBePreparedIsNotRecorded(t *testing.T) {
	l, _ := newLoad(1)
	p := &played{prepare: errors.New("no answer")}
	l.Sender(p, "n1").Send(t.Context(), systems.Op{F: "cas", Key: "r0", Conditional: true})
	if n := l.Recorder.Events(); n != 0 || len(p.asked) != 0 {
		t.Errorf("recorded %d events, asked %v", n, p.asked)
	}
	if c := l.Tally.Counts(); c.Unsent != 1 || c.Completed() != 0 {
		t.Errorf("counts: %+v", c)
	}
}

func TestANewIdentityIsANewClient(t *testing.T) {
	l, events := newLoad(1)
	p := &played{identity: "0x1", invoke: func(context.Context, systems.Op) systems.Outcome { return ok(1) }}
	s := l.Sender(p, "n1")
	read := systems.Op{F: "read", Key: "r0"}
	s.Send(t.Context(), read)
	s.Send(t.Context(), read)
	p.identity = "0x2"
	s.Send(t.Context(), read)
	var processes []string
	for _, e := range events() {
		processes = append(processes, e.Process.String())
	}
	if got := strings.Join(processes, ""); got != "000011" {
		t.Errorf("processes %s, want 000011", got)
	}
}

func TestAnOperationIsGivenUpAtItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := newLoad(1)
		p := &played{invoke: func(ctx context.Context, _ systems.Op) systems.Outcome {
			<-ctx.Done()
			return systems.Outcome{Type: histories.Info, Err: ctx.Err()}
		}}
		start := time.Now()
		o := l.Sender(p, "n1").Send(t.Context(), systems.Op{F: "write", Key: "r0"})
		if took := time.Since(start); took != l.Timeout || !errors.Is(o.Err, context.DeadlineExceeded) {
			t.Errorf("%v after %v", o.Err, took)
		}
	})
}

// drive runs agents for a time and gives what each was asked, and when.
func drive(t *testing.T, l *Load, d time.Duration, clients ...*played) {
	t.Helper()
	stop := make(chan struct{})
	time.AfterFunc(d, func() { close(stop) })
	var agents []Agent
	for i, c := range clients {
		c.start = time.Now()
		agents = append(agents, Agent{
			Name: fmt.Sprint("agent ", i), Node: "n1", Client: c, Weight: 1,
			Next: func(rng *rand.Rand) systems.Op {
				return systems.Op{F: "read", Key: fmt.Sprint("r", rng.IntN(1000))}
			},
		})
	}
	l.Run(t.Context(), stop, agents)
}

func prompt(context.Context, systems.Op) systems.Outcome { return ok(1) }

func TestTheSeedDecidesWhatIsAskedAndWhen(t *testing.T) {
	asked := func(seed uint64) string {
		var got string
		synctest.Test(t, func(t *testing.T) {
			l, _ := newLoad(100)
			l.Seed = seed
			a, b := &played{invoke: prompt}, &played{invoke: prompt}
			drive(t, l, 5*time.Second, a, b)
			got = fmt.Sprint(a.asked, a.at, b.asked, b.at)
		})
		return got
	}
	first, again, other := asked(1), asked(1), asked(2)
	if first != again {
		t.Error("the same seed asked differently")
	}
	if first == other {
		t.Error("another seed asked the same")
	}
}

func TestTheRateIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := newLoad(200)
		a, b := &played{invoke: prompt}, &played{invoke: prompt}
		drive(t, l, 50*time.Second, a, b)
		// 10000 are expected, with a standard deviation of 100.
		if n := len(a.asked) + len(b.asked); n < 9600 || n > 10400 {
			t.Errorf("%d operations in 50 s at 200/s", n)
		}
	})
}

func TestWhatABusyClientMissesIsCountedAndChangesNoLaterOperation(t *testing.T) {
	var quick, slow *played
	run := func(invoke func(context.Context, systems.Op) systems.Outcome) (p *played, c Counts) {
		synctest.Test(t, func(t *testing.T) {
			l, _ := newLoad(100)
			p = &played{invoke: invoke}
			drive(t, l, 10*time.Second, p)
			c = l.Tally.Counts()
		})
		return p, c
	}
	quick, _ = run(prompt)
	slow, counts := run(func(context.Context, systems.Op) systems.Outcome {
		time.Sleep(500 * time.Millisecond)
		return ok(1)
	})
	if len(slow.asked) > 21 || len(slow.asked) < 18 {
		t.Errorf("a client that takes half a second did %d operations in 10 s", len(slow.asked))
	}
	// What was due during the last operation is not looked at any more.
	if got, want := int(counts.Shed)+len(slow.asked), len(quick.asked); got < want-80 || got > want {
		t.Errorf("%d sent and %d shed, %d were due", len(slow.asked), counts.Shed, want)
	}
	due := map[string]time.Duration{}
	for i, op := range quick.asked {
		due[fmt.Sprint(i, op.Key)] = quick.at[i]
	}
	i := 0
	for n, at := range slow.at {
		for i < len(quick.at) && quick.at[i] != at {
			i++
		}
		if i == len(quick.at) || quick.asked[i].Key != slow.asked[n].Key {
			t.Fatalf("operation %d at %v was not due then", n, at)
		}
	}
}

func TestWhenTheRunIsCalledOffNothingIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, events := newLoad(1000)
		l.Timeout = time.Hour
		p := &played{invoke: func(ctx context.Context, _ systems.Op) systems.Outcome {
			<-ctx.Done()
			return systems.Outcome{Type: histories.Info, Err: ctx.Err()}
		}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		l.Run(ctx, nil, []Agent{{Name: "a", Client: p, Weight: 1, Next: func(*rand.Rand) systems.Op {
			return systems.Op{F: "write", Key: "r0"}
		}}})
		if took := time.Since(start); took != time.Second {
			t.Errorf("took %v", took)
		}
		if e := events(); len(e) != 2 || e[1].Type != histories.Info {
			t.Errorf("events: %v", e)
		}
	})
}

func TestTheTallyCountsReadsOlderThanWhatWasAcknowledged(t *testing.T) {
	l, _ := newLoad(1)
	versions := []int64{3, 3, 5, 4, 5, 6}
	p := &played{invoke: func(context.Context, systems.Op) systems.Outcome {
		v := versions[0]
		versions = versions[1:]
		return ok(v)
	}}
	s := l.Sender(p, "n1")
	write, read := systems.Op{F: "write", Key: "r0"}, systems.Op{F: "read", Key: "r0", Path: "get"}
	for _, op := range []systems.Op{write, read, write, read, read, read} {
		s.Send(t.Context(), op)
	}
	c := l.Tally.Counts()
	if c.Paths["get"] != (Reads{Reads: 4, Stale: 1}) || c.Stale() != 1 || c.OK != 6 {
		t.Errorf("counts: %+v", c)
	}
}
