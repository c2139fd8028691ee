package histories

import (
	"bytes"
	"errors"
	"io"
)

// batch is a run of events on their way from a decoder to whoever takes them.
// Decoders work ahead in goroutines of their own; batches are taken in the order
// of the source.
type batch struct {
	events []Event
	lines  []int // the source line of each event

	done    chan struct{} // JSONL: closed once the next batch may be taken
	before  chan struct{} // JSONL: done of the batch before, nil for the first
	text    []byte        // JSONL: the lines to decode
	base    int           // JSONL: how many lines are before text
	closing int           // JSONL: what the closing line says, or -1
	err     error         // what follows the events instead of more of them
}

// batchEvents is how many events a batch has, and batchBytes how long its text
// is, about. Both are large against the cost of handing it over and small
// against a cache.
const (
	batchEvents = 1024
	batchBytes  = 1 << 17
)

// batchesAhead is how many batches may wait to be taken. They are few, so that
// memory stays small and what was decoded is still in the cache.
const batchesAhead = 4

// ending is how a source ended.
type ending struct {
	whole    bool
	warnings []string
}

// errStopped ends a decoder whose events nobody takes any more.
var errStopped = errors.New("stopped")

// stream is what a decoder that works through its source in one go writes to.
type stream struct {
	out  chan<- *batch
	free <-chan *batch
	quit <-chan struct{}
	now  *batch
}

// slot gives the place for the next event.
func (s *stream) slot(line int) (*Event, error) {
	if s.now != nil && len(s.now.events) == cap(s.now.events) {
		if err := s.flush(); err != nil {
			return nil, err
		}
	}
	if s.now == nil {
		s.now = newBatch(s.free)
	}
	b := s.now
	b.events = b.events[:len(b.events)+1]
	b.lines = append(b.lines, line)
	return &b.events[len(b.events)-1], nil
}

// drop takes the last slot back.
func (s *stream) drop() {
	s.now.events = s.now.events[:len(s.now.events)-1]
	s.now.lines = s.now.lines[:len(s.now.lines)-1]
}

func (s *stream) flush() error {
	if s.now == nil {
		return nil
	}
	select {
	case s.out <- s.now:
		s.now = nil
		return nil
	case <-s.quit:
		return errStopped
	}
}

func newBatch(free <-chan *batch) *batch {
	select {
	case b := <-free:
		b.events, b.lines, b.err, b.closing = b.events[:0], b.lines[:0], nil, -1
		return b
	default:
		return &batch{events: make([]Event, 0, batchEvents), closing: -1}
	}
}

// window is the part of a source that a parser looks at. It grows until a whole
// event is inside, so memory follows the longest event.
type window struct {
	r    io.Reader
	buf  []byte
	pos  int // where the next event starts
	line int // the line of pos, from 1
	col  int // the bytes of that line before pos
	eof  bool
}

func newWindow(r io.Reader) *window {
	return &window{r: r, line: 1, buf: make([]byte, 0, batchBytes)}
}

// more reads on. It first lets go of what was passed, and then grows when there
// is not much room: doubling keeps the cost of parsing an event again linear.
func (w *window) more() error {
	w.buf = w.buf[:copy(w.buf, w.buf[w.pos:])]
	w.pos = 0
	if cap(w.buf) < 2*len(w.buf) || cap(w.buf) == len(w.buf) {
		w.buf = append(make([]byte, 0, 2*cap(w.buf)), w.buf...)
	}
	for tries := 0; ; tries++ {
		n, err := w.r.Read(w.buf[len(w.buf):cap(w.buf)])
		w.buf = w.buf[:len(w.buf)+n]
		switch {
		case err == io.EOF:
			w.eof = true
			return nil
		case err != nil:
			w.eof = true
			return err
		case n > 0:
			return nil
		case tries == 100:
			return io.ErrNoProgress
		}
	}
}

// pass moves on to a position in the buffer.
func (w *window) pass(pos int) {
	w.line, w.col = w.lineAt(pos)
	w.pos = pos
}

// lineAt gives the line, and the bytes before it on that line, of a position at
// or after pos.
func (w *window) lineAt(pos int) (line, col int) {
	line, start := w.line, w.pos-w.col
	for at := w.pos; ; line++ {
		n := bytes.IndexByte(w.buf[at:pos], '\n')
		if n < 0 {
			return line, pos - start
		}
		at += n + 1
		start = at
	}
}

// inputError places a syntax error.
func (w *window) inputError(err error) error {
	e, ok := err.(*syntaxError)
	if !ok {
		return err
	}
	line, col := w.lineAt(max(e.pos, w.pos))
	return &InputError{Line: line, Column: col + 1, Message: e.message}
}

func isCut(err error) bool {
	e, ok := err.(*syntaxError)
	return ok && e.cut
}

const cutWarning = "the last event is cut off; everything before it was read"
