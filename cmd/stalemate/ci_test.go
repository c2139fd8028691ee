package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// TestWhatPipelinesSee runs the files of testdata/ci on the first day of 2027:
// "file NAME" writes a file, "stalemate" runs the command lines of its input,
// "show" prints files.
func TestWhatPipelinesSee(t *testing.T) {
	now = func() time.Time { return time.Date(2027, 1, 1, 12, 0, 0, 0, time.UTC) }
	t.Cleanup(func() { now = time.Now })
	datadriven.Walk(t, "testdata/ci", func(t *testing.T, path string) {
		path, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Chdir(t.TempDir())
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var b strings.Builder
			switch d.Cmd {
			case "file":
				name := d.CmdArgs[0].Key
				if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(d.Input+"\n"), 0o666); err != nil {
					t.Fatal(err)
				}
			case "stalemate":
				for line := range strings.Lines(d.Input) {
					b.WriteString(told(stalemate(t, "", strings.Fields(line)...)))
				}
			case "show":
				for line := range strings.Lines(d.Input) {
					text, err := os.ReadFile(strings.TrimSpace(line))
					if err != nil {
						t.Fatal(err)
					}
					b.Write(text)
				}
			default:
				t.Fatalf("no directive is called %q", d.Cmd)
			}
			return b.String()
		})
	})
}
