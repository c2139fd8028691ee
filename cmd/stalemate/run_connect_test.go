package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems/processes"
)

func runCommand(t *testing.T, args ...string) error {
	t.Helper()
	c := newRun()
	c.SilenceUsage, c.SilenceErrors = true, true
	c.SetOut(t.Output())
	c.SetErr(t.Output())
	c.SetArgs(args)
	return c.ExecuteContext(t.Context())
}

func TestClientsVisitAClusterThatRunsAlready(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real processes; left out with -short")
	}
	t.Setenv(runAsCommand, "1") // for the nodes, which run this program
	cluster, err := processes.Launch(t.Context(), processes.Options{
		Settings: processes.Settings{System: "kraft", Controllers: 3, Brokers: 3, Partitions: 4, SessionTimeout: 2 * time.Second},
		Dir:      t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	var nodes []string
	for _, name := range cluster.Nodes() {
		nodes = append(nodes, name+"="+cluster.ClientAddr(name))
	}
	store := t.TempDir()
	err = runCommand(t, "kraft", "--on=connect", "--nodes", strings.Join(nodes, ","), "--store", store,
		"--partitions=4", "--clients=9", "--time=2s", "--settle=500ms")
	if err != nil {
		t.Fatal(err)
	}
	run, err := histories.OpenRun(filepath.Join(store, "latest"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := checkRun(t.Context(), run, checker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if run.Info.Outcome != histories.Finished || run.Info.Deployment != "connect" || v.Holds != checker.Holds || v.Reads < 50 {
		t.Errorf("%+v: %s, promise %s, %d reads", run.Info, v.Verdict, v.Holds, v.Reads)
	}
	if !strings.Contains(fmt.Sprint(v.Warnings), connectAbout) {
		t.Errorf("it is not said what cannot be judged: %q", v.Warnings)
	}
	if err := cluster.Died(); err != nil { // it goes on
		t.Error(err)
	}
}

func TestConnectionsThatAreRefused(t *testing.T) {
	tests := []struct {
		rule string
		args []string
		code int
		want string
	}{
		{"no nodes", nil, exitUsage, "expected a name and where it is reached"},
		{"a name that is none", []string{"--nodes=broker1=localhost:1"}, exitUsage, `"broker1=localhost:1"`},
		{"no port", []string{"--nodes=b1=localhost"}, exitUsage, `"b1=localhost"`},
		{"a node twice", []string{"--nodes=b1=localhost:1,b1=localhost:2"}, exitUsage, "b1 is named twice"},
		{"no controller", []string{"--nodes=b1=localhost:1"}, exitFailed, "one controller"},
		{"faults", []string{"--nodes=c1=localhost:1,b1=localhost:1", "--faults=kill"}, exitUsage, "somebody else"},
		{"nobody there", []string{"--nodes=c1=127.0.0.1:1,b1=127.0.0.1:1"}, exitFailed, "node b1: "},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			store := filepath.Join(t.TempDir(), "store")
			err := runCommand(t, append([]string{"kraft", "--on=connect", "--store", store}, test.args...)...)
			if exitCodeOf(err) != test.code || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
			if found, _ := filepath.Glob(store); len(found) > 0 {
				t.Error("a run was begun all the same")
			}
		})
	}
}
