package histories

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
)

func ExampleRecorder() {
	rec := NewRecorder(nil)
	client := rec.Client()
	client.Invoke(Event{F: "write", Value: Int(1)}).OK(Event{})
	client.Invoke(Event{F: "write", Value: Int(2)}).Info(errors.New("timeout"))
	client.Invoke(Event{F: "read"}).OK(Event{Value: Int(2)})

	history, err := rec.History()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, o := range history.Operations {
		fmt.Println(o.Process, history.Functions[o.F], history.Data.Unpack(o.Argument), history.Data.Unpack(o.Result))
	}
	// Output:
	// 0 write 1 nil
	// 0 write 2 nil
	// 1 read nil 2
}

// lineWriter fails the test where a write is not one whole line.
type lineWriter struct {
	t *testing.T
	bytes.Buffer
}

func (w *lineWriter) Write(b []byte) (int, error) {
	if bytes.IndexByte(b, '\n') != len(b)-1 {
		w.t.Errorf("expected one write a line, found %q", b)
	}
	return w.Buffer.Write(b)
}

func TestRecorderWritesWholeLinesInOrder(t *testing.T) {
	w := &lineWriter{t: t}
	rec := NewRecorder(w)
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			c := rec.Client()
			for i := range 100 {
				op := c.Invoke(Event{F: "write", Value: Int(int64(i))})
				if i%10 == 9 {
					op.Info(io.ErrUnexpectedEOF)
				} else {
					op.OK(Event{})
				}
			}
		})
	}
	clients.Wait()
	rec.Note(Event{F: "start-cut"})
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	h, err := ReadHistory(&w.Buffer, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Operations) != 800 || len(h.Faults) != 1 || !h.Whole || len(h.Warnings) != 0 {
		t.Errorf("%d operations, %d faults, whole %v, warnings %q", len(h.Operations), len(h.Faults), h.Whole, h.Warnings)
	}
}

func TestKilledRecordingReadsUpToItsEnd(t *testing.T) {
	var w bytes.Buffer
	rec := NewRecorder(&w)
	c := rec.Client()
	for range 10 {
		c.Invoke(Event{F: "read"}).OK(Event{Value: Int(1)})
	}
	text := w.String()
	for cut := len(text) - 60; cut < len(text); cut++ {
		h, err := ReadHistory(strings.NewReader(text[:cut]), ReadOptions{})
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if h.Whole || len(h.Warnings) == 0 || len(h.Operations) != 10 {
			t.Errorf("cut at %d: whole %v, warnings %q, %d operations", cut, h.Whole, h.Warnings, len(h.Operations))
		}
	}
}

type fullDisk struct{ room int }

var errFull = errors.New("no space left on device")

func (d *fullDisk) Write(b []byte) (int, error) {
	if d.room -= len(b); d.room < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestFullDiskFailsTheRecording(t *testing.T) {
	rec := NewRecorder(&fullDisk{room: 300})
	c := rec.Client()
	for range 10 {
		c.Invoke(Event{F: "read"}).OK(Event{})
	}
	if err := rec.Err(); !errors.Is(err, errFull) {
		t.Errorf("Err gives %v", err)
	}
	if err := rec.Close(); !errors.Is(err, errFull) {
		t.Errorf("Close gives %v", err)
	}
}

func TestRecorderToldOfMisuse(t *testing.T) {
	tests := map[string]func(*Client){
		"while its last operation is open": func(c *Client) { c.Invoke(Event{F: "read"}); c.Invoke(Event{F: "read"}) },
		"a second time":                    func(c *Client) { op := c.Invoke(Event{F: "read"}); op.OK(Event{}); op.OK(Event{}) },
	}
	for want, misuse := range tests {
		rec := NewRecorder(nil)
		misuse(rec.Client())
		if _, err := rec.History(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func BenchmarkRecorder(b *testing.B) {
	rec := NewRecorder(io.Discard)
	c := rec.Client()
	b.ReportAllocs()
	for range b.N {
		c.Invoke(Event{F: "write", Key: String("t-0"), Value: Int(1)}).OK(Event{})
	}
}
