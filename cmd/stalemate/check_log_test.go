package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
)

// allHeld are promises that the history lagging keeps.
var allHeld = map[string]string{"get": "ordered-lag", "sync": "linearizable"}

func TestARunIsJudgedWithTheLogInItsFolder(t *testing.T) {
	const end = `{"end":true,"writes":2,"complete":true}` + "\n"
	for name, c := range map[string]struct {
		log  string
		code int
		want string
	}{
		"a log that agrees changes nothing": {`{"order":1,"key":"r1","value":1,"version":1}
{"order":2,"key":"r1","value":2,"version":2}
` + end, exitHolds, "the same verdict; no write was of unknown outcome"},
		"a contradiction breaks the promise": {`{"order":1,"key":"r1","value":1,"version":1}
{"order":2,"key":"r1","value":2,"version":5}
` + end, exitViolated, "log-version"},
		"a log that is broken is bad input": {"{\n" + end, exitUsage, "log.jsonl:1: expected"},
	} {
		t.Run(name, func(t *testing.T) {
			run := recorded(t, allHeld)
			if err := run.WriteFile(histories.LogFile, []byte(c.log)); err != nil {
				t.Fatal(err)
			}
			out, code := stalemate(t, "", "check", run.Dir)
			if code != c.code || !strings.Contains(out, c.want) {
				t.Errorf("exit code %d, want %d and %q in\n%s", code, c.code, c.want, out)
			}
		})
	}
	t.Run("another log is refused", func(t *testing.T) {
		if out, code := stalemate(t, "", "check", recorded(t, allHeld).Dir, "--log", "x"); code != exitUsage {
			t.Errorf("exit code %d\n%s", code, out)
		}
	})
}

// An interrupt during the check leaves the history and no verdict; one before,
// which ended the run, does not keep it from being judged.
func TestInterruptsAndTheFinalCheck(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	run := recorded(t, allHeld)
	if _, err := checkRun(over, run, checker.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(run.Path(histories.VerdictFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an interrupted check left a verdict: %v", err)
	}
	if v, err := verdictOf(over, run, 0); err != nil || v.Answer() != checker.Holds {
		t.Errorf("after an interrupted run: %v, %v", v, err)
	}
	if _, err := os.Stat(run.Path(histories.VerdictFile)); err != nil {
		t.Error(err)
	}
}
