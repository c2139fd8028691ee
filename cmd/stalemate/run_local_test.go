package main

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems/docker"
	"github.com/stalemate-io/stalemate/systems/docker/dockertest"
	"github.com/stalemate-io/stalemate/systems/processes"
)

func TestToysRunAsProcesses(t *testing.T) {
	for _, system := range processes.Systems() {
		t.Run(system, func(t *testing.T) {
			if system == "push" {
				needZooKeeper(t)
			} else if testing.Short() {
				t.Skip("starts real processes; left out with -short")
			}
			t.Setenv(runAsCommand, "1") // for the nodes, which run this program
			runForReal(t, system, "local")
		})
	}
}

func TestToysRunInContainers(t *testing.T) {
	dockertest.Need(t)
	for _, system := range processes.Systems() {
		t.Run(system, func(t *testing.T) { runForReal(t, system, "docker") })
	}
	engine, err := docker.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	all, err := engine.Leftovers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range all {
		if !l.Alive { // one that is alive is somebody else's
			t.Errorf("left: %+v", l)
		}
	}
}

func runForReal(t *testing.T, system, on string) {
	store := t.TempDir()
	c := newRun()
	c.SilenceUsage, c.SilenceErrors = true, true
	c.SetArgs([]string{system, "--on=" + on, "--store", store, "--brokers=3", "--partitions=4", "--clients=9",
		"--faults=kill-leader", "--fault-for=1s", "--time=3s", "--settle=2s", "--seed=3"})
	c.SetOut(io.Discard)
	c.SetErr(io.Discard)
	if err := c.ExecuteContext(t.Context()); err != nil {
		t.Error(err)
	}
	run, err := histories.OpenRun(filepath.Join(store, "latest"))
	if err != nil {
		t.Fatal(err)
	}
	if run.Info.Outcome != histories.Finished || run.Info.Deployment != on || run.Info.Model != "leadership" {
		t.Errorf("run.json: %+v", run.Info)
	}
	// What the folder says by itself is what the run was judged by.
	v, err := verdictOf(t.Context(), run, 0)
	if err != nil {
		t.Fatal(err)
	}
	// push promises nothing: what its controller had written and not pushed when it
	// was killed waits for the next one, for as long as its session lasts.
	if v.Holds != checker.Holds || v.Reads == 0 {
		t.Errorf("%s, promise %s, %d reads", v.Verdict, v.Holds, v.Reads)
	}
	h, err := run.History()
	if err != nil {
		t.Fatal(err)
	}
	var faults []string
	for _, f := range h.Faults {
		faults = append(faults, f.F)
	}
	if got := strings.Join(faults, " "); !strings.HasPrefix(got, "start-kill-leader ") || !strings.HasSuffix(got, " final-reads") {
		t.Errorf("faults: %s", got)
	}
	// The system's own writes are there: those by which it came up, before
	// anybody asked for any.
	own := 0
	for _, op := range h.Operations {
		if op.F == histories.Write && op.Call == 0 {
			own++
		}
	}
	if own < 4 {
		t.Errorf("%d writes from before the start, want one a partition", own)
	}
}

func TestLocalSettingsThatAreRefusedBeforeAnythingStarts(t *testing.T) {
	tests := []struct {
		rule string
		args []string
		want string
	}{
		{"a place that is none", []string{"--on=moon"}, "expected sim, local, docker or connect"},
		{"a fault that is none", []string{"--on=local", "--faults=flood"}, `"flood"`},
		{"no room for a fault", []string{"--on=local", "--time=2s"}, "no room"},
		{"a guard that is none", []string{"--on=local", "--guards-off=luck"}, `"luck"`},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			store := filepath.Join(t.TempDir(), "store")
			c := newRun()
			c.SilenceUsage, c.SilenceErrors = true, true
			c.SetArgs(append([]string{"kraft", "--store", store}, test.args...))
			err := c.ExecuteContext(t.Context())
			if exitCodeOf(err) != exitUsage || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
			if found, _ := filepath.Glob(store); len(found) > 0 {
				t.Error("a run was begun all the same")
			}
		})
	}
}
