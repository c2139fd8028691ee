package histories

import (
	"bytes"
	"strings"
	"testing"
)

// recorded is a history of writes as a run records it, in a format.
func recorded(b *testing.B, format Format, operations int) []byte {
	var buf bytes.Buffer
	w, err := NewWriter(&buf, format)
	if err != nil {
		b.Fatal(err)
	}
	for i := range operations {
		e := Event{Index: 2 * i, Time: int64(i) * 1000, Process: Process{Client: i % 5}, Type: Invoke, F: "write", Key: String("t-0"), Value: Int(int64(i)), Node: "n1", Path: "sync"}
		err = w.Write(&e)
		e.Index, e.Type, e.Version = 2*i+1, OK, At(int64(i))
		if err2 := w.Write(&e); err != nil || err2 != nil {
			b.Fatal(err, err2)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return buf.Bytes()
}

func benchmarkRead(b *testing.B, format Format) {
	const operations = 200_000
	text := recorded(b, format, operations)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if _, err := ReadHistory(bytes.NewReader(text), ReadOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(2*operations*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

func BenchmarkReadJSONL(b *testing.B) { benchmarkRead(b, JSONL) }
func BenchmarkReadEDN(b *testing.B)   { benchmarkRead(b, EDN) }

// BenchmarkReadSmall is what a history of two events costs.
func BenchmarkReadSmall(b *testing.B) {
	text := jsonEvent(0, "0", "invoke", "1") + "\n" + jsonEvent(1, "0", "ok", "1") + closingTwo
	b.ReportAllocs()
	for range b.N {
		if _, err := ReadHistory(strings.NewReader(text), ReadOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
