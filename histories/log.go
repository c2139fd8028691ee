package histories

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// LogFile is the file of a run's folder that says what the system itself wrote
// down, where that is known.
const LogFile = "log.jsonl"

// Log is what a system itself says was written to it, from its transaction log,
// store or replicated log: the truth behind the writes whose outcome no client
// learnt, if it can be believed.
type Log struct {
	// Writes in the system's own order; that of creations too.
	Writes []LogWrite
	// Complete is true where everything that was ever written is in Writes, so
	// that what is not there never took effect. It has to reach past the end of
	// the history: to when the system was stopped.
	Complete bool
}

// LogWrite is one write to one key.
type LogWrite struct {
	// Order rises with the system's own order, across keys: a zxid, the offset
	// of a record. Writes of one transaction have the same.
	Order      int64
	Key, Value Value
	// Version is what clients are given as the write's version.
	Version Version
	// Uncertain is set where the write was put down but may have been undone:
	// an entry that only a minority of the servers has.
	Uncertain bool
}

// logLine is the form of a line of log.jsonl.
type logLine struct {
	Order     *int64          `json:"order,omitempty"`
	Key       json.RawMessage `json:"key,omitempty"`
	Value     json.RawMessage `json:"value,omitempty"`
	Version   *int64          `json:"version,omitempty"`
	Uncertain bool            `json:"uncertain,omitempty"`

	End      bool `json:"end,omitempty"`
	Writes   int  `json:"writes,omitempty"`
	Complete bool `json:"complete,omitempty"`
}

// AppendLog appends the log as JSONL: a line for each write and a closing line.
func AppendLog(dst []byte, log *Log) ([]byte, error) {
	for i := range log.Writes {
		w := &log.Writes[i]
		line := logLine{Order: &w.Order, Value: w.Value.AppendJSON(nil), Uncertain: w.Uncertain}
		if !w.Key.IsNil() {
			line.Key = w.Key.AppendJSON(nil)
		}
		if n, known := w.Version.Get(); known {
			line.Version = &n
		}
		text, err := json.Marshal(line)
		if err != nil {
			return nil, err
		}
		dst = append(append(dst, text...), '\n')
	}
	text, err := json.Marshal(logLine{End: true, Writes: len(log.Writes), Complete: log.Complete})
	return append(append(dst, text...), '\n'), err
}

// ReadLogFile reads a log from a file.
func ReadLogFile(path string) (log *Log, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return ReadLog(f, path)
}

// ReadLog reads a log in the form of AppendLog; name is its name for errors, and
// may be empty. A log without its closing line may have been cut off: it is read
// as far as it goes and is not complete.
func ReadLog(r io.Reader, name string) (*Log, error) {
	log := &Log{}
	in := bufio.NewReader(r)
	closed := false
	for line := 1; ; line++ {
		text, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, err
		}
		cut := err == io.EOF
		if len(bytes.TrimSpace(text)) > 0 {
			fail := func(format string, a ...any) (*Log, error) {
				return nil, &InputError{File: name, Line: line, Message: fmt.Sprintf(format, a...)}
			}
			if closed {
				return fail("expected nothing after the closing line")
			}
			var l logLine
			if err := json.Unmarshal(text, &l); err != nil {
				if cut {
					return log, nil
				}
				return fail("expected an object with order, key, value and version: %v", err)
			}
			if l.End {
				if l.Writes != len(log.Writes) {
					return fail("expected %d writes before the closing line, found %d", l.Writes, len(log.Writes))
				}
				closed, log.Complete = true, l.Complete
			} else if err := log.add(&l); err != nil {
				return fail("%v", err)
			}
		}
		if cut {
			return log, nil
		}
	}
}

// add takes the write of a line.
func (log *Log) add(l *logLine) error {
	if l.Order == nil || len(l.Value) == 0 {
		return errors.New("expected a write with order and value")
	}
	w := LogWrite{Order: *l.Order, Uncertain: l.Uncertain}
	if n := len(log.Writes); n > 0 && log.Writes[n-1].Order > w.Order {
		return fmt.Errorf("expected an order not below %d, found %d", log.Writes[n-1].Order, w.Order)
	}
	if l.Version != nil {
		if *l.Version < 0 {
			return fmt.Errorf("expected a version from 0, found %d", *l.Version)
		}
		w.Version = At(*l.Version)
	}
	if len(l.Key) > 0 {
		if err := json.Unmarshal(l.Key, &w.Key); err != nil {
			return fmt.Errorf("key: %w", err)
		}
	}
	if err := json.Unmarshal(l.Value, &w.Value); err != nil {
		return fmt.Errorf("value: %w", err)
	}
	log.Writes = append(log.Writes, w)
	return nil
}

// Log reads what the system of the run wrote down. The error is fs.ErrNotExist
// where that was not kept.
func (r *Run) Log() (*Log, error) { return ReadLogFile(r.Path(LogFile)) }
