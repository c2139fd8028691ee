package histories

import (
	"bytes"
	"fmt"
	"io"
)

// Lines of JSONL are decoded by several workers at once: a line end cannot
// stand inside a JSON string, so the text may be cut at any of them.

// cutLines reads the source and hands out batches of whole lines, to a worker
// and, in order, to the taker.
func cutLines(r io.Reader, work, order chan<- *batch, free <-chan *batch, quit <-chan struct{}) error {
	defer close(work)
	base := 0
	var rest []byte
	for {
		b := newBatch(free)
		b.text = append(b.text[:0], rest...)
		last, err := fillLines(r, b)
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
		for _, to := range []chan<- *batch{work, order} {
			select {
			case to <- b:
			case <-quit:
				return errStopped
			}
		}
		if last {
			return nil
		}
	}
}

// fillLines reads until the text has a line end and is long enough; last is
// true at the end of the source.
func fillLines(r io.Reader, b *batch) (last bool, err error) {
	size := max(batchBytes, 2*len(b.text))
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

// decodeLines decodes the batches it is given.
func decodeLines(work <-chan *batch) {
	in := new(interner)
	for b := range work {
		b.decode(in)
		b.done <- struct{}{}
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
