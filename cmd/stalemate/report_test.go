package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReportCommand(t *testing.T) {
	store := t.TempDir()
	if out, code := stalemate(t, "", "run", "push", "--time", "2s", "--settle", "2s", "--store", store); code != exitHolds || !strings.Contains(out, "report.html") {
		t.Fatalf("the run does not tell of its report: exit code %d, %s", code, out)
	}
	run := filepath.Join(store, "latest")
	left, err := os.ReadFile(filepath.Join(run, "report.html"))
	if err != nil {
		t.Fatal(err)
	}

	t.Run("made anew from the folder it is the same", func(t *testing.T) {
		out, code := stalemate(t, "", "report", run, "-o", "-")
		if code != exitHolds || out != string(left) {
			t.Errorf("exit code %d, %d bytes; expected the %d bytes that the run left", code, len(out), len(left))
		}
	})
	t.Run("without a verdict the history is checked", func(t *testing.T) {
		if err := os.Remove(filepath.Join(run, "verdict.json")); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "r.html")
		if out, code := stalemate(t, "", "report", run, "--output", file); code != exitHolds {
			t.Fatalf("exit code %d: %s", code, out)
		}
		if page, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(page), "<!doctype html>") {
			t.Errorf("no page was written: %v", err)
		}
	})
	t.Run("a broken verdict is bad input, and the message says what to do", func(t *testing.T) {
		if err := os.WriteFile(filepath.Join(run, "verdict.json"), []byte("{"), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, code := stalemate(t, "", "report", run); code != exitUsage || !strings.Contains(out, "stalemate check") {
			t.Errorf("exit code %d: %s", code, out)
		}
	})
	t.Run("an unknown format is bad usage", func(t *testing.T) {
		if out, code := stalemate(t, "", "report", run, "--format", "pdf"); code != exitUsage || !strings.Contains(out, "html") {
			t.Errorf("exit code %d: %s", code, out)
		}
	})
}
