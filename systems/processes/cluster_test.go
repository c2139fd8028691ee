package processes

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stalemate-io/stalemate/systems/kraft"
	"github.com/stalemate-io/stalemate/systems/links"
	"github.com/stalemate-io/stalemate/systems/local"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/tcp"
)

// orphans in the environment makes this test program launch a cluster in a folder
// and wait to be killed.
const orphans = "STALEMATE_TEST_ORPHANS"

// The test program is also the program that runs a node, as stalemate is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "node" {
		os.Exit(runNode(os.Args[len(os.Args)-1]))
	}
	if dir := os.Getenv(orphans); dir != "" {
		launchAndWait(dir)
	}
	goleak.VerifyTestMain(m)
}

func runNode(file string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	c, err := ReadConfig(file)
	if err == nil {
		err = Run(ctx, c)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// small is a cluster of which no more is asked than to be one.
var small = Settings{System: "kraft", Controllers: 3, Brokers: 3, Partitions: 2, SessionTimeout: 2 * time.Second}

func launchTest(t *testing.T, s Settings) *Cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: starts real processes")
	}
	begin := time.Now()
	c, err := Launch(t.Context(), Options{Settings: s, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("ready after %v", time.Since(begin).Round(time.Millisecond))
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if left := nodesIn(t, c.options.Dir); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
		if t.Failed() {
			for _, name := range c.Nodes() {
				t.Logf("%s:\n%s", name, local.Tail(c.Log(name), 40))
			}
		}
	})
	return c
}

// nodesIn lists the processes whose command line names dir, where that can be
// found out.
func nodesIn(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range files {
		if line, err := os.ReadFile(f); err == nil && strings.Contains(string(line), dir) {
			found = append(found, string(line))
		}
	}
	return found
}

// leads awaits a leader that cond wants.
func leads(t *testing.T, c *Cluster, what string, cond func(string) bool) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var name string
	err := c.until(ctx, what, func() (err error) {
		if name, err = c.Leader(ctx); err == nil && !cond(name) {
			err = fmt.Errorf("%s leads", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// elect asks the active controller for another leader of a partition.
func elect(t *testing.T, c *Cluster, leader string, target int32) *protocol.AdminResponse {
	t.Helper()
	m, err := c.ask(t.Context(), c.nodes[node.ID(leader)], &protocol.ElectLeadersRequest{Partition: protocol.Partition{Topic: "t"}, Target: target})
	must(t, err)
	return m.(*protocol.AdminResponse)
}

func TestAClusterOutlivesWhatIsDoneToItsNodes(t *testing.T) {
	c := launchTest(t, small)
	ctx := t.Context()
	begin := tcp.Now()
	first := leads(t, c, "a first leader", func(string) bool { return true })
	a := elect(t, c, first, 2)
	if a.Error != protocol.None && a.Error != "ELECTION_NOT_NEEDED" {
		t.Errorf("election of b2: %s", a.Error)
	}

	for what, err := range map[string]error{
		"cutting a link": c.Links().Cut("c1", "c9"), "killing": c.Kill(ctx, "b9"), "starting": c.Start(ctx, "b9"), "pausing": c.Pause(ctx, "b9"),
	} {
		if err == nil || !strings.Contains(err.Error(), "9") {
			t.Errorf("%s a node that is none: %v", what, err)
		}
	}
	if err := c.Start(ctx, first); err == nil {
		t.Error("a node was started twice")
	}

	// Killed, with the last write torn, a node goes on from its disk.
	must(t, c.Kill(ctx, first))
	if err := c.Kill(ctx, first); err == nil {
		t.Error("a dead node was killed")
	}
	second := leads(t, c, "another leader than the one that was killed", func(s string) bool { return s != first })
	journal, err := os.OpenFile(filepath.Join(diskIn(c.nodes[node.ID(first)].dir), "journal"), os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = journal.WriteString("half a record")
	must(t, errors.Join(err, journal.Close()))
	must(t, c.Start(ctx, first))

	// Paused or cut off, a leader is succeeded.
	must(t, c.Pause(ctx, second))
	third := leads(t, c, "another leader than the one that is paused", func(s string) bool { return s != second })
	must(t, c.Resume(ctx, second))
	for _, name := range c.Nodes() {
		if name != third {
			must(t, errors.Join(c.Links().Cut(name, third), c.Links().Cut(third, name)))
		}
	}
	fourth := leads(t, c, "another leader than the one that is cut off", func(s string) bool { return s != third })
	for _, name := range c.Nodes() {
		if name != third {
			must(t, errors.Join(c.Links().Heal(name, third), c.Links().Heal(third, name)))
		}
	}
	// Requests that are lost are sent again.
	lost := make(chan Envelope, 1)
	remove := c.Intercept(func(e Envelope) links.Fate {
		if e.From == "b1" && e.Kind() == "BrokerHeartbeat" {
			select {
			case lost <- e:
				return links.Fate{Lose: true}
			default:
			}
		}
		return links.Fate{}
	})
	if e := <-lost; e.Message.(*kraft.BrokerHeartbeatRequest).Broker != 1 {
		t.Errorf("lost %+v", e)
	}
	remove()
	elect(t, c, fourth, 3)
	elect(t, c, leads(t, c, "a last leader", func(string) bool { return true }), 1)

	must(t, c.Stop(ctx))
	if err := c.Died(); err != nil {
		t.Error(err)
	}
	trace, err := c.Trace()
	must(t, err)
	torn := 0
	for _, e := range trace {
		if e.What == "disk-torn" && string(e.Node) == first && e.Version == int64(len("half a record")) {
			torn++
		}
	}
	if torn != 1 {
		t.Errorf("%d torn disks were told of", torn)
	}
	changes, err := c.Remains().KraftTruth(trace, tcp.Now())
	must(t, err)
	if len(changes) < small.Partitions+1 {
		t.Errorf("%d changes were committed: %+v", len(changes), changes)
	}
	for i, ch := range changes {
		if ch.Committed > tcp.Now() || ch.Appended > ch.Committed || i > 0 && ch.Committed < changes[i-1].Committed {
			t.Errorf("change %d was appended at %v and committed at %v", i, ch.Appended, ch.Committed)
		}
	}
	if last := changes[len(changes)-1]; last.Committed < begin {
		t.Errorf("nothing was committed since the launch: %+v", last)
	}
}

func TestALaunchThatFailsSaysWhatANodeSaid(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: starts real processes")
	}
	dir := t.TempDir()
	_, err := Launch(t.Context(), Options{Settings: small, Dir: dir, Program: "/bin/sh", Args: []string{"-c", "echo no such thing; exit 7"}})
	var died *local.DiedError
	if !errors.As(err, &died) || !strings.Contains(err.Error(), "no such thing") || !strings.Contains(err.Error(), "exit status 7") {
		t.Errorf("got %v", err)
	}
	if left := nodesIn(t, dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestTwoNodesCannotHaveOnePort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	c := NodeConfig{
		Self: "c1", Cluster: Settings{System: "kraft", Controllers: 1, Brokers: 1, Partitions: 1}, Listen: l.Addr().String(),
		Peers: map[node.ID]string{"b1": "127.0.0.1:1"}, Disk: t.TempDir(),
	}
	if err := Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("got %v", err)
	}
}

func launchAndWait(dir string) {
	if _, err := Launch(context.Background(), Options{Settings: small, Dir: dir}); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ready")
	select {}
}

func TestNoNodeOutlivesAProgramThatIsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: starts real processes")
	}
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		t.Skip("no /proc to look for processes in")
	}
	dir := t.TempDir()
	program := exec.Command(os.Args[0])
	program.Env = append(os.Environ(), orphans+"="+dir)
	out, err := program.StdoutPipe()
	must(t, err)
	must(t, program.Start())
	said := make([]byte, 5)
	if n, err := out.Read(said); err != nil || string(said) != "ready" {
		t.Fatalf("the program said %q, %v", said[:n], err)
	}
	if n := len(nodesIn(t, dir)); n != small.Controllers+small.Brokers {
		t.Errorf("%d nodes run", n)
	}
	must(t, program.Process.Kill())
	_ = program.Wait()
	for begin := time.Now(); len(nodesIn(t, dir)) > 0; time.Sleep(5 * time.Millisecond) {
		if time.Since(begin) > 10*time.Second {
			t.Fatalf("left behind: %v", nodesIn(t, dir))
		}
	}
}
