package histories

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
)

// ReadOptions say what a source does not say itself.
type ReadOptions struct {
	// Format of the source; Auto looks at the content, never at the name.
	Format Format
	// Keyed takes the value of every client's operation for [key value], as
	// Jepsen's independent workloads write it. That can never be guessed: a
	// compare-and-set looks the same.
	Keyed bool
	// Name of the source, for errors.
	Name string
}

// Summary says how a source ended.
type Summary struct {
	Format   Format
	Events   int
	Whole    bool // see History.Whole
	Warnings []string
}

// ReadFile is ReadHistory for a file; "-" is the standard input.
func ReadFile(path string, o ReadOptions) (*History, error) {
	f, size, err := open(path, &o)
	if err != nil {
		return nil, err
	}
	h, err := read(f, o, size)
	return h, errors.Join(err, f.Close())
}

// open opens a file to read; "-" is the standard input, which Close leaves open.
func open(path string, o *ReadOptions) (f io.ReadCloser, size int64, err error) {
	if o.Name == "" {
		o.Name = path
	}
	if path == "-" {
		o.Name = "standard input"
		return io.NopCloser(os.Stdin), 0, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s: expected a file with a history, found a folder", path)
	}
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	return file, info.Size(), nil
}

// ReadHistory reads a history in any format, plain or compressed with gzip or
// Zstandard. An error about the content is an *InputError. A source that is cut
// off gives what is before the cut, with Whole unset and a warning.
func ReadHistory(r io.Reader, o ReadOptions) (*History, error) { return read(r, o, 0) }

func read(r io.Reader, o ReadOptions, size int64) (*History, error) {
	b := new(Builder)
	summary, err := readLines(r, o, anyGoroutine, func(e *Event, line int) error {
		// From the first lines of a file its number of events can be told.
		if b.events == 200 && line > 100 && size > 0 {
			b.Expect(int(size) / leastEventBytes / 2)
		}
		return b.add(e, line)
	})
	if err != nil {
		return nil, err
	}
	h, err := b.History()
	if err != nil {
		return nil, nameInput(err, o.Name)
	}
	h.Whole = summary.Whole
	h.Warnings = append(summary.Warnings, h.Warnings...)
	return h, nil
}

// leastEventBytes is shorter than nearly all events are written.
const leastEventBytes = 60

// ReadEvents gives the events of a source one after another to take, without
// pairing them. The event is valid until take returns; a copy of it is for good.
// Index is as in the source, or the position where the source has none. An error
// of take ends the reading and is returned.
func ReadEvents(r io.Reader, o ReadOptions, take func(*Event) error) (Summary, error) {
	return readLines(r, o, callersGoroutine, func(e *Event, _ int) error { return take(e) })
}

// goroutine says from where events are taken: one after another in any case.
type goroutine bool

const (
	callersGoroutine goroutine = false
	// anyGoroutine spares each event the way from one processor's cache to
	// another's.
	anyGoroutine goroutine = true
)

func readLines(r io.Reader, o ReadOptions, where goroutine, take func(e *Event, line int) error) (Summary, error) {
	s, err := readSource(r, o, where, take)
	return s, nameInput(err, o.Name)
}

// nameInput puts the name of the source into an error about its content.
func nameInput(err error, name string) error {
	var e *InputError
	if errors.As(err, &e) {
		e.File = name
		return err
	}
	if err != nil && name != "" {
		return fmt.Errorf("%s: %w", name, err)
	}
	return err
}

func readSource(r io.Reader, o ReadOptions, where goroutine, take func(e *Event, line int) error) (Summary, error) {
	src, err := openSource(r)
	if err != nil {
		return Summary{}, err
	}
	defer src.close()
	summary := Summary{Format: o.Format}
	if o.Format == Auto {
		if summary.Format, err = detect(src.buffered); err != nil {
			return summary, err
		}
	}
	var order indexOrder
	end, err := decode(src, summary.Format, where, func(e *Event, line int) error {
		if err := order.check(e, line); err != nil {
			return err
		}
		if o.Keyed {
			if err := splitKey(e, line); err != nil {
				return err
			}
		}
		summary.Events++
		return take(e, line)
	})
	if err != nil {
		return summary, err
	}
	if src.cut {
		end.whole = false
		end.warnings = append(end.warnings, "the compressed file is cut off; everything before the cut was read")
	}
	summary.Whole, summary.Warnings = end.whole, end.warnings
	if summary.Events == 0 {
		return summary, &InputError{Message: fmt.Sprintf("expected a history, found no event (read as %s)", summary.Format)}
	}
	return summary, nil
}

// decode runs the decoder of a format and gives the events to take in order.
func decode(src *source, format Format, where goroutine, take func(e *Event, line int) error) (ending, error) {
	readers := map[Format]func(*window, *stream) (ending, error){JSON: readJSON, EDN: readEDN, Text: readText}
	switch {
	case format == JSONL:
		return decodeJSONL(src, batchBytes, where, take)
	case readers[format] == nil:
		return ending{}, fmt.Errorf("expected a format to read, found %s", format)
	}
	quit := make(chan struct{})
	var decoder sync.WaitGroup
	defer decoder.Wait()
	defer close(quit)
	order, free := make(chan *batch, batchesAhead), make(chan *batch, 2*batchesAhead)
	var end ending
	var endErr error
	decoder.Go(func() {
		defer close(order)
		s := &stream{out: order, free: free, quit: quit}
		end, endErr = readers[format](newWindow(src), s)
		if endErr != errStopped {
			if err := s.flush(); err != nil {
				endErr = err
			}
		}
	})
	for b := range order {
		if err := b.give(take); err != nil {
			return end, err
		}
		recycle(free, b)
	}
	return end, endErr
}

// give gives the batch's events to take.
func (b *batch) give(take func(e *Event, line int) error) error {
	for i := range b.events {
		if err := take(&b.events[i], b.lines[i]); err != nil {
			return err
		}
	}
	return nil
}

func recycle(free chan<- *batch, b *batch) {
	select {
	case free <- b:
	default:
	}
}

// splitKey takes the value of a client's event for [key value]. A fail or info
// may carry anything instead; its invoke tells the key.
func splitKey(e *Event, line int) error {
	if !e.Process.IsClient() {
		return nil
	}
	key, value, ok := e.Value.AsPair()
	if !ok && (e.Type == Fail || e.Type == Info) {
		return nil
	}
	if !ok {
		return &InputError{Line: line, Message: "expected the value to be [key value], as every value of a keyed history is, found " + shown(e.Value)}
	}
	if key.IsNil() {
		return &InputError{Line: line, Message: "expected a key in the value [key value], found nil"}
	}
	e.Key, e.Value = key, value
	return nil
}

// indexOrder holds the index of each event to be greater than those before it.
// Either all events have one or none; the first one decides.
type indexOrder struct {
	events int
	none   bool
	last   int
	runs   []indexRun
}

// indexRun is a run of events with indexes and lines that both count up by one,
// so that whole files are one run.
type indexRun struct{ index, line, length int }

func (o *indexOrder) check(e *Event, line int) error {
	position := o.events
	o.events++
	if position == 0 {
		o.none = e.Index == unknownIndex
	}
	if (e.Index == unknownIndex) != o.none {
		if o.none {
			return &InputError{Line: line, Message: fmt.Sprintf("expected no index, as the first event has none, found %d", e.Index)}
		}
		return &InputError{Line: line, Message: "expected an index, as the first event has one, found none"}
	}
	if o.none {
		e.Index = position
		return nil
	}
	if position > 0 && e.Index <= o.last {
		if first := o.lineOf(e.Index); first > 0 {
			return &InputError{Line: line, Message: fmt.Sprintf("expected every index once, found %d again; it is also at line %d", e.Index, first)}
		}
		return &InputError{Line: line, Message: fmt.Sprintf("expected an index above %d, found %d; the order of the indexes is the order of the history, so sort the file by them", o.last, e.Index)}
	}
	o.last = e.Index
	if n := len(o.runs); n > 0 {
		if r := &o.runs[n-1]; r.index+r.length == e.Index && r.line+r.length == line {
			r.length++
			return nil
		}
	}
	o.runs = append(o.runs, indexRun{e.Index, line, 1})
	return nil
}

// lineOf gives the line of an index seen before, or 0.
func (o *indexOrder) lineOf(index int) int {
	i, found := slices.BinarySearchFunc(o.runs, index, func(r indexRun, index int) int {
		switch {
		case r.index > index:
			return 1
		case r.index+r.length <= index:
			return -1
		}
		return 0
	})
	if !found {
		return 0
	}
	return o.runs[i].line + index - o.runs[i].index
}
