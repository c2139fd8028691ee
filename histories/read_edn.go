package histories

import "fmt"

// readEDN reads maps one after another, or inside vectors and lists.
func readEDN(w *window, s *stream) (ending, error) {
	p := ednParser{intern: new(interner)}
	closers := []byte{}
	end := ending{whole: false}
	wrapped := false
	for {
		p.buf, p.pos, p.final, p.depth = w.buf, w.pos, w.eof, 0
		c, ok, err := p.skip()
		if err == nil && !ok {
			w.pass(p.pos)
			if !w.eof {
				if err := w.more(); err != nil {
					return end, err
				}
				continue
			}
			if len(closers) > 0 {
				end.warnings = append(end.warnings, fmt.Sprintf("the text ends before the %q that closes the history; everything before was read", closers[len(closers)-1]))
				return end, nil
			}
			end.whole = wrapped
			return end, nil
		}
		if err == nil {
			switch {
			case c == '[' || c == '(':
				if len(closers) == deepest {
					err = p.fail("values nest deeper than %d levels", deepest)
					break
				}
				closers = append(closers, map[byte]byte{'[': ']', '(': ')'}[c])
				wrapped = true
				w.pass(p.pos + 1)
				continue
			case len(closers) > 0 && c == closers[len(closers)-1]:
				closers = closers[:len(closers)-1]
				w.pass(p.pos + 1)
				continue
			}
		}
		if err == nil {
			err = readEDNEvent(w, s, &p, c)
		}
		switch {
		case err == nil:
			w.pass(p.pos)
		case isCut(err) && !w.eof:
			if err := w.more(); err != nil {
				return end, err
			}
		case isCut(err):
			end.warnings = append(end.warnings, cutWarning)
			return end, nil
		default:
			return end, w.inputError(err)
		}
	}
}

// readEDNEvent reads one event, a map with or without a tag, into the stream.
func readEDNEvent(w *window, s *stream, p *ednParser, c byte) error {
	for c == '#' && (p.pos+1 == len(p.buf) || p.buf[p.pos+1] != '{') {
		if _, err := p.tag(); err != nil {
			return err
		}
		var ok bool
		var err error
		if c, ok, err = p.skip(); err != nil {
			return err
		} else if !ok {
			return p.cut("a tagged map")
		}
	}
	if c != '{' {
		return p.fail("expected an event, a map such as {:process 0, :type :invoke, …}, found %s",
			quoteShort(string(p.buf[p.pos:min(p.pos+20, len(p.buf))])))
	}
	line, _ := w.lineAt(p.pos)
	e, err := s.slot(line)
	if err != nil {
		return err
	}
	if n, ok := plainEDN(p.buf[p.pos:], p.intern, e); ok {
		p.pos += n
		return nil
	}
	if err := p.event(e); err != nil {
		s.drop()
		return err
	}
	return nil
}

// event reads a map's fields into e.
func (p *ednParser) event(e *Event) error {
	start := p.pos
	p.pos++
	f := newFields(e)
	for {
		key, found, err := p.next('}')
		if err != nil {
			return err
		}
		if !found {
			break
		}
		name, ok := key.Name()
		if !ok {
			return p.fail("expected a keyword to name the event's field, found %s", shown(key))
		}
		p.name = append(p.name[:0], name...)
		at := p.pos
		v, found, err := p.next('}')
		if err != nil {
			return err
		}
		if !found {
			p.pos--
			return p.fail("expected a value for the event's field %s, found the map's end", quoteShort(name))
		}
		if err := f.set(p.name, v); err != nil {
			if p.pos == len(p.buf) {
				return p.cut("an event") // the value may only be half there
			}
			for at < len(p.buf) && ednSpace[p.buf[at]] {
				at++
			}
			return &syntaxError{pos: at, message: err.Error()}
		}
	}
	if err := f.done(); err != nil {
		return &syntaxError{pos: start, message: err.Error()}
	}
	return nil
}
