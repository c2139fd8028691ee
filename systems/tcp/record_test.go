package tcp

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func drawChange(t *rapid.T) change {
	w := change{
		kind: rapid.SampledFrom([]changeKind{appendRecord, appendRecord, truncateLog, replaceFile}).Draw(t, "kind"),
		name: rapid.SampledFrom([]string{"log.0", "log.1", "", "ü"}).Draw(t, "name"),
	}
	if w.kind == truncateLog {
		w.keep = rapid.IntRange(0, 5).Draw(t, "keep")
	} else {
		w.data = rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "data")
	}
	return w
}

func contentOf(changes []change) content {
	c := newContent()
	for _, w := range changes {
		c.apply(w)
	}
	return c
}

// same compares contents; nil and empty data are the same on a disk.
func same(a, b content) bool {
	plain := func(c content) (map[string][]string, map[string]string) {
		logs, files := map[string][]string{}, map[string]string{}
		for name, l := range c.logs {
			for _, r := range l {
				logs[name] = append(logs[name], string(r))
			}
		}
		for name, f := range c.files {
			files[name] = string(f)
		}
		return logs, files
	}
	aLogs, aFiles := plain(a)
	bLogs, bFiles := plain(b)
	return reflect.DeepEqual(aLogs, bLogs) && reflect.DeepEqual(aFiles, bFiles)
}

func TestATornJournalHoldsAPrefixOfTheChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		changes := rapid.SliceOfN(rapid.Custom(drawChange), 0, 12).Draw(t, "changes")
		durable := rapid.IntRange(0, len(changes)).Draw(t, "durable")
		var journal []byte
		safe := 0
		ends := []int{0}
		for i := range changes {
			if i == durable {
				safe = len(journal)
			}
			journal = changes[i].appendTo(journal, int64(safe))
			ends = append(ends, len(journal))
		}
		if durable == len(changes) {
			safe = len(journal)
		}
		// A crash cuts the end off, or leaves anything in place of it.
		cut := rapid.IntRange(safe, len(journal)).Draw(t, "cut")
		torn := append([]byte(nil), journal[:cut]...)
		torn = append(torn, rapid.SliceOfN(rapid.Byte(), 0, len(journal)-cut).Draw(t, "garbage")...)
		got, whole, err := replay(torn)
		if err != nil {
			t.Fatal(err)
		}
		kept := 0
		for kept < len(changes) && ends[kept+1] <= whole {
			kept++
		}
		if ends[kept] != whole || kept < durable || ends[kept] > len(torn) {
			t.Fatalf("%d bytes, the first %d changes, survived: want whole changes and at least %d of them", whole, kept, durable)
		}
		if !same(got, contentOf(changes[:kept])) {
			t.Fatalf("content is not that of the first %d changes: %v", kept, got)
		}
	})
}

func TestADamagedJournalIsToldFromATornOne(t *testing.T) {
	safe := change{kind: appendRecord, name: "log", data: []byte("acknowledged")}
	later := change{kind: appendRecord, name: "log", data: []byte("later")}
	tests := []struct {
		rule   string
		change func(journal []byte, first int) []byte
		want   string // in the error; empty for none
	}{
		{"a whole journal is read", func(j []byte, _ int) []byte { return j }, ""},
		{"a last record that was not durable may be broken", func(j []byte, first int) []byte {
			j[len(j)-1] ^= 1
			return j
		}, ""},
		{"a first record that was durable may not", func(j []byte, first int) []byte {
			j[first-1] ^= 1
			return j
		}, "damaged at byte 0"},
		{"its length may not either", func(j []byte, first int) []byte {
			j[7] ^= 1
			return j
		}, "damaged at byte 0"},
		{"nor may it be gone", func(j []byte, first int) []byte { return j[1:] }, "damaged at byte 0"},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			journal := safe.appendTo(nil, 0)
			first := len(journal)
			journal = test.change(later.appendTo(journal, int64(first)), first)
			_, _, err := replay(journal)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func FuzzReplay(f *testing.F) {
	w := change{kind: appendRecord, name: "log", data: []byte("x")}
	f.Add(w.appendTo(nil, 0))
	f.Add(bytes.Repeat(markBytes, 9))
	f.Fuzz(func(t *testing.T, journal []byte) {
		_, whole, err := replay(journal)
		if err == nil && whole > len(journal) {
			t.Fatalf("%d of %d bytes are whole", whole, len(journal))
		}
	})
}
