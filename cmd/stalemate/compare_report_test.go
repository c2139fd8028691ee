package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stalemate-io/stalemate/internal/toys"
)

func TestAComparisonIsReported(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	out, code := stalemate(t, "", "compare", "--seeds", "1", "--trouble", "reordered-push", "--load", "2s", "--settle", "2s",
		"--report", "junit="+file("c.xml"), "--report", "markdown="+file("c.md"), "--report", "json="+file("c.json"))
	if code != exitHolds {
		t.Fatalf("exit code %d: %s", code, out)
	}
	text, err := os.ReadFile(file("c.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r toys.Result
	if err := json.Unmarshal(text, &r); err != nil || len(r.Rows) == 0 {
		t.Fatalf("%d rows, %v", len(r.Rows), err)
	}
	for name, row := range map[string]string{"c.xml": "<testcase ", "c.md": "\n| "} {
		text, err := os.ReadFile(file(name))
		if err != nil {
			t.Fatal(err)
		}
		// The summary has the heads of its table as well.
		if n := strings.Count(string(text), row); n != len(r.Rows) && n != len(r.Rows)+1 {
			t.Errorf("%s has %d rows, expected %d:\n%s", name, n, len(r.Rows), text)
		}
	}
	if out, code := stalemate(t, "", "compare", "--report", "sarif=x"); code != exitUsage || !strings.Contains(out, "expected json, junit or markdown") {
		t.Errorf("exit code %d: %s", code, out)
	}
}
