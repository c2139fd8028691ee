package histories

// event reads an object's fields into e; pos is at the opening brace.
func (p *jsonParser) event(e *Event) error {
	start := p.pos
	f := newFields(e)
	for first := true; ; first = false {
		name, more, err := p.field(first)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		at := p.pos
		v, err := p.value()
		if err != nil {
			return err
		}
		if err := f.set(name, v); err != nil {
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

// readJSON reads one array of objects, or objects one after another, over any
// number of lines.
func readJSON(w *window, s *stream) (ending, error) {
	p := jsonParser{intern: new(interner)}
	var end ending
	const (
		before = iota // nothing read yet
		bare          // objects without an array
		opened        // inside the array, an object or its end may follow
		item          // inside the array, after an object
		comma         // inside the array, after a comma
		closed        // after the array
	)
	state := before
	for {
		p.buf, p.pos, p.final, p.depth = w.buf, w.pos, w.eof, 0
		c, more := p.skip()
		if !more {
			w.pass(p.pos)
			if !w.eof {
				if err := w.more(); err != nil {
					return end, err
				}
				continue
			}
			if state == opened || state == item || state == comma {
				end.warnings = append(end.warnings, "the text ends before the ']' that closes the history; everything before was read")
			}
			end.whole = state == closed
			return end, nil
		}
		next := state
		switch {
		case state == before && c == '[':
			next = opened
		case state == item && c == ',':
			next = comma
		case (state == item || state == opened) && c == ']':
			next = closed
		}
		if next != state {
			state = next
			w.pass(p.pos + 1)
			continue
		}
		var err error
		switch {
		case state == closed:
			err = p.fail("expected the end after the array, found %s", p.found())
		case state == item:
			err = p.fail("expected ',' or ']' after an event, found %s", p.found())
		case c != '{':
			err = p.fail("expected an event, an object such as {\"process\":0,\"type\":\"invoke\",…}, found %s", p.found())
		default:
			line, _ := w.lineAt(p.pos)
			var e *Event
			if e, err = s.slot(line); err == nil {
				if err = p.event(e); err != nil {
					s.drop()
				}
			}
		}
		switch {
		case err == nil:
			w.pass(p.pos)
			if state == opened || state == comma {
				state = item
			} else if state == before {
				state = bare
			}
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
