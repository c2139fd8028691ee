package histories

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"sync"
)

// decodeJSONL has lines decoded by several workers at once: a line end cannot
// stand inside a JSON string, so the text may be cut at any of them. Each worker
// waits for its batch's turn, and then gives the events to take itself or hands
// them to the caller's goroutine. A batch is size bytes long, or its line.
func decodeJSONL(src io.Reader, size int, where goroutine, take func(e *Event, line int) error) (ending, error) {
	workers := min(runtime.GOMAXPROCS(0), 8)
	d := &lineDecoder{
		size:  size,
		work:  make(chan *batch, batchesAhead),
		free:  make(chan *batch, 2*(batchesAhead+workers)),
		quit:  make(chan struct{}),
		taker: lineTaker{take: take, closing: -1},
	}
	if where == callersGoroutine {
		d.order = make(chan *batch, batchesAhead)
	}
	var cutter, decoders sync.WaitGroup
	var readErr error
	cutter.Go(func() { readErr = d.cutLines(src) })
	for range workers {
		decoders.Go(d.decodeLines)
	}
	if d.order != nil {
		cutter.Go(func() {
			decoders.Wait()
			close(d.order)
		})
		for b := range d.order {
			d.deliver(b)
		}
	}
	decoders.Wait()
	cutter.Wait()
	if d.taker.err == nil && readErr != nil {
		return ending{}, readErr
	}
	return d.taker.ending()
}

// lineDecoder is the decoding of one source of JSONL.
type lineDecoder struct {
	size  int           // of a batch's text
	work  chan *batch   // to decode, in order
	order chan *batch   // decoded, in order, for the caller; nil where workers take
	free  chan *batch   // to be used again
	quit  chan struct{} // closed once nothing more is taken
	taker lineTaker     // belongs to whoever's turn it is
}

// cutLines reads the source and hands out batches of whole lines.
func (d *lineDecoder) cutLines(r io.Reader) error {
	defer close(d.work)
	base := 0
	var rest []byte
	var before chan struct{}
	for {
		b := newBatch(d.free)
		// Never a channel that was used before: somebody may still wait for it.
		b.before, b.done = before, make(chan struct{})
		before = b.done
		b.text = append(b.text[:0], rest...)
		last, err := fillLines(r, b, d.size)
		if err != nil {
			return err
		}
		rest = nil
		if !last {
			end := bytes.LastIndexByte(b.text, '\n') + 1
			rest = bytes.Clone(b.text[end:])
			b.text = b.text[:end]
		}
		b.base = base
		base += bytes.Count(b.text, []byte{'\n'})
		select {
		case d.work <- b:
		case <-d.quit:
			return errStopped
		}
		if last {
			return nil
		}
	}
}

// decodeLines decodes batches and passes each on in its turn.
func (d *lineDecoder) decodeLines() {
	in := new(interner)
	for b := range d.work {
		b.decode(in)
		if b.before != nil {
			select {
			case <-b.before:
			case <-d.quit:
				return
			}
		}
		done := b.done // once delivered, the batch may be used again
		if d.order == nil {
			d.deliver(b)
		} else {
			select {
			case d.order <- b:
			case <-d.quit:
			}
		}
		close(done)
	}
}

// deliver gives the batch to whoever takes the events, unless an error ended
// that.
func (d *lineDecoder) deliver(b *batch) {
	if d.taker.err != nil {
		return
	}
	if d.taker.err = d.taker.batch(b); d.taker.err != nil {
		close(d.quit)
		return
	}
	recycle(d.free, b)
}

// lineTaker takes the batches in order and looks after the closing line.
type lineTaker struct {
	take    func(e *Event, line int) error
	events  int
	closing int // what the closing line says, or -1
	cut     bool
	err     error
}

func (t *lineTaker) batch(b *batch) error {
	if t.closing >= 0 && len(b.events) > 0 {
		return &InputError{Line: b.lines[0], Message: "expected nothing after the closing line, found more"}
	}
	if err := b.give(t.take); err != nil {
		return err
	}
	t.events += len(b.events)
	t.closing = max(t.closing, b.closing)
	if b.err == errCut {
		t.cut = true
		return nil
	}
	return b.err
}

func (t *lineTaker) ending() (end ending, err error) {
	switch {
	case t.err != nil:
		return end, t.err
	case t.cut:
		end.warnings = append(end.warnings, cutWarning)
	case t.closing < 0:
		end.warnings = append(end.warnings, "there is no closing line, so the history may be cut off; everything found was read")
	case t.closing != t.events:
		end.warnings = append(end.warnings, fmt.Sprintf("the closing line tells of %d events but there are %d; some are missing or too many", t.closing, t.events))
	default:
		end.whole = true
	}
	return end, nil
}

// fillLines reads until the text has a line end and is long enough; last is
// true at the end of the source.
func fillLines(r io.Reader, b *batch, size int) (last bool, err error) {
	size = max(size, 2*len(b.text))
	for {
		if cap(b.text) < size {
			b.text = append(make([]byte, 0, size), b.text...)
		}
		for len(b.text) < size {
			n, err := r.Read(b.text[len(b.text):size])
			b.text = b.text[:len(b.text)+n]
			if err == io.EOF {
				return true, nil
			}
			if err != nil {
				return false, err
			}
		}
		if bytes.IndexByte(b.text, '\n') >= 0 {
			return false, nil
		}
		size *= 2
	}
}

// decode reads the events of the text.
func (b *batch) decode(in *interner) {
	p := jsonParser{final: true, intern: in}
	line := b.base
	for text := b.text; len(text) > 0; {
		line++
		n := bytes.IndexByte(text, '\n')
		ended := n >= 0
		if !ended {
			n = len(text)
		}
		p.buf, p.pos, p.depth = text[:n], 0, 0
		text = text[min(n+1, len(text)):]
		c, more := p.skip()
		if !more {
			continue
		}
		if b.closing >= 0 {
			b.err = &InputError{Line: line, Message: "expected nothing after the closing line, found more"}
			return
		}
		if err := b.decodeLine(&p, c, line); err != nil {
			if isCut(err) && !ended {
				b.err = errCut
				return
			}
			column := p.pos + 1
			if e, ok := err.(*syntaxError); ok {
				column = e.pos + 1
			}
			b.err = &InputError{Line: line, Column: column, Message: err.Error()}
			return
		}
	}
}

// errCut marks that the last line is not whole.
var errCut = fmt.Errorf("cut")

func (b *batch) decodeLine(p *jsonParser, c byte, line int) error {
	if c != '{' {
		return p.fail("expected an event, an object such as {\"process\":0,\"type\":\"invoke\",…}, found %s", p.found())
	}
	if n, ok := closingLine(p.buf[p.pos:]); ok {
		b.closing = n
		return nil
	}
	if len(b.events) < cap(b.events) {
		b.events = b.events[:len(b.events)+1]
	} else {
		b.events = append(b.events, Event{})
	}
	e := &b.events[len(b.events)-1]
	if canonicalEvent(p.buf[p.pos:], p.intern, e) {
		b.lines = append(b.lines, line)
		return nil
	}
	err := p.event(e)
	if err == nil {
		if _, more := p.skip(); more {
			err = p.fail("expected the end of the line after the event, found %s", p.found())
		}
	}
	if err != nil {
		b.events = b.events[:len(b.events)-1]
		return err
	}
	b.lines = append(b.lines, line)
	return nil
}

// closingLine recognises what appendClosing writes.
func closingLine(line []byte) (events int, ok bool) {
	if !bytes.HasPrefix(line, []byte(`{"end"`)) {
		return 0, false
	}
	v, err := ParseJSON(string(line))
	if err != nil {
		return 0, false
	}
	pairs, _ := v.Pairs()
	if len(pairs) != 2 || pairs[0] != (Pair{String("end"), Bool(true)}) || pairs[1].Key != String("events") {
		return 0, false
	}
	n, ok := pairs[1].Value.AsInt()
	return int(n), ok && n >= 0
}
