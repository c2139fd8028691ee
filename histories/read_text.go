package histories

import (
	"bytes"
	"strconv"
	"strings"
)

// maxProse is after how many bytes an error in free text is not continued: stack
// traces are long, and what went wrong stands at their head.
const maxProse = 4096

// readText reads lines of columns: process, type, function, value and perhaps
// an error, as in history.txt, or with something before them, as in Jepsen's
// log, or in brackets. Where the first line that is not empty starts with an
// event, every line must be one, or go on with the text of the error before it;
// otherwise lines that are none are passed by, as a log has many.
func readText(w *window, s *stream) (ending, error) {
	var end ending
	intern := new(interner)
	strict, decided := false, false
	// Where the last event ends with an error in free text, lines that are no
	// events go on with it.
	var prose *Event
	var now Event
	for {
		rest := w.buf[w.pos:]
		n := bytes.IndexByte(rest, '\n')
		if n < 0 {
			if !w.eof {
				if err := w.more(); err != nil {
					return end, err
				}
				continue
			}
			if len(rest) == 0 {
				return end, nil
			}
			n = len(rest)
			end.warnings = append(end.warnings, "the last line has no line end, so it may be cut off")
		}
		next := w.pos + min(n+1, len(rest))
		line := bytes.TrimSpace(rest[:n])
		if len(line) == 0 {
			w.pass(next)
			continue
		}
		found, atStart, err := textEvent(&now, line, intern)
		if !decided {
			strict, decided = found && atStart, true
		}
		switch {
		case err != nil:
		case found:
			e, err := s.slot(w.line)
			if err != nil {
				return end, err
			}
			*e, prose = now, nil
			if e.Error != "" && !e.hasExtra("error") {
				prose = e
			}
		case strict && prose != nil:
			if len(prose.Error) < maxProse {
				prose.Error += "\n" + strings.ToValidUTF8(string(line), "\ufffd")
			}
		case strict:
			if w.eof && next == len(w.buf) && n == len(rest) {
				end.warnings = append(end.warnings, cutWarning)
				return end, nil
			}
			err = &InputError{Line: w.line, Message: "expected process, type (:invoke, :ok, :fail or :info), function and value, found " + quoteShort(string(line))}
		}
		if err != nil {
			if e, ok := err.(*syntaxError); ok {
				err = &InputError{Line: w.line, Message: e.message}
			}
			return end, err
		}
		w.pass(next)
	}
}

var textTypes = []struct {
	name string
	t    Type
}{{":invoke", Invoke}, {":ok", OK}, {":fail", Fail}, {":info", Info}}

// textEvent reads the event in a line, if there is one.
func textEvent(e *Event, line []byte, in *interner) (found, atStart bool, err error) {
	if line[0] == '[' && line[len(line)-1] == ']' {
		// A tuple in brackets; where it is a log line in truth it has no event
		// in its first column.
		if found, atStart, err = textColumns(e, line[1:len(line)-1], in); found && atStart {
			return found, atStart, err
		}
	}
	return textColumns(e, line, in)
}

func textColumns(e *Event, line []byte, in *interner) (found, atStart bool, err error) {
	for i := 0; i < len(line); i++ {
		if line[i] != ':' || i == 0 || !isBlank(line[i-1]) {
			continue
		}
		for _, t := range textTypes {
			rest, ok := bytes.CutPrefix(line[i:], []byte(t.name))
			if !ok || len(rest) == 0 || !isBlank(rest[0]) {
				continue
			}
			process, start, ok := textProcess(line[:i])
			if !ok {
				continue
			}
			*e = Event{Index: unknownIndex, Time: UnknownTime, Process: process, Type: t.t}
			return true, start == 0, textRest(e, rest, in)
		}
	}
	return false, false, nil
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// textProcess reads the process that before ends with, and where it starts.
func textProcess(before []byte) (p Process, start int, ok bool) {
	before = bytes.TrimRight(before, " \t")
	start = bytes.LastIndexAny(before, " \t") + 1
	word := string(before[start:])
	if n, err := strconv.ParseUint(word, 10, 31); err == nil {
		return Process{Client: int(n)}, start, true
	}
	name, ok := strings.CutPrefix(word, ":")
	if !ok || !isKeywordName(name) || name == "type" {
		return Process{}, 0, false
	}
	return Process{Name: name}, start, true
}

// textRest reads the columns after the type.
func textRest(e *Event, rest []byte, in *interner) error {
	p := ednParser{buf: rest, final: true, intern: in}
	f, found, err := p.next(0)
	if err != nil {
		return err
	}
	if !found {
		return p.fail("expected a function after the type, found the end of the line")
	}
	e.F = functionName(f)
	if e.Value, found, err = p.next(0); err != nil {
		return err
	}
	if !found {
		e.Value = Nil
	}
	// An error may be any text; where it is one EDN value, it is that.
	column := bytes.TrimSpace(p.buf[p.pos:])
	if len(column) == 0 {
		return nil
	}
	p.pos = 0
	p.buf = column
	v, _, err := p.next(0)
	if err != nil || p.pos < len(column) || v.kind == SymbolKind {
		e.Error = strings.ToValidUTF8(string(column), "\ufffd")
		return nil
	}
	fields := fields{event: e}
	return fields.set([]byte("error"), v)
}
