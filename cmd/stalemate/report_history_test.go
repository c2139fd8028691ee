package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"strings"
	"testing"
)

// TestReportsOfAHistoryThatIsNoRuns writes every format of a history in each form,
// into the working directory.
func TestReportsOfAHistoryThatIsNoRuns(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write([]byte(lagging)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	edn, code := stalemate(t, lagging, "convert", "-", "--to", "edn")
	if code != exitHolds || !strings.HasPrefix(edn, "{:") {
		t.Fatalf("exit code %d: %s", code, edn)
	}
	for file, text := range map[string]string{"h.jsonl": lagging, "h.jsonl.gz": zipped.String(), "history.edn": edn, "-": lagging} {
		t.Run(file, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if file != "-" {
				if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			out, code := stalemate(t, text, "report", file, "--model", "versioned-register", "--max-staleness", "1ms", "--format", "html,json,junit,markdown,sarif")
			if code != exitHolds || out != "report.html\nverdict.json\njunit.xml\nreport.md\nreport.sarif\n" {
				t.Fatalf("exit code %d:\n%s", code, out)
			}
			again := "stalemate check " + file + " --max-staleness"
			for name, holds := range map[string][]string{
				"report.html":  {"<!doctype html>"},
				"verdict.json": {`"max": 5`, `"too-stale": 1`},
				"junit.xml":    {again + "=1ms --model=versioned-register", `type="too-stale"`},
				"report.md":    {": BROKEN\n", "stalemate check"},
				"report.sarif": {`"ruleId": "too-stale"`},
			} {
				text, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				for _, want := range holds {
					if !strings.Contains(string(text), want) {
						t.Errorf("%s does not hold %q", name, want)
					}
				}
			}
		})
	}
}

func TestWhatReportRefuses(t *testing.T) {
	run := recorded(t, allHeld).Dir
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"h.jsonl": lagging, "bad.jsonl": "x\n",
		"state-change.log": "[2019-06-01 10:00:00,101] TRACE [Controller id=1 epoch=7] Changed partition a-0 from A to B with state LeaderAndIsr(leader=2, leaderEpoch=5, isr=List(2, 3), zkVersion=9) (state.change.logger)\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		args string
		want string
	}{
		"a file that is missing":                        {"missing.jsonl", "missing.jsonl: no such file"},
		"what is no history":                            {"bad.jsonl", "bad.jsonl: expected a history"},
		"what Kafka logged":                             {"state-change.log", "stalemate check"},
		"a model that nobody knows":                     {"h.jsonl --model x", "no model is called"},
		"a run, which has its own verdict, and a model": {run + " --model register", "`stalemate check "},
		"several formats in one file":                   {"h.jsonl --format html,junit -o x", "expected one --format"},
	} {
		t.Run(name, func(t *testing.T) {
			out, code := stalemate(t, "", append([]string{"report"}, strings.Fields(test.args)...)...)
			if code != exitUsage || !strings.Contains(out, test.want) {
				t.Errorf("exit code %d, want %q in\n%s", code, test.want, out)
			}
		})
	}
}
