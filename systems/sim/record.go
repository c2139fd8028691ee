package sim

import (
	"slices"

	"github.com/stalemate-io/stalemate/histories"
)

// recorder keeps the history of a world.
type recorder struct {
	chunks  [][]histories.Event // events are large: never copy them to grow
	count   int
	clients int // how many process numbers were given out
}

const chunk = 256

// History is what the clients saw and what was done to the world, so far, in
// the order in which it happened, with the world's time. It is empty where
// Config.Record takes the events.
func (w *World) History() []histories.Event { return slices.Concat(w.recorder.chunks...) }

// Record adds an event to the history; index and time are the world's to give.
func (w *World) Record(e histories.Event) {
	r := &w.recorder
	e.Index = r.count
	e.Time = int64(w.now)
	r.count++
	if w.config.Record != nil {
		w.config.Record(&e)
		return
	}
	last := len(r.chunks) - 1
	if last < 0 || len(r.chunks[last]) == chunk {
		r.chunks = append(r.chunks, make([]histories.Event, 0, chunk))
		last++
	}
	r.chunks[last] = append(r.chunks[last], e)
}

// Recording records the operations of one client, which does one thing at a time.
// After an operation whose outcome is unknown the client is a new process, since
// the old one may still be at it.
type Recording struct {
	world   *World
	process int
	open    histories.Event
}

// Recording gives a new client of the history.
func (w *World) Recording() *Recording {
	r := &Recording{world: w}
	r.renew()
	return r
}

func (r *Recording) renew() {
	r.process = r.world.recorder.clients
	r.world.recorder.clients++
}

// Process is the number under which the client's next operation is recorded.
func (r *Recording) Process() int { return r.process }

// Invoke records that the client is about to do something: F, Key, Value, Node
// and Path of the event say what.
func (r *Recording) Invoke(e histories.Event) {
	e.Type = histories.Invoke
	e.Process = histories.Process{Client: r.process}
	r.open = e
	r.world.Record(e)
}

// OK records that what was invoked happened. Of the result, the value, the
// version and the extra fields count, and the node where another answered than
// was asked.
func (r *Recording) OK(result histories.Event) {
	e := r.open
	e.Type, e.Value, e.Version, e.Extra = histories.OK, result.Value, result.Version, result.Extra
	if result.Node != "" {
		e.Node = result.Node
	}
	r.world.Record(e)
}

// Fail records that what was invoked certainly did not happen, and why.
func (r *Recording) Fail(why string) { r.end(histories.Fail, why) }

// Info records that the outcome of what was invoked is unknown, and why.
func (r *Recording) Info(why string) {
	r.end(histories.Info, why)
	r.renew()
}

func (r *Recording) end(t histories.Type, why string) {
	e := r.open
	e.Type, e.Error = t, why
	r.world.Record(e)
}
