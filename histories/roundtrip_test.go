package histories

import (
	"bytes"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func scalar() *rapid.Generator[Value] {
	name := rapid.StringMatching(`[a-z][a-z0-9./_-]{0,8}[a-z]`)
	return rapid.OneOf(
		rapid.Just(Nil),
		rapid.Map(rapid.Bool(), Bool),
		rapid.Map(rapid.Int64(), Int),
		rapid.Map(rapid.Float64(), Float),
		rapid.Map(rapid.Just(math.NaN()), Float),
		rapid.Map(rapid.String(), String),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) Value { return String(string(b)) }),
		rapid.Map(name, Keyword),
		rapid.Map(name, func(s string) Value { return Symbol("s" + s) }),
		rapid.Map(rapid.Rune(), Char),
	)
}

func anyValue(depth int) *rapid.Generator[Value] {
	if depth == 0 {
		return scalar()
	}
	inner := anyValue(depth - 1)
	several := rapid.SliceOfN(inner, 0, 4)
	return rapid.OneOf(
		scalar(),
		rapid.Map(several, func(v []Value) Value { return List(v...) }),
		rapid.Map(several, func(v []Value) Value { return Set(v...) }),
		rapid.Custom(func(t *rapid.T) Value {
			var pairs []Pair
			for range rapid.IntRange(0, 3).Draw(t, "pairs") {
				pairs = append(pairs, Pair{inner.Draw(t, "key"), inner.Draw(t, "value")})
			}
			return Map(pairs...)
		}),
		rapid.Map(inner, func(v Value) Value { return Tagged("my/tag", v) }),
	)
}

func TestValueReadsBackFromEDNAndJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue(3).Draw(t, "value")
		for form, read := range map[string]func(string) (Value, error){v.EDN(): ParseEDN, string(v.AppendJSON(nil)): ParseJSON} {
			back, err := read(form)
			if err != nil || back != v {
				t.Fatalf("%s reads back as %s, %v; want %s", form, back.EDN(), err, v.EDN())
			}
		}
	})
}

func TestDataAreEqualIffValuesAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d Data
		a, b := anyValue(1).Draw(t, "a"), anyValue(1).Draw(t, "b")
		x, y := d.Pack(a), d.Pack(b)
		if (x == y) != (a == b) {
			t.Fatalf("%s and %s pack to %d and %d", a.EDN(), b.EDN(), x, y)
		}
		if d.Unpack(x) != a || d.Unpack(y) != b {
			t.Fatalf("unpacked %s and %s, want %s and %s", d.Unpack(x).EDN(), d.Unpack(y).EDN(), a.EDN(), b.EDN())
		}
	})
}

func anyEvent(t *rapid.T, index int) Event {
	e := Event{
		Index: index, Time: rapid.Int64Min(-1).Draw(t, "time"),
		Type:  Type(rapid.IntRange(int(Invoke), int(Info)).Draw(t, "type")),
		F:     rapid.SampledFrom([]string{"read", "write", "a/b", "with space"}).Draw(t, "f"),
		Key:   anyValue(1).Draw(t, "key"),
		Value: anyValue(2).Draw(t, "value"),
		Node:  rapid.SampledFrom([]string{"", "n1", "n\"2"}).Draw(t, "node"),
		Path:  rapid.SampledFrom([]string{"", "sync"}).Draw(t, "path"),
		Error: rapid.String().Draw(t, "error"),
	}
	if rapid.Bool().Draw(t, "client") {
		e.Process.Client = rapid.IntRange(0, math.MaxInt32).Draw(t, "process")
	} else {
		e.Process = Process{Name: rapid.SampledFrom([]string{"nemesis", "some body"}).Draw(t, "name")}
	}
	if rapid.Bool().Draw(t, "known") {
		e.Version = At(rapid.Int64().Draw(t, "version"))
	}
	if rapid.Bool().Draw(t, "extra") {
		e.Extra = []Field{{"op-index", anyValue(2).Draw(t, "extra")}, {"final?", Bool(true)}}
	}
	return e
}

func TestEventsReadBackAsTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []Event
		for i := range rapid.IntRange(1, 5).Draw(t, "events") {
			want = append(want, anyEvent(t, i))
		}
		for _, format := range []Format{JSONL, EDN} {
			var buf bytes.Buffer
			w, err := NewWriter(&buf, format)
			if err != nil {
				t.Fatal(err)
			}
			for i := range want {
				if err := w.Write(&want[i]); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			var got []Event
			summary, err := ReadEvents(bytes.NewReader(buf.Bytes()), ReadOptions{}, func(e *Event) error {
				got = append(got, *e)
				return nil
			})
			if err != nil || summary.Format != format {
				t.Fatalf("%v read as %v: %v\n%s", format, summary.Format, err, buf.Bytes())
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(Value{}, Version{})); diff != "" {
				t.Fatalf("%v (-want +got):\n%s\n%s", format, diff, buf.Bytes())
			}
		}
	})
}
