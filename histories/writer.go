package histories

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Writer writes events in one of the formats. It buffers; nothing is surely
// written before Close.
//
// A line of JSONL is an object with the fields index, time, process, type, f,
// key, value, node, path, version, error and whatever Event.Extra holds, in this
// order; those that are unknown or empty are left out, but for value. The last
// line is {"end":true,"events":N} with the number of events before it, by which
// a reader knows that nothing is missing. Values that JSON has no form for are
// written as Value.AppendJSON tells, so that every event can be read back as it
// was.
//
// EDN is a map a line with the same fields as keywords, as Jepsen writes it.
// JSON is one array, an object a line, in the form elle-cli takes; it has no
// keywords, sets or keys that are not strings, so it does not keep everything.
type Writer struct {
	w      *bufio.Writer
	format Format
	events int
	line   []byte
	err    error
}

// NewWriter makes a Writer of format JSONL, EDN or JSON.
func NewWriter(w io.Writer, format Format) (*Writer, error) {
	switch format {
	case JSONL, EDN, JSON:
		return &Writer{w: bufio.NewWriterSize(w, 1<<16), format: format}, nil
	}
	return nil, fmt.Errorf("expected one of the formats jsonl, edn, json to write, found %s", format)
}

// Write writes one event.
func (w *Writer) Write(e *Event) error {
	if w.err != nil {
		return w.err
	}
	w.line = w.line[:0]
	switch w.format {
	case EDN:
		w.line = append(e.appendEDN(w.line), '\n')
	case JSON:
		separator := ",\n"
		if w.events == 0 {
			separator = "[\n"
		}
		w.line = append(w.line, separator...)
		w.line = e.appendJSON(w.line, Value.appendPlainJSON)
	default:
		w.line = append(e.AppendJSON(w.line), '\n')
	}
	w.events++
	_, w.err = w.w.Write(w.line)
	return w.err
}

// Close writes what ends the history and everything buffered. It does not close
// the writer underneath.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	switch {
	case w.format == JSONL:
		_, w.err = w.w.Write(appendClosing(nil, w.events))
	case w.format == JSON && w.events == 0:
		_, w.err = w.w.WriteString("[]\n")
	case w.format == JSON:
		_, w.err = w.w.WriteString("\n]\n")
	}
	if w.err == nil {
		w.err = w.w.Flush()
	}
	return w.err
}

// Leave writes everything buffered, and not what ends the history: who reads it is
// to know that it may lack events.
func (w *Writer) Leave() error {
	if w.err == nil {
		w.err = w.w.Flush()
	}
	return w.err
}

// appendClosing appends the closing line of JSONL.
func appendClosing(dst []byte, events int) []byte {
	dst = append(dst, `{"end":true,"events":`...)
	return append(strconv.AppendInt(dst, int64(events), 10), "}\n"...)
}

// AppendJSON appends the event as a line of JSONL, without its end.
func (e *Event) AppendJSON(dst []byte) []byte { return e.appendJSON(dst, Value.AppendJSON) }

func (e *Event) appendJSON(dst []byte, value func(Value, []byte) []byte) []byte {
	dst = append(dst, `{"index":`...)
	dst = strconv.AppendInt(dst, int64(e.Index), 10)
	if e.Time != UnknownTime {
		dst = append(dst, `,"time":`...)
		dst = strconv.AppendInt(dst, e.Time, 10)
	}
	dst = append(dst, `,"process":`...)
	if e.Process.IsClient() {
		dst = strconv.AppendInt(dst, int64(e.Process.Client), 10)
	} else {
		dst = appendQuoted(dst, e.Process.Name)
	}
	dst = append(dst, `,"type":"`...)
	dst = append(dst, e.Type.String()...)
	dst = append(dst, `","f":`...)
	dst = appendQuoted(dst, e.F)
	if !e.Key.IsNil() {
		dst = value(e.Key, append(dst, `,"key":`...))
	}
	dst = value(e.Value, append(dst, `,"value":`...))
	text := func(name, s string) {
		if s != "" && !e.hasExtra(name) {
			dst = append(append(append(dst, `,"`...), name...), `":`...)
			dst = appendQuoted(dst, s)
		}
	}
	text("node", e.Node)
	text("path", e.Path)
	if n, known := e.Version.Get(); known {
		dst = strconv.AppendInt(append(dst, `,"version":`...), n, 10)
	}
	text("error", e.Error)
	for i := range e.Extra {
		dst = append(appendQuoted(append(dst, ','), e.Extra[i].Name), ':')
		dst = value(e.Extra[i].Value, dst)
	}
	return append(dst, '}')
}

// hasExtra reports whether Extra has a field of that name, which then stands
// for the event's own because it tells more.
func (e *Event) hasExtra(name string) bool {
	for i := range e.Extra {
		if e.Extra[i].Name == name {
			return true
		}
	}
	return false
}

func (e *Event) appendEDN(dst []byte) []byte {
	dst = append(dst, `{:index `...)
	dst = strconv.AppendInt(dst, int64(e.Index), 10)
	if e.Time != UnknownTime {
		dst = strconv.AppendInt(append(dst, `, :time `...), e.Time, 10)
	}
	dst = append(append(dst, `, :type :`...), e.Type.String()...)
	dst = append(dst, `, :process `...)
	if e.Process.IsClient() {
		dst = strconv.AppendInt(dst, int64(e.Process.Client), 10)
	} else {
		dst = appendEDNName(dst, e.Process.Name)
	}
	dst = append(dst, `, :f `...)
	if e.F == "" {
		dst = append(dst, "nil"...)
	} else {
		dst = appendEDNName(dst, e.F)
	}
	if !e.Key.IsNil() {
		dst = e.Key.AppendEDN(append(dst, `, :key `...))
	}
	dst = e.Value.AppendEDN(append(dst, `, :value `...))
	text := func(name, s string) {
		if s != "" && !e.hasExtra(name) {
			dst = append(append(append(dst, `, :`...), name...), ' ')
			dst = appendQuoted(dst, s)
		}
	}
	text("node", e.Node)
	text("path", e.Path)
	if n, known := e.Version.Get(); known {
		dst = strconv.AppendInt(append(dst, `, :version `...), n, 10)
	}
	text("error", e.Error)
	for i := range e.Extra {
		dst = appendEDNName(append(dst, `, `...), e.Extra[i].Name)
		dst = e.Extra[i].Value.AppendEDN(append(dst, ' '))
	}
	return append(dst, '}')
}

// appendEDNName writes a name as a keyword, or as a string where no keyword can
// have it.
func appendEDNName(dst []byte, name string) []byte {
	if isKeywordName(name) {
		return append(append(dst, ':'), name...)
	}
	return appendQuoted(dst, name)
}

func isKeywordName(name string) bool {
	if name == "" || !utf8.ValidString(name) || name[0] == ':' {
		return false
	}
	for _, c := range []byte(name) {
		if c <= ' ' || c == 0x7f || c >= utf8.RuneSelf || ednDelimiter[c] || strings.IndexByte("\\^@`~", c) >= 0 {
			return false
		}
	}
	return true
}
