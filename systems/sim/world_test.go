package sim

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems/node"
)

// echo is a toy node: it answers what it is asked once it is on its disk.
type echo struct{ env node.Env }

func newEcho(env node.Env) node.Machine { return &echo{env} }

func (e *echo) Start() {}

func (e *echo) Receive(_ node.ID, m node.Message, reply func(node.Message)) {
	e.env.Trace(node.Trace{What: "got"})
	e.env.Disk().Append("log", fmt.Append(nil, m))
	e.env.Disk().Sync(func() {
		if reply != nil {
			reply(m)
		}
	})
}

// asker is a toy client: it asks nodes at random and records what came of it.
type asker struct {
	env     node.Env
	record  *Recording
	targets []node.ID
	n       int64
}

func (a *asker) Start() { a.env.After(a.pause(), a.ask) }

func (a *asker) pause() time.Duration {
	return time.Duration(a.env.Rand().IntN(int(60 * time.Millisecond)))
}

func (a *asker) Receive(node.ID, node.Message, func(node.Message)) {}

func (a *asker) ask() {
	a.n++
	target := a.targets[a.env.Rand().IntN(len(a.targets))]
	a.record.Invoke(histories.Event{F: "write", Value: histories.Int(a.n), Node: string(target)})
	a.env.Call(target, a.n, 50*time.Millisecond, func(m node.Message, err error) {
		switch err {
		case nil:
			a.record.OK(histories.Event{Value: histories.Int(m.(int64))})
		case node.ErrUnreachable:
			a.record.Fail(err.Error())
		default:
			a.record.Info(err.Error())
		}
		a.env.After(a.pause(), a.ask)
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func echoWorld(t testing.TB, seed uint64, clients int) *World {
	t.Helper()
	w := New(Config{Seed: seed})
	addEchoes(t, w, clients)
	return w
}

// addEchoes adds three echoes and clients that ask them.
func addEchoes(t testing.TB, w *World, clients int) {
	t.Helper()
	targets := []node.ID{"n1", "n2", "n3"}
	for _, id := range targets {
		must(t, w.Add(id, newEcho))
	}
	for i := range clients {
		record := w.Recording()
		must(t, w.AddClient(node.ID(fmt.Sprint("x", i+1)), func(env node.Env) node.Machine {
			return &asker{env: env, record: record, targets: targets}
		}))
	}
}

func text(events []histories.Event) []byte {
	var b bytes.Buffer
	for _, e := range events {
		fmt.Fprintf(&b, "%d %d %v %v %s %v %v %s %v %s %v\n", e.Index, e.Time, e.Process, e.Type, e.F, e.Key, e.Value, e.Node, e.Version, e.Error, e.Extra)
	}
	return b.Bytes()
}

func TestSameSeedSameHistory(t *testing.T) {
	run := func(seed uint64) []byte {
		w := faultyWorld(t, seed, everything.Schedule(seed), everything.Until)
		w.Run(everything.Until + time.Second)
		return text(w.History())
	}
	for seed := range uint64(200) {
		first, second := run(seed), run(seed)
		if len(first) == 0 || !bytes.Equal(first, second) {
			t.Fatalf("seed %d gave two histories:\n%s\n%s", seed, first, second)
		}
	}
}

func BenchmarkWorld(b *testing.B) {
	const length = 10 * time.Second
	events := uint64(0)
	b.ReportAllocs()
	for i := range b.N {
		w := echoWorld(b, uint64(i), 20)
		w.Run(length)
		events += w.Events()
	}
	b.ReportMetric(length.Seconds()*float64(b.N)/b.Elapsed().Seconds(), "simulated-s/s")
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
}
