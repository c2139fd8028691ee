package histories

import (
	"bytes"
	"errors"
	"testing"
)

// fuzzReader reads anything in a format; what reads without an error must,
// written as JSONL, read back as the same number of events.
func fuzzReader(f *testing.F, format Format, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var buf bytes.Buffer
		w, err := NewWriter(&buf, JSONL)
		if err != nil {
			t.Fatal(err)
		}
		summary, err := ReadEvents(bytes.NewReader(text), ReadOptions{Format: format}, w.Write)
		if err != nil {
			var bad *InputError
			if !errors.As(err, &bad) {
				t.Fatalf("expected an InputError, found %v", err)
			}
			return
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		again, err := ReadEvents(&buf, ReadOptions{Format: JSONL}, func(*Event) error { return nil })
		if err != nil || again.Events != summary.Events || !again.Whole {
			t.Fatalf("%d events were written, %d read back, %v", summary.Events, again.Events, err)
		}
	})
}

func FuzzJSONL(f *testing.F) {
	fuzzReader(f, JSONL, jsonEvent(0, "0", "invoke", "1")+"\n"+jsonEvent(1, "0", "ok", `{"#edn":":x"}`)+closingTwo)
}

func FuzzJSON(f *testing.F) {
	fuzzReader(f, JSON, "["+jsonEvent(0, "0", "invoke", "[1,2.5e3,\"\\u0041\"]")+",\n"+jsonEvent(1, `"nemesis"`, "info", "null")+"]")
}

func FuzzEDN(f *testing.F) {
	fuzzReader(f, EDN, ednInvoke+"\n#_x ;c\n"+ednOK, `[#a{:type :info :process :nemesis :f nil :error [:a "\u0041\101" \a #{1 2} {1 1/2} ##Inf 3M]}]`)
}

func FuzzText(f *testing.F) {
	fuzzReader(f, Text, "0\t:invoke\t:cas\t[1 2]\n0\t:fail\t:cas\t[1 2]\t{:a\n", "INFO x - 0 :invoke :read nil\n[0 :ok :read 1]")
}
