package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems/zookeeper"
)

// runAsCommand makes the test binary be stalemate, for tests that need a process
// to interrupt.
const runAsCommand = "STALEMATE_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(runAsCommand) == "" {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := newRoot()
	os.Exit(exitCode(root.ExecuteContext(ctx)))
}

func needZooKeeper(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts real servers; left out with -short")
	}
	if _, err := zookeeper.Find(t.Context(), "", ""); err != nil {
		t.Skip("no ZooKeeper to run against: ", err)
	}
}

// command is a running stalemate.
type command struct {
	*exec.Cmd
	store  string
	lines  *bufio.Scanner
	output bytes.Buffer
}

func start(t *testing.T, args ...string) *command {
	t.Helper()
	c := &command{store: t.TempDir()}
	c.Cmd = exec.Command(os.Args[0], append(append([]string{"run", "zookeeper"}, args...), "--store", c.store)...)
	c.Env = append(os.Environ(), runAsCommand+"=1")
	c.Stdout = &c.output
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.lines = bufio.NewScanner(stderr)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	return c
}

// await reads what the command says until a line holds text.
func (c *command) await(t *testing.T, text string) {
	t.Helper()
	var said []string
	for c.lines.Scan() {
		said = append(said, c.lines.Text())
		if strings.Contains(c.lines.Text(), text) {
			return
		}
	}
	t.Fatalf("ended without saying %q but\n%s", text, strings.Join(said, "\n"))
}

// end reads the rest and waits; it fails the test if that takes long.
func (c *command) end(t *testing.T, within time.Duration) {
	t.Helper()
	limit := time.AfterFunc(within, func() { _ = c.Process.Kill() })
	begin := time.Now()
	var said strings.Builder
	for c.lines.Scan() {
		said.WriteString(c.lines.Text() + "\n")
	}
	_ = c.Wait()
	if !limit.Stop() {
		t.Errorf("did not end within %v; it said\n%s", within, said.String())
	}
	t.Logf("ended %v after the interrupt, exit code %d", time.Since(begin).Round(time.Millisecond), c.ProcessState.ExitCode())
}

// servers lists the processes whose command line names the command's store.
func (c *command) servers(t *testing.T) []string {
	t.Helper()
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		t.Skip("no /proc to look for servers in")
	}
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range files {
		line, err := os.ReadFile(f)
		if err != nil {
			continue // ended meanwhile
		}
		text := string(bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
		if strings.Contains(text, c.store) && strings.Contains(text, "java") {
			found = append(found, text)
		}
	}
	return found
}

func TestAnInterruptLeavesNoServerBehind(t *testing.T) {
	needZooKeeper(t)
	tests := []struct {
		moment, line string
		interrupts   int
		recorded     bool
	}{
		{"while the servers start", "starting", 1, false},
		{"while clients are opened", "opening clients", 1, false},
		{"while the leader is paused", "is paused", 1, true},
		{"twice", "is paused", 2, false},
	}
	for _, test := range tests {
		t.Run(test.moment, func(t *testing.T) {
			c := start(t, "--tick-time=500ms", "--time=63s", "--faults=pause-leader", "--fault-for=60s", "--fault-every=63s", "--seed=4")
			c.await(t, test.line)
			for i := range test.interrupts {
				if err := c.Process.Signal(os.Interrupt); err != nil {
					t.Fatal(err)
				}
				if i == 0 {
					c.await(t, "interrupted: ")
				}
			}
			c.end(t, 20*time.Second)
			if code := c.ProcessState.ExitCode(); !test.recorded && code != exitFailed {
				t.Errorf("exit code %d, want %d", code, exitFailed)
			}
			if left := c.servers(t); len(left) > 0 {
				t.Errorf("left behind:\n%s", strings.Join(left, "\n"))
			}
			if !test.recorded {
				return
			}
			run, err := histories.OpenRun(filepath.Join(c.store, "latest"))
			if err != nil {
				t.Fatal(err)
			}
			if run.Info.Outcome != histories.Interrupted {
				t.Errorf("run.json says %q", run.Info.Outcome)
			}
			h, err := run.History()
			if err != nil {
				t.Fatal(err)
			}
			if !h.Whole {
				t.Error("the history has no closing line")
			}
			var last string
			for _, f := range h.Faults {
				last = f.F
			}
			if last != "stop-pause-leader" {
				t.Errorf("the last fault event is %q: was the pause undone?", last)
			}
		})
	}
}

func TestAKilledRunLeavesNoServerAndAHistoryUpToItsLastLine(t *testing.T) {
	needZooKeeper(t)
	c := start(t, "--tick-time=500ms", "--time=60s")
	c.await(t, "ops/s")
	if err := c.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	c.end(t, 10*time.Second)
	for deadline := time.Now().Add(10 * time.Second); len(c.servers(t)) > 0; {
		if time.Now().After(deadline) {
			t.Fatalf("left behind:\n%s", strings.Join(c.servers(t), "\n"))
		}
		time.Sleep(20 * time.Millisecond) // there is nothing to wait on: they are nobody's children now
	}
	run, err := histories.OpenRun(filepath.Join(c.store, "latest"))
	if err != nil {
		t.Fatal(err)
	}
	h, err := run.History()
	if err != nil {
		t.Fatal(err)
	}
	if h.Whole || len(h.Warnings) == 0 || len(h.Operations) < 100 {
		t.Errorf("whole %v, %d operations, warnings %q", h.Whole, len(h.Operations), h.Warnings)
	}
}

func TestARunThroughAllPathsKeepsThePromisesOfWriteAndCheck(t *testing.T) {
	needZooKeeper(t)
	store := t.TempDir()
	c := newRun()
	c.SilenceUsage, c.SilenceErrors = true, true
	c.SetArgs([]string{"zookeeper", "--store", store, "--tick-time=500ms", "--faults=pause-leader",
		"--time=5s", "--fault-every=5s", "--keys=2", "--seed=5"})
	c.SetOut(io.Discard)
	c.SetErr(io.Discard)
	err := c.ExecuteContext(t.Context())
	run, opened := histories.OpenRun(filepath.Join(store, "latest"))
	if opened != nil {
		t.Fatal(opened)
	}
	v, failed := verdictOf(t.Context(), run, 0)
	if failed != nil {
		t.Fatal(failed, err)
	}
	if code := exitCodeOf(err); (code == exitViolated) != (v.Holds == checker.Violated) || code > exitViolated {
		t.Errorf("exit code %d (%v) for a verdict that says %s", code, err, v.Holds)
	}
	if run.Info.Outcome != histories.Finished || run.Info.Ended.IsZero() || run.Info.Seed != 5 || run.Info.Versions["zookeeper"] == "" {
		t.Errorf("run.json: %+v", run.Info)
	}
	for _, path := range zookeeper.Paths() {
		p := v.Paths[path.Name]
		switch {
		case p == nil || p.Reads == 0:
			t.Errorf("nothing was read by %s", path.Name)
		case p.Verdict == checker.ClassDivergent && path.Name != zookeeper.PathWatch: // two registers, two watches
			t.Errorf("%s is divergent: %+v", path.Name, p.Anomalies)
		case path.Name == zookeeper.PathWrite || path.Name == zookeeper.PathCheck:
			if p.StaleReads != 0 || p.Holds != checker.Holds {
				t.Errorf("%s: %d of %d reads stale, promise %s", path.Name, p.StaleReads, p.Reads, p.Holds)
			}
		}
		if p != nil {
			t.Logf("%-5s %v, %d of %d stale, worst %.0f ms", path.Name, p.Verdict, p.StaleReads, p.Reads, p.StalenessMS.Max)
		}
	}
	for _, node := range []string{"zk1", "zk2", "zk3"} {
		if log, err := os.ReadFile(run.Path(filepath.Join("nodes", node, "server.log"))); err != nil || len(log) == 0 {
			t.Errorf("log of %s: %d bytes, %v", node, len(log), err)
		}
	}
}

// exitCodeOf gives the code without printing the error.
func exitCodeOf(err error) int {
	if err == nil {
		return exitHolds
	}
	if e, ok := err.(*exitError); ok {
		return e.code
	}
	return exitUsage
}

func TestSettingsThatAreRefusedBeforeAnythingStarts(t *testing.T) {
	tests := []struct {
		rule string
		args []string
		want string
	}{
		{"a place that is none", []string{"--on=moon"}, "expected local, docker or connect"},
		{"connect needs addresses", []string{"--on=connect"}, "--addr"},
		{"addresses need connect", []string{"--addr=a:1"}, "--on connect"},
		{"an address has a port", []string{"--on=connect", "--addr=a"}, "host:port"},
		{"nobody else's ensemble is broken", []string{"--on=connect", "--addr=a:1", "--faults=halves"}, "not broken"},
		{"an unknown read path", []string{"--read=quorum"}, `"quorum"`},
		{"an unknown fault", []string{"--faults=flood"}, `"flood"`},
		{"no room for a fault", []string{"--faults=halves", "--time=3s"}, "no room"},
		{"faults without healthy time", []string{"--faults=halves", "--fault-for=9s", "--fault-every=9s"}, "healthy"},
		{"no time", []string{"--time=0s"}, "--time"},
		{"no rate", []string{"--rate=0"}, "rate"},
		{"no keys", []string{"--keys=0"}, "keys"},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			store := filepath.Join(t.TempDir(), "store")
			c := newRun()
			c.SilenceUsage, c.SilenceErrors = true, true
			c.SetArgs(append([]string{"zookeeper", "--store", store}, test.args...))
			err := c.ExecuteContext(t.Context())
			if exitCodeOf(err) != exitUsage || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
			if _, err := os.Stat(store); err == nil {
				t.Error("a run was begun all the same")
			}
		})
	}
}
