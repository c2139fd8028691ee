package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// runLine runs a command line and gives its output and error.
func runLine(t *testing.T, args ...string) (string, error) {
	t.Helper()
	root := newRoot()
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(args)
	err := root.ExecuteContext(context.Background())
	return out.String(), err
}

// TestRunSimSameSeedSameHistory runs each toy twice from one seed: same bytes.
func TestRunSimSameSeedSameHistory(t *testing.T) {
	for _, system := range []string{"push", "kraft"} {
		t.Run(system, func(t *testing.T) {
			var histories []string
			for range 2 {
				dir := t.TempDir()
				out, err := runLine(t, "run", system, "--time", "6s", "--seed", "7", "--store", dir)
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				text, err := os.ReadFile(filepath.Join(dir, "latest", "history.jsonl"))
				if err != nil {
					t.Fatal(err)
				}
				histories = append(histories, string(text))
			}
			if histories[0] != histories[1] {
				t.Error("two runs from one seed differ")
			}
			if n := strings.Count(histories[0], "\n"); n < 1000 {
				t.Errorf("the history has only %d lines", n)
			}
		})
	}
}

// A run that is checked again gets the verdict that it got at first, causes and
// all, as long as it can be simulated again.
func TestASimulatedRunKeepsItsVerdict(t *testing.T) {
	for _, args := range [][]string{
		{"push", "--trouble", "lost-push", "--guards-on", "resend-on-failover"},
		{"kraft", "--trouble", "cut-off-leader", "--workload", "data"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			dir := t.TempDir()
			runLine(t, append([]string{"run", "--store", dir}, args...)...)
			run := filepath.Join(dir, "latest")
			read := func(name string) string {
				t.Helper()
				text, err := os.ReadFile(filepath.Join(run, name))
				if err != nil {
					t.Fatal(err)
				}
				return string(text)
			}
			first := read("verdict.json")
			if !strings.Contains(first, `"cause"`) {
				t.Fatal("the run shows nothing that has a cause")
			}
			runLine(t, "check", run)
			if again := read("verdict.json"); again != first {
				t.Errorf("checked again the verdict is\n%s\nand was\n%s", again, first)
			}
			other := strings.Replace(read("run.json"), `"seed": 1`, `"seed": 2`, 1)
			if err := os.WriteFile(filepath.Join(run, "run.json"), []byte(other), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, _ := runLine(t, "check", run); !strings.Contains(out, "the causes of anomalies are unknown") {
				t.Errorf("a run that cannot be repeated is judged without a warning:\n%s", out)
			}
		})
	}
}

func TestSimulatedCommandsRefuse(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"a place that the toys do not run in", []string{"run", "push", "--on", "moon"}, "--on moon"},
		{"unknown trouble", []string{"run", "kraft", "--trouble", "locusts"}, `no trouble "locusts"`},
		{"an unknown workload", []string{"run", "kraft", "--workload", "dance"}, `no workload "dance"; expected leadership or data`},
		{"an unknown guard", []string{"run", "kraft", "--guards-off", "moat"}, `no guard "moat"`},
		{"an unknown scenario", []string{"scenario", "happy-end"}, `no scenario "happy-end"`},
		{"a comparison of nothing", []string{"compare", "--seeds", "0"}, "expected at least 1"},
		{"an unknown system", []string{"compare", "--systems", "zab", "--seeds", "1"}, `no system "zab"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, err := runLine(t, tt.args...)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v, want one with %q\n%s", err, tt.want, out)
			}
		})
	}
}

// TestRunDataSaysWhoAnswered runs what consumers see behind a leader that is cut
// off, and the same where such a leader falls silent.
func TestRunDataSaysWhoAnswered(t *testing.T) {
	run := func(more ...string) string {
		t.Helper()
		args := append([]string{"run", "kraft", "--workload", "data", "--trouble", "cut-off-leader", "--store", t.TempDir()}, more...)
		out, err := runLine(t, args...)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return out
	}
	if out := run(); !strings.Contains(out, "ordered lag") || !strings.Contains(out, "answered by a deposed leader") {
		t.Errorf("no stale read, or no cause:\n%s", out)
	}
	if out := run("--guards-on", "self-fencing"); !strings.Contains(out, "linearizable") || strings.Contains(out, "deposed") {
		t.Errorf("self-fencing did not help:\n%s", out)
	}
}
