package main

import (
	"path/filepath"
	"testing"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
)

// TestRegistersAreLinearizable sees that what the bench times is a history
// that holds, of as many operations as it says.
func TestRegistersAreLinearizable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history.jsonl")
	if err := writeRegisters(file, 500, 3, 4); err != nil {
		t.Fatal(err)
	}
	h, err := histories.ReadFile(file, histories.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := checker.Check(h, checker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Operations) != 500 || v.Verdict != checker.ClassLinearizable {
		t.Errorf("%d operations, %v; want 500, linearizable", len(h.Operations), v.Verdict)
	}
}
