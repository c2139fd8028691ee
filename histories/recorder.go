package histories

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Recorder records what the clients of a live system do, as it happens.
//
//	rec := histories.NewRecorder(nil)
//	client := rec.Client()
//	op := client.Invoke(histories.Event{F: "write", Value: histories.Int(1)})
//	op.OK(histories.Event{})
//	history, err := rec.History()
//
// Every event is one whole line of JSONL, given to the writer in one call
// before the recording call returns: who records to a file loses nothing but
// perhaps the line in hand, even when killed. Index and time are taken under one
// lock, so their orders agree with each other and with that of the lines.
//
// A Recorder may be used by any number of goroutines, each Client by one at a
// time. Errors of the writer, and misuse, are kept and given by Err, Close and
// History; after the first one nothing more is recorded, since a history with a
// hole would be taken for a whole one.
type Recorder struct {
	mu      sync.Mutex
	now     func() int64
	w       io.Writer
	builder *Builder // where there is no writer
	events  int
	clients int
	closed  bool
	line    []byte
	err     error
}

// NewRecorder makes a recorder that writes to w, unbuffered, or keeps the
// history in memory where w is nil. Time counts from now.
func NewRecorder(w io.Writer) *Recorder {
	start := time.Now()
	return NewRecorderAt(w, func() int64 { return int64(time.Since(start)) })
}

// NewRecorderAt is NewRecorder with a clock of the caller's, which gives
// nanoseconds since the start of the run. It is called under the recorder's
// lock.
func NewRecorderAt(w io.Writer, now func() int64) *Recorder {
	r := &Recorder{now: now, w: w}
	if w == nil {
		r.builder = new(Builder)
	}
	return r
}

// Client makes a client, which does one thing at a time, with a process number
// of its own.
func (r *Recorder) Client() *Client {
	c := &Client{recorder: r}
	r.mu.Lock()
	c.renew()
	r.mu.Unlock()
	return c
}

// Note records what was done to the system, under the process "nemesis" unless
// the event names another, as an info unless the event has a type.
func (r *Recorder) Note(e Event) {
	if e.Process.IsClient() {
		e.Process = Nemesis
	}
	if e.Type == 0 {
		e.Type = Info
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.record(&e)
}

// record gives the event its index and time and writes it; the lock is held.
func (r *Recorder) record(e *Event) {
	if r.err != nil {
		return
	}
	if r.closed {
		r.err = errors.New("recording: the recorder is closed")
		return
	}
	e.Index, e.Time = r.events, r.now()
	// What is not UTF-8 has no form in the file; values see to it themselves.
	for _, s := range []*string{&e.F, &e.Node, &e.Path, &e.Error} {
		*s = strings.ToValidUTF8(*s, "\ufffd")
	}
	if r.w == nil {
		if err := r.builder.Add(e); err != nil {
			r.err = fmt.Errorf("recording: %w", err)
			return
		}
	} else {
		r.line = append(e.AppendJSON(r.line[:0]), '\n')
		if err := r.write(); err != nil {
			r.err = fmt.Errorf("recording event %d: %w", e.Index, err)
			return
		}
	}
	r.events++
}

func (r *Recorder) write() error {
	n, err := r.w.Write(r.line)
	if err == nil && n < len(r.line) {
		err = io.ErrShortWrite
	}
	return err
}

// misuse keeps an error of the caller's; the lock is held.
func (r *Recorder) misuse(format string, a ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("recording: "+format, a...)
	}
}

// Events gives the number of events recorded so far.
func (r *Recorder) Events() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.events
}

// Err gives the first error, after which nothing was recorded.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Close ends the history with its closing line. It does not close the writer
// underneath. Operations still open have an unknown outcome.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil || r.closed {
		return r.err
	}
	r.closed = true
	if r.w != nil {
		r.line = appendClosing(r.line[:0], r.events)
		if err := r.write(); err != nil {
			r.err = fmt.Errorf("recording the closing line: %w", err)
		}
	}
	return r.err
}

// History closes a recorder without a writer and gives what it recorded; it can
// be asked for once. Who recorded to a writer reads the history from there.
func (r *Recorder) History() (*History, error) {
	if err := r.Close(); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.builder == nil {
		return nil, errors.New("the history was recorded to a writer; read it from there")
	}
	return r.builder.History()
}

// Client records the operations of one logical thread.
type Client struct {
	recorder *Recorder
	process  int
	busy     bool
}

// Process gives the client's present process number. It changes after an
// operation of unknown outcome, because that one may still take effect.
func (c *Client) Process() int {
	c.recorder.mu.Lock()
	defer c.recorder.mu.Unlock()
	return c.process
}

// renew gives the client a number never used before; the lock is held.
func (c *Client) renew() {
	c.process = c.recorder.clients
	c.recorder.clients++
}

// Invoke records that the operation is about to be sent. Call it before sending
// anything. Of the event it takes F, Key, Value, Node, Path and Extra.
func (c *Client) Invoke(e Event) *Pending {
	e.Type, e.Process = Invoke, Process{}
	r := c.recorder
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &Pending{client: c}
	if c.busy {
		r.misuse("process %d invokes %q while its last operation is open; make a Client for each thing done at a time", c.process, e.F)
		p.done = true
		return p
	}
	c.busy = true
	e.Process.Client = c.process
	r.record(&e)
	p.invoke = e
	return p
}

// Pending is an operation that was sent and whose outcome is not known yet.
type Pending struct {
	client *Client
	invoke Event
	done   bool
}

// OK records that the operation happened. Call it after the answer arrived. Of
// the event it takes Value, Node, Path, Version and Extra; what is left out is
// as it was at Invoke.
func (p *Pending) OK(e Event) {
	e.Type = OK
	if e.Value.IsNil() {
		e.Value = p.invoke.Value
	}
	p.complete(e)
}

// Fail records that the operation certainly did not happen. If in doubt, call
// Info.
func (p *Pending) Fail(err error) {
	p.complete(Event{Type: Fail, Value: p.invoke.Value, Error: text(err)})
}

// Info records that the outcome is unknown: the operation may have happened or
// may yet happen. The client goes on under a new process number.
func (p *Pending) Info(err error) {
	p.complete(Event{Type: Info, Value: p.invoke.Value, Error: text(err)})
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (p *Pending) complete(e Event) {
	r := p.client.recorder
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.done {
		r.misuse("process %d completes its operation %q a second time", p.client.process, p.invoke.F)
		return
	}
	p.done = true
	e.Process, e.F, e.Key = p.invoke.Process, p.invoke.F, p.invoke.Key
	if e.Node == "" {
		e.Node = p.invoke.Node
	}
	if e.Path == "" {
		e.Path = p.invoke.Path
	}
	r.record(&e)
	p.client.busy = false
	if e.Type == Info {
		p.client.renew()
	}
}
