package histories

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// unknownIndex is the Index of an event whose source gave none, before it is
// numbered by its position.
const unknownIndex = -1

// fields fills an event from its named fields, which every structured format
// has alike.
type fields struct {
	event *Event
	seen  fieldSet
}

type fieldSet uint16

const (
	seenIndex fieldSet = 1 << iota
	seenTime
	seenProcess
	seenType
	seenF
	seenKey
	seenValue
	seenNode
	seenPath
	seenVersion
	seenError
)

func newFields(e *Event) fields {
	*e = Event{Index: unknownIndex, Time: UnknownTime}
	return fields{event: e}
}

// set takes one field. The error says what was expected of it.
func (f *fields) set(name []byte, v Value) error {
	e := f.event
	switch string(name) {
	case "index":
		if v == Int(-1) || v.IsNil() {
			return f.once(seenIndex, name) // how Knossos says that there is none
		}
		n, ok := v.AsInt()
		if !ok || n < 0 || n > math.MaxInt {
			return expected("index", "an integer from 0", v)
		}
		e.Index = int(n)
		return f.once(seenIndex, name)
	case "time":
		if v.IsNil() {
			return f.once(seenTime, name)
		}
		n, ok := v.AsInt()
		if x, isFloat := v.AsFloat(); isFloat && x == math.Trunc(x) && math.Abs(x) < 1<<62 {
			n, ok = int64(x), true
		}
		if !ok {
			return expected("time", "an integer of nanoseconds", v)
		}
		e.Time = n
		return f.once(seenTime, name)
	case "process":
		if err := f.process(v); err != nil {
			return err
		}
		return f.once(seenProcess, name)
	case "type":
		t, ok := parseType(v)
		if !ok {
			return expected("type", "invoke, ok, fail or info", v)
		}
		e.Type = t
		return f.once(seenType, name)
	case "f":
		e.F = functionName(v)
		return f.once(seenF, name)
	case "key":
		e.Key = v
		return f.once(seenKey, name)
	case "value":
		e.Value = v
		return f.once(seenValue, name)
	case "node":
		return f.text(&e.Node, seenNode, name, v)
	case "path":
		return f.text(&e.Path, seenPath, name, v)
	case "version":
		if n, ok := v.AsInt(); ok {
			e.Version = At(n)
		} else if !v.IsNil() {
			e.Extra = append(e.Extra, Field{"version", v})
		}
		return f.once(seenVersion, name)
	case "error":
		if err := f.text(&e.Error, seenError, name, v); err != nil || e.Error != "" || v.IsNil() {
			return err
		}
		e.Error = v.EDN()
		return nil
	}
	if e.hasExtra(string(name)) {
		return fmt.Errorf("expected every field once, found %s twice", quoteShort(string(name)))
	}
	e.Extra = append(e.Extra, Field{string(name), v})
	return nil
}

func (f *fields) once(field fieldSet, name []byte) error {
	if f.seen&field != 0 {
		return fmt.Errorf("expected every field once, found %s twice", name)
	}
	f.seen |= field
	return nil
}

// text takes a field that is text in an Event. What it was, if it was not a
// string, is kept as an extra field.
func (f *fields) text(to *string, field fieldSet, name []byte, v Value) error {
	switch v.kind {
	case NilKind:
	case StringKind:
		*to = v.text
	default:
		if v.kind == KeywordKind || v.kind == SymbolKind {
			*to = v.text
		}
		f.event.Extra = append(f.event.Extra, Field{string(name), v})
	}
	return f.once(field, name)
}

func (f *fields) process(v Value) error {
	if n, ok := v.AsInt(); ok {
		f.event.Process = Process{Client: int(n)}
		return nil
	}
	name, ok := v.Name()
	if v.kind == StringKind {
		name = strings.TrimPrefix(name, ":")
		if n, err := strconv.ParseUint(name, 10, 31); err == nil {
			f.event.Process = Process{Client: int(n)}
			return nil
		}
	}
	if !ok || name == "" {
		return expected("process", "a client's number or a name such as nemesis", v)
	}
	f.event.Process = Process{Name: name}
	return nil
}

var (
	errNoType    = errors.New(`expected a type (invoke, ok, fail or info), found an event without one`)
	errNoProcess = errors.New(`expected a process (a client's number, or a name such as nemesis), found an event without one; without it completions cannot be joined with their invokes`)
)

// done says what is missing.
func (f *fields) done() error {
	switch {
	case f.seen&seenType == 0:
		return errNoType
	case f.seen&seenProcess == 0:
		return errNoProcess
	}
	return nil
}

func expected(field, want string, found Value) error {
	return fmt.Errorf("expected the %s to be %s, found %s", field, want, shown(found))
}

// parseType takes the type as a keyword or as text with or without its colon.
func parseType(v Value) (Type, bool) {
	name, ok := v.Name()
	if !ok {
		return 0, false
	}
	switch strings.TrimPrefix(name, ":") {
	case "invoke":
		return Invoke, true
	case "ok":
		return OK, true
	case "fail":
		return Fail, true
	case "info":
		return Info, true
	}
	return 0, false
}

// functionName names a function, which may be given as any value.
func functionName(v Value) string {
	if v.IsNil() {
		return ""
	}
	if name, ok := v.Name(); ok {
		return strings.TrimPrefix(name, ":")
	}
	return v.EDN()
}
