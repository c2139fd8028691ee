package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/stalemate-io/stalemate/histories"
)

// stalemate runs the command line in this process and gives what a user would
// see: both outputs, the error, and the exit code.
func stalemate(t *testing.T, stdin string, args ...string) (out string, code int) {
	t.Helper()
	var b bytes.Buffer
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(strings.NewReader(stdin))
	root.SetOut(&b)
	root.SetErr(&b)
	err := root.ExecuteContext(t.Context())
	if err == nil {
		return b.String(), exitHolds
	}
	code = exitUsage
	var exit *exitError
	if errors.As(err, &exit) {
		code, err = exit.code, exit.err
	}
	if err != nil {
		fmt.Fprintln(&b, "stalemate:", err)
	}
	return b.String(), code
}

// TestWhatTheCommandSays runs the files of testdata/check: "history NAME" writes
// a history, "stalemate" runs the command lines of its input, "stdin" one command
// line with the lines after it as the standard input.
func TestWhatTheCommandSays(t *testing.T) {
	datadriven.Walk(t, "testdata/check", func(t *testing.T, path string) {
		path, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Chdir(t.TempDir())
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "history":
				if err := os.WriteFile(d.CmdArgs[0].Key, []byte(d.Input), 0o666); err != nil {
					t.Fatal(err)
				}
				return ""
			case "stdin":
				line, input, _ := strings.Cut(d.Input, "\n")
				return told(stalemate(t, input, strings.Fields(line)...))
			case "stalemate":
				var b strings.Builder
				for line := range strings.Lines(d.Input) {
					b.WriteString(told(stalemate(t, "", strings.Fields(line)...)))
				}
				return b.String()
			}
			t.Fatalf("no directive is called %q", d.Cmd)
			return ""
		})
	})
}

func told(out string, code int) string { return fmt.Sprintf("%sexit code %d\n", out, code) }

// TestNoLineIsWiderThanATerminal holds for the texts of the golden files, tables
// included.
func TestNoLineIsWiderThanATerminal(t *testing.T) {
	files, err := filepath.Glob("testdata/check/verdict-*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(string(text), "\n") {
			if len([]rune(line)) > 80 && !strings.HasPrefix(line, "{") {
				t.Errorf("%s:%d: %d columns", file, n+1, len([]rune(line)))
			}
		}
	}
}

// lagging is a history of two paths: get is stale once, sync never.
const lagging = `{"index":0,"time":1000000,"process":0,"type":"invoke","f":"write","key":"r1","value":1}
{"index":1,"time":2000000,"process":0,"type":"ok","f":"write","key":"r1","value":1,"node":"zk1","version":1}
{"index":2,"time":3000000,"process":0,"type":"invoke","f":"write","key":"r1","value":2}
{"index":3,"time":4000000,"process":0,"type":"ok","f":"write","key":"r1","value":2,"node":"zk1","version":2}
{"index":4,"time":9000000,"process":1,"type":"invoke","f":"read","key":"r1","path":"get"}
{"index":5,"time":9500000,"process":1,"type":"ok","f":"read","key":"r1","value":1,"node":"zk2","path":"get","version":1}
{"index":6,"time":10000000,"process":2,"type":"invoke","f":"read","key":"r1","path":"sync"}
{"index":7,"time":10500000,"process":2,"type":"ok","f":"read","key":"r1","value":2,"node":"zk2","path":"sync","version":2}
{"end":true,"events":8}
`

// recorded makes the folder of a run with the history above.
func recorded(t *testing.T, promises map[string]string) *histories.Run {
	t.Helper()
	run, err := histories.CreateRun(t.TempDir(), histories.RunInfo{
		Name: "zookeeper", System: "zookeeper", Model: "versioned-register", Promises: promises,
		Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := run.WriteFile(histories.HistoryFile, []byte(lagging)); err != nil {
		t.Fatal(err)
	}
	return run
}

func TestARunIsHeldToItsOwnPromises(t *testing.T) {
	for name, test := range map[string]struct {
		promises map[string]string
		args     []string
		code     int
	}{
		"a lagging path that promises order keeps its promise":       {map[string]string{"get": "ordered-lag", "sync": "linearizable"}, nil, exitHolds},
		"a lagging path that promises linearizability breaks it":     {map[string]string{"get": "linearizable", "sync": "linearizable"}, nil, exitViolated},
		"a path without a promise is held to linearizability":        {nil, nil, exitViolated},
		"what the command line requires wins over the run's promise": {map[string]string{"get": "ordered-lag", "sync": "linearizable"}, []string{"--require", "linearizable"}, exitViolated},
		"a bound on staleness adds to the promise":                   {map[string]string{"get": "ordered-lag", "sync": "linearizable"}, []string{"--max-staleness", "4ms"}, exitViolated},
		"a bound that is kept changes nothing":                       {map[string]string{"get": "ordered-lag", "sync": "linearizable"}, []string{"--max-staleness", "5ms"}, exitHolds},
	} {
		t.Run(name, func(t *testing.T) {
			run := recorded(t, test.promises)
			out, code := stalemate(t, "", append([]string{"check", run.Dir}, test.args...)...)
			if code != test.code {
				t.Errorf("exit code %d, expected %d:\n%s", code, test.code, out)
			}
		})
	}
}

func TestARunCheckedAgainGivesTheSameBytes(t *testing.T) {
	run := recorded(t, map[string]string{"get": "ordered-lag", "sync": "linearizable"})
	var first []byte
	for n := range 3 {
		printed, code := stalemate(t, "", "check", "--json", run.Dir)
		if code != exitHolds {
			t.Fatalf("exit code %d:\n%s", code, printed)
		}
		written, err := os.ReadFile(run.Path(histories.VerdictFile))
		if err != nil {
			t.Fatal(err)
		}
		if printed != string(written) {
			t.Errorf("--json prints something else than verdict.json holds:\n%s\n%s", printed, written)
		}
		if n == 0 {
			first = written
		} else if !bytes.Equal(first, written) {
			t.Errorf("check %d wrote another verdict:\n%s\n%s", n+1, first, written)
		}
	}
}

func TestOptionsThatAreNotTheRunsOwnLeaveItsVerdictAlone(t *testing.T) {
	run := recorded(t, map[string]string{"get": "ordered-lag"})
	if out, code := stalemate(t, "", "check", run.Dir, "--require", "none"); code != exitHolds {
		t.Fatalf("exit code %d:\n%s", code, out)
	}
	if _, err := os.Stat(run.Path(histories.VerdictFile)); !os.IsNotExist(err) {
		t.Errorf("verdict.json was written for --require none: %v", err)
	}
}

func TestAVerdictThatCannotBeWrittenIsNoPass(t *testing.T) {
	run := recorded(t, map[string]string{"get": "ordered-lag"})
	// A folder in the way of the file fails for root too.
	if err := os.MkdirAll(filepath.Join(run.Path(histories.VerdictFile), "in the way"), 0o777); err != nil {
		t.Fatal(err)
	}
	out, code := stalemate(t, "", "check", run.Dir)
	if code != exitFailed || !strings.Contains(out, "could not be written") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}
