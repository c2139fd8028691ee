package histories

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// outcome is all that reading a source gives: what was taken and how it ended.
type outcome struct {
	Events   []taken
	Whole    bool
	Warnings []string
	Err      string
}

// taken is an event where it was found, without the parts of it that nothing
// here makes differ.
type taken struct {
	Line, Index int
	Type        Type
	Process     Process
	F, Node     string
	Key, Value  Value
}

func (o *outcome) take(e *Event, line int) error {
	o.Events = append(o.Events, taken{line, e.Index, e.Type, e.Process, e.F, e.Node, e.Key, e.Value})
	return nil
}

func (o *outcome) end(end ending, err error) {
	o.Whole, o.Warnings = end.whole, end.warnings
	if err != nil {
		o.Err = err.Error()
	}
}

// Whichever worker decodes a line, and whatever is wrong with it, what comes out
// is what one worker gives that is handed the whole text at once.
func TestManyWorkersReadAsOne(t *testing.T) {
	var whole bytes.Buffer
	w, err := NewWriter(&whole, JSONL)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		e := Event{Index: i, Time: int64(i), Process: Process{Client: i / 2 % 3}, Type: Type(i%2 + 1), F: "write", Key: String("r"), Value: Int(int64(i / 2)), Node: "n1"}
		if err := w.Write(&e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	failed, stood := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		text := bytes.Clone(whole.Bytes())
		text = text[:rapid.OneOf(rapid.Just(len(text)), rapid.IntRange(1, len(text))).Draw(t, "length")]
		for range rapid.IntRange(0, 3).Draw(t, "damaged bytes") {
			at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
			text[at] = rapid.SampledFrom([]byte("\n\n\"{}x0 ,")).Draw(t, "byte")
		}

		var want outcome
		b := newBatch(nil)
		b.text = text
		b.decode(new(interner))
		one := lineTaker{take: want.take, closing: -1}
		one.err = one.batch(b)
		want.end(one.ending())
		if want.Err == "" {
			stood++
		} else {
			failed++
		}

		size := rapid.IntRange(1, 1000).Draw(t, "bytes a batch")
		for name, where := range map[string]goroutine{"the caller's goroutine": callersGoroutine, "any goroutine": anyGoroutine} {
			var got outcome
			got.end(decodeJSONL(bytes.NewReader(text), size, where, got.take))
			if !slices.Equal(want.Events, got.Events) {
				t.Fatalf("taken in %s: %d events, of one worker %d, or not the same", name, len(got.Events), len(want.Events))
			}
			if d := cmp.Diff(want, got, cmpopts.IgnoreFields(outcome{}, "Events")); d != "" {
				t.Fatalf("taken in %s (-one worker +many):\n%s", name, d)
			}
		}
	})
	if failed == 0 || stood == 0 {
		t.Fatalf("%d texts were refused and %d read: one of the two was never tried", failed, stood)
	}
}

// An error of whoever takes the events ends the reading at once and is given
// back, wherever the events are taken.
func TestReadingEndsWhereTakingFails(t *testing.T) {
	var text bytes.Buffer
	for i := range 100 {
		text.WriteString(jsonEvent(i, "0", "info", "1") + "\n")
	}
	for _, where := range []goroutine{callersGoroutine, anyGoroutine} {
		for _, last := range []int{0, 1, 10, 99} {
			taken := 0
			_, err := decodeJSONL(bytes.NewReader(text.Bytes()), 300, where, func(*Event, int) error {
				if taken == last {
					return errStopped
				}
				taken++
				return nil
			})
			if err != errStopped || taken != last {
				t.Errorf("%d events were taken before %v, want %d before %v", taken, err, last, errStopped)
			}
		}
	}
}
