package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestConvertingThereAndBackLosesNothing(t *testing.T) {
	for _, through := range []string{"jsonl", "edn"} {
		t.Run(through, func(t *testing.T) {
			there, code := stalemate(t, lagging, "convert", "-", "--to", through)
			if code != exitHolds {
				t.Fatalf("exit code %d:\n%s", code, there)
			}
			// What is put down as EDN has no closing line, of which the way
			// back warns; the file is compared, not what is printed.
			file := filepath.Join(t.TempDir(), "back.jsonl")
			if out, code := stalemate(t, there, "convert", "-", "-o", file); code != exitHolds {
				t.Fatalf("exit code %d:\n%s", code, out)
			}
			back, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			straight, _ := stalemate(t, lagging, "convert", "-")
			if string(back) != straight {
				t.Errorf("through %s:\n%s\nstraight:\n%s", through, back, straight)
			}
		})
	}
}

func TestAConvertedHistoryGetsTheSameVerdict(t *testing.T) {
	want, code := stalemate(t, lagging, "check", "-", "--json")
	if code != exitViolated {
		t.Fatalf("exit code %d:\n%s", code, want)
	}
	for _, to := range []string{"jsonl", "edn"} {
		converted, _ := stalemate(t, lagging, "convert", "-", "--to", to)
		got, _ := stalemate(t, converted, "check", "-", "--json")
		// A form without a closing line adds a warning and nothing else.
		before := func(text string) string { part, _, _ := strings.Cut(text, `"warnings"`); return part }
		if before(got) != before(want) {
			t.Errorf("as %s:\n%s\nexpected:\n%s", to, got, want)
		}
	}
}

func TestAHistoryMayBeConvertedInPlace(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "history")
	if err := os.WriteFile(file, []byte(lagging), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, code := stalemate(t, "", "convert", file, "--to", "edn", "-o", file); code != exitHolds {
		t.Fatalf("exit code %d:\n%s", code, out)
	}
	text, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(string(text), "{:index 0") && !strings.HasPrefix(string(text), "[") {
		t.Errorf("expected EDN, found %q, %v", text, err)
	}
	alone(t, dir, "history")
}

func TestAConversionThatFailsLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	bad := `{"index":0,"process":0,"type":"invoke","f":"write","value":1}
{"index":1,"process":0,"type":"done","f":"write","value":1}
`
	out, code := stalemate(t, bad, "convert", "-", "-o", filepath.Join(dir, "out.edn"), "--to", "edn")
	if code != exitUsage || !strings.Contains(out, "standard input:2:") {
		t.Errorf("exit code %d, expected %d and the line:\n%s", code, exitUsage, out)
	}
	alone(t, dir)
}

func TestFormatsThatCannotBeWrittenAreRefused(t *testing.T) {
	for _, to := range []string{"text", "auto", "xml"} {
		if out, code := stalemate(t, lagging, "convert", "-", "--to", to); code != exitUsage {
			t.Errorf("--to %s: exit code %d, expected %d:\n%s", to, code, exitUsage, out)
		}
	}
}

// alone fails unless a folder holds these files and no others, such as
// temporary ones.
func alone(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, e := range entries {
		found = append(found, e.Name())
	}
	if strings.Join(found, " ") != strings.Join(want, " ") {
		t.Errorf("the folder holds %v, expected %v", found, want)
	}
}
