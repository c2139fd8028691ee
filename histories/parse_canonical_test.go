package histories

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// drawEvent draws an event of which every part may be one that the short ways of
// reading know, or not.
func drawEvent(t *rapid.T) Event {
	value := rapid.OneOf(
		rapid.Just(Nil),
		rapid.Map(rapid.Int64(), Int),
		rapid.Map(rapid.Int64Range(0, 1000), Int),
		rapid.Map(rapid.String(), String),
		rapid.Custom(func(t *rapid.T) Value {
			n := rapid.Int64Range(-2, 12345)
			return List(Int(n.Draw(t, "old")), Int(n.Draw(t, "new")))
		}),
		rapid.Just(Keyword("timeout")),
	)
	name := rapid.SampledFrom([]string{"", "zk1", "a name longer than a word of eight bytes", "tab\t", "quote\"", `back\`, "\x7f", "é"})
	e := Event{
		Index:   rapid.IntRange(0, 1<<40).Draw(t, "index"),
		Time:    rapid.Int64Min(-1).Draw(t, "time"),
		Process: Process{Client: rapid.IntRange(0, 99).Draw(t, "client")},
		Type:    rapid.SampledFrom([]Type{Invoke, OK, Fail, Info}).Draw(t, "type"),
		F:       rapid.SampledFrom([]string{"read", "write", "cas", "a\nb"}).Draw(t, "f"),
		Key:     value.Draw(t, "key"),
		Value:   value.Draw(t, "value"),
		Node:    name.Draw(t, "node"),
		Path:    name.Draw(t, "path"),
		Error:   rapid.SampledFrom([]string{"", "", "timed out"}).Draw(t, "error"),
	}
	if rapid.Bool().Draw(t, "versioned") {
		e.Version = At(rapid.Int64Min(0).Draw(t, "version"))
	}
	return e
}

// damage changes a byte of every other line.
func damage(t *rapid.T, line []byte) {
	if rapid.Bool().Draw(t, "damaged") {
		at := rapid.IntRange(0, len(line)-1).Draw(t, "at")
		line[at] = rapid.SampledFrom([]byte(`"\{}[],: 0-9.eEN`+"\x00\x7f\x80")).Draw(t, "byte")
	}
}

// The short ways of reading an event are held against the general parsers, on
// events as they are written and on the same damaged by a byte: whatever a short
// way takes, the general parser reads as the same.
func TestShortWaysReadAlike(t *testing.T) {
	ways := []struct {
		name    string
		write   func(*Event) []byte
		short   func([]byte, *Event) (n int, ok bool)
		general func([]byte, *Event) (n int, err error)
	}{
		{"JSONL as it is written",
			func(e *Event) []byte { return e.AppendJSON(nil) },
			func(line []byte, e *Event) (int, bool) { return len(line), canonicalEvent(line, new(interner), e) },
			func(line []byte, e *Event) (int, error) {
				p := jsonParser{buf: line, final: true}
				err := p.event(e)
				return p.pos, err
			}},
		{"EDN of plain fields",
			func(e *Event) []byte { return e.appendEDN(nil) },
			func(text []byte, e *Event) (int, bool) { return plainEDN(text, new(interner), e) },
			func(text []byte, e *Event) (int, error) {
				p := ednParser{buf: text, final: true}
				err := p.event(e)
				return p.pos, err
			}},
	}
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			taken, left := 0, 0
			rapid.Check(t, func(t *rapid.T) {
				e := drawEvent(t)
				text := way.write(&e)
				damage(t, text)
				var short, general Event
				n, ok := way.short(text, &short)
				if !ok {
					left++
					return
				}
				taken++
				m, err := way.general(text, &general)
				if err != nil {
					t.Fatalf("%s\nthe short way takes what the general parser refuses: %v", text, err)
				}
				if n != m {
					t.Fatalf("%s\nthe short way ends after %d bytes, the general parser after %d", text, n, m)
				}
				if d := cmp.Diff(general, short, cmp.AllowUnexported(Value{}, Version{})); d != "" {
					t.Fatalf("%s\nthe short way reads it differently (-general +short):\n%s", text, d)
				}
			})
			if taken == 0 || left == 0 {
				t.Fatalf("%d events were taken by the short way and %d left: one of the two was never tried", taken, left)
			}
		})
	}
}

// TestDigitsAreCountedAndJoined holds the joining of digits against the standard
// library, for every length of number and byte behind it.
func TestDigitsAreCountedAndJoined(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[0-9]{0,8}`).Draw(t, "digits")
		behind := rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(t, "behind")
		want := len(text)
		for _, c := range behind[:8-len(text)] {
			if c < '0' || c > '9' {
				break
			}
			want++
		}
		b := append([]byte(text), behind...)
		n, length := digits(b)
		wanted, _ := strconv.ParseInt(string(b[:want]), 10, 64)
		if length != want || n != wanted {
			t.Fatalf("%q: %d digits that make %d, want %d that make %d", b, length, n, want, wanted)
		}
	})
}
