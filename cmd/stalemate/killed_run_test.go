package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/internal/live"
	"github.com/stalemate-io/stalemate/systems/docker"
	"github.com/stalemate-io/stalemate/systems/docker/dockertest"
	"github.com/stalemate-io/stalemate/systems/processes"
)

func TestRunThatWasKilledIsCompletedAndJudged(t *testing.T) {
	for _, system := range processes.Systems() {
		t.Run(system, func(t *testing.T) {
			if system == "push" {
				needZooKeeper(t)
			} else if testing.Short() {
				t.Skip("starts real processes; left out with -short")
			}
			killAndCheck(t, system, "local")
		})
	}
}

// What the servers of push have written goes with their containers; kraft's nodes
// write into the run's folder.
func TestRunInContainersThatWasKilledIsCompletedAndJudged(t *testing.T) {
	dockertest.Need(t)
	killAndCheck(t, "kraft", "docker")
}

func killAndCheck(t *testing.T, system, on string) {
	store := t.TempDir()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	c := exec.CommandContext(t.Context(), program, "run", system, "--on="+on, "--store", store,
		"--brokers=3", "--partitions=4", "--clients=9", "--faults=none", "--time=2m")
	c.Env = append(os.Environ(), runAsCommand+"=1")
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	clients := filepath.Join(store, "latest", live.ClientsFile)
	acknowledged := func() bool { // some writes and reads
		text, err := os.ReadFile(clients)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return bytes.Count(text, []byte(`"type":"ok","f":"write"`)) >= 5 && bytes.Count(text, []byte(`"type":"ok","f":"read"`)) >= 100
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for !acknowledged() {
		select {
		case err := <-ended:
			t.Fatalf("%v: %s", err, said.String())
		case <-time.After(10 * time.Millisecond):
		}
	}
	// While it goes on nobody completes it.
	if out, code := stalemate(t, "", "check", filepath.Join(store, "latest")); code != exitFailed || !strings.Contains(out, "still going on") {
		t.Errorf("check of a run that goes on: code %d, %s", code, out)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
	if on == "docker" {
		awaitEndInContainers(t)
	}
	run, err := histories.OpenRun(filepath.Join(store, "latest"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := checkRun(t.Context(), run, checker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if run.Info.Outcome != histories.Running || v.Holds != checker.Holds || v.Reads < 100 {
		t.Errorf("outcome %s, promise %s, %d reads, %v", run.Info.Outcome, v.Holds, v.Reads, v.Warnings)
	}
	if !strings.Contains(strings.Join(v.Warnings, "\n"), "ended before its history was complete") {
		t.Errorf("no warning: %q", v.Warnings)
	}
	h, err := run.History()
	if err != nil {
		t.Fatal(err)
	}
	if h.Whole {
		t.Error("the history passes for a whole one")
	}
	// All that clients had recorded is there, with what the system did before
	// there were clients.
	saw, err := histories.ReadFile(clients, histories.ReadOptions{Format: histories.JSONL})
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Operations) < len(saw.Operations)+4 {
		t.Errorf("%d operations, of which clients saw %d", len(h.Operations), len(saw.Operations))
	}
}

// awaitEndInContainers waits until no run on the Docker engine goes on, and removes
// what they left.
func awaitEndInContainers(t *testing.T) {
	t.Helper()
	engine, err := docker.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	for {
		all, err := engine.Leftovers(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(all, func(l docker.Leftover) bool { return l.Alive }) {
			break
		}
		time.Sleep(50 * time.Millisecond) // the engine tells of no end that is awaited here
	}
	if err := clean(t.Context(), io.Discard, false, false); err != nil {
		t.Error(err)
	}
}

func TestFoldersOfRunsThatCannotBeCompleted(t *testing.T) {
	tests := []struct {
		rule  string
		files map[string]string
		want  string
	}{
		{"nothing was recorded", nil, histories.HistoryFile},
		{"nobody knows when it began", map[string]string{live.ClientsFile: "{}\n"}, live.BeginningFile},
		{"the beginning is of nothing known", map[string]string{live.ClientsFile: "{}\n", live.BeginningFile: "{}\n"}, "expected one of toy, kafka and remote"},
		{
			"the nodes' disks are gone",
			map[string]string{live.ClientsFile: "{}\n", live.BeginningFile: `{"start":{"mono":1,"wall":"2026-01-01T00:00:00Z"},"toy":{"system":"push","controllers":1,"brokers":1,"partitions":1}}`},
			"expected the folders of an ensemble's servers",
		},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			run, err := histories.CreateRun(t.TempDir(), histories.RunInfo{Name: "r", Model: "leadership"})
			if err != nil {
				t.Fatal(err)
			}
			for name, text := range test.files {
				if err := run.WriteFile(name, []byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := checkRun(t.Context(), run, checker.Options{}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if _, err := os.Stat(run.Path(histories.HistoryFile)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a history was left: %v", err)
			}
		})
	}
}

func TestCausesThatCannotBeToldAnyMoreAreSaidToBeUnknown(t *testing.T) {
	tests := []struct {
		rule      string
		beginning string
		want      bool
	}{
		{"the traces are gone", `{"start":{"mono":1,"wall":"2026-01-01T00:00:00Z"},"toy":{"system":"push","controllers":1,"brokers":1,"partitions":1}}`, true},
		{"there never were any", `{"remote":true}`, false},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			run, err := histories.CreateRun(t.TempDir(), histories.RunInfo{Name: "r", Model: "leadership"})
			if err != nil {
				t.Fatal(err)
			}
			if err := run.WriteFile(live.BeginningFile, []byte(test.beginning)); err != nil {
				t.Fatal(err)
			}
			f, err := run.CreateHistory()
			if err != nil {
				t.Fatal(err)
			}
			rec := histories.NewRecorder(f)
			c := rec.Client()
			for i, value := range []string{"b1/0", "b2/1"} {
				w := histories.Event{F: "write", Key: histories.String("t-0"), Value: histories.String(value)}
				c.Invoke(w).OK(histories.Event{Version: histories.At(int64(i))})
			}
			c.Invoke(histories.Event{F: "read", Key: histories.String("t-0"), Path: "broker", Node: "b1"}).
				OK(histories.Event{Value: histories.String("b1/0"), Version: histories.At(0)})
			if err := errors.Join(rec.Close(), f.Close()); err != nil {
				t.Fatal(err)
			}
			v, err := checkRun(t.Context(), run, checker.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if v.StaleReads != 1 || strings.Contains(strings.Join(v.Warnings, "\n"), "causes of anomalies are unknown") != test.want {
				t.Errorf("%d stale reads, warnings %q", v.StaleReads, v.Warnings)
			}
		})
	}
}
