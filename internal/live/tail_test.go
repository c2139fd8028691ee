package live

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestATraceIsReadWhileItIsWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	r := tail{path: path}
	read := func(want string) {
		t.Helper()
		entries, err := r.read()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range entries {
			got = append(got, e.What)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	write := func(text string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	read("") // a file that is not there yet
	write(`{"what":"started"}` + "\n" + `{"what":"elec`)
	read("started")
	read("")
	write(`ted"}` + "\n")
	read("elected")
	write("no JSON\n")
	if _, err := r.read(); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
}
