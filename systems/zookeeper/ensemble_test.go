package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/stalemate-io/stalemate/systems/local"
)

// The servers of these tests are quick to lose patience.
const (
	testTick = 500 * time.Millisecond
	testSync = 2
	patience = testSync * testTick
)

// launchTest starts an ensemble that ends with the test, and shows the servers'
// logs where the test fails.
func launchTest(t *testing.T, o Options) *Ensemble {
	t.Helper()
	needServers(t)
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	o.TickTime, o.SyncLimit = testTick, testSync
	begin := time.Now()
	e, err := Launch(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("ready after %v", time.Since(begin).Round(time.Millisecond))
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			for _, node := range e.Nodes() {
				t.Logf("%s:\n%s", node, local.Tail(e.Log(node), 40))
			}
		}
	})
	return e
}

func needServers(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: starts real servers")
	}
	if _, err := Find(t.Context(), "", ""); err != nil {
		t.Skip(err)
	}
}

// awaitTest gives cond as long as a slow machine may need.
func (e *Ensemble) awaitTest(t *testing.T, want string, cond func(Roles) bool) Roles {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	roles, err := e.Await(ctx, want, cond)
	if err != nil {
		t.Fatal(err)
	}
	return roles
}

// leaderAndFollowers waits until all serve.
func leaderAndFollowers(t *testing.T, e *Ensemble) (leader string, followers []string) {
	t.Helper()
	leader, _ = e.awaitTest(t, "all to serve", Roles.AllServe).Leader()
	for _, n := range e.Nodes() {
		if n != leader {
			followers = append(followers, n)
		}
	}
	return leader, followers
}

// newLeader is the condition that a server other than old leads.
func newLeader(old string) func(Roles) bool {
	return func(r Roles) bool {
		l, ok := r.Leader()
		return ok && l != old
	}
}

// plainClient opens a session with one server.
func plainClient(t *testing.T, addr string) *zk.Conn {
	t.Helper()
	conn, events, err := zk.Connect([]string{addr}, 30*time.Second, zk.WithLogger(silent{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	for {
		select {
		case e := <-events:
			if e.State == zk.StateHasSession {
				return conn
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("no session with %s", addr)
		}
	}
}

// cutOff cuts every link between node and the others, both ways.
func cutOff(t *testing.T, e *Ensemble, node string, do func(from, to string) error) {
	t.Helper()
	for _, n := range e.Nodes() {
		if n == node {
			continue
		}
		if err := errors.Join(do(node, n), do(n, node)); err != nil {
			t.Fatal(err)
		}
	}
}

// One ensemble serves all the faults, one after the other: starting one takes
// longer than most of them.
func TestEnsembleUnderFaults(t *testing.T) {
	e := launchTest(t, Options{})
	if e.Version() == "" {
		t.Error("the servers' version is unknown")
	}
	for _, c := range []struct {
		rule string
		test func(*testing.T, *Ensemble)
	}{
		{"a server reached only through links never dials a peer's own address", noBypass},
		{"a slow link from the leader makes one follower lag, the other not", slowLink},
		{"a leader cut off from its followers is deposed while its clients still reach it", isolatedLeader},
		{"a follower cut off from its peers stops serving and follows again when healed", isolatedFollower},
		{"a leader that hears nobody is deposed though it is heard", deafLeader},
		{"a leader paused for longer than its followers' patience is deposed and steps down when it wakes", pausedLeader},
		{"a killed leader is replaced and rejoins when started", killedLeader},
	} {
		t.Run(c.rule, func(t *testing.T) {
			begin := time.Now()
			c.test(t, e)
			leaderAndFollowers(t, e) // the next fault begins with a whole ensemble
			t.Logf("took %v", time.Since(begin).Round(time.Millisecond))
		})
		if t.Failed() {
			return
		}
	}
}

func slowLink(t *testing.T, e *Ensemble) {
	const delay = 100 * time.Millisecond
	leader, followers := leaderAndFollowers(t, e)
	slow, quick := followers[0], followers[1]
	writer := plainClient(t, e.ClientAddr(quick))
	reader := plainClient(t, e.ClientAddr(slow))
	if _, err := writer.Create("/slow", []byte("old"), 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Sync("/slow"); err != nil {
		t.Fatal(err)
	}
	if err := e.Links().Delay(leader, slow, delay); err != nil {
		t.Fatal(err)
	}
	defer e.Links().Heal(leader, slow)
	begin := time.Now()
	if _, err := writer.Set("/slow", []byte("new"), -1); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took >= delay {
		t.Skipf("the machine is too busy: the write took %v", took)
	}
	if value, _, err := reader.Get("/slow"); err != nil || string(value) != "old" {
		t.Errorf("the slow follower answered %q, %v: want the old value", value, err)
	}
	if value, _, err := writer.Get("/slow"); err != nil || string(value) != "new" {
		t.Errorf("the quick follower answered %q, %v: want the new value", value, err)
	}
	if _, err := reader.Sync("/slow"); err != nil {
		t.Fatal(err)
	}
	if value, _, err := reader.Get("/slow"); err != nil || string(value) != "new" {
		t.Errorf("after sync the slow follower answered %q, %v: want the new value", value, err)
	}
}

func isolatedLeader(t *testing.T, e *Ensemble) {
	old, _ := leaderAndFollowers(t, e)
	begin := time.Now()
	cutOff(t, e, old, e.Links().Cut)
	e.awaitTest(t, "a new leader", newLeader(old))
	t.Logf("new leader after %v", time.Since(begin).Round(time.Millisecond))
	roles := e.awaitTest(t, "the old leader to step down", func(r Roles) bool { return errors.Is(r[old].Err, ErrNotServing) })
	t.Logf("old leader stepped down after %v, still answering its clients: %v", time.Since(begin).Round(time.Millisecond), roles)
	// Cut off, it must stay alone for as long as elections take.
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if roles, err := e.Await(ctx, "", func(r Roles) bool { return r[old].Err == nil }); err == nil {
		t.Errorf("the old leader serves although it is cut off: %v", roles)
	}
	cutOff(t, e, old, e.Links().Heal)
}

func isolatedFollower(t *testing.T, e *Ensemble) {
	leader, followers := leaderAndFollowers(t, e)
	lost := followers[0]
	cutOff(t, e, lost, e.Links().Cut)
	roles := e.awaitTest(t, "the follower to stop serving", func(r Roles) bool { return errors.Is(r[lost].Err, ErrNotServing) })
	if now, _ := roles.Leader(); now != leader {
		t.Errorf("%s leads, and %s did: losing one follower must not change that", now, leader)
	}
	cutOff(t, e, lost, e.Links().Heal)
}

func deafLeader(t *testing.T, e *Ensemble) {
	old, followers := leaderAndFollowers(t, e)
	for _, f := range followers {
		if err := e.Links().Cut(f, old); err != nil {
			t.Fatal(err)
		}
	}
	e.awaitTest(t, "the leader that hears nobody to stop leading", func(r Roles) bool { return !r[old].Leads() })
	for _, f := range followers {
		if err := e.Links().Heal(f, old); err != nil {
			t.Fatal(err)
		}
	}
}

func pausedLeader(t *testing.T, e *Ensemble) {
	old, _ := leaderAndFollowers(t, e)
	if err := e.Pause(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	// Asked for its leader the ensemble must not wait for a server that is
	// paused, whoever paused it.
	if _, err := Ask(t.Context(), e.ClientAddr(old)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("asking a paused server: %v: want a time-out", err)
	}
	e.awaitTest(t, "a new leader", newLeader(old))
	t.Logf("new leader after %v", time.Since(begin).Round(time.Millisecond))
	if err := e.Resume(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	e.awaitTest(t, "the old leader to follow", func(r Roles) bool { return r[old].Mode == ModeFollower })
}

func killedLeader(t *testing.T, e *Ensemble) {
	old, _ := leaderAndFollowers(t, e)
	writer := plainClient(t, e.ClientAddr(old))
	if _, err := writer.Create("/kept", nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	if err := e.Kill(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	if err := e.Kill(t.Context(), old); err == nil {
		t.Error("killing a server that does not run is no error")
	}
	e.awaitTest(t, "a new leader", newLeader(old))
	if err := e.Start(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	if err := e.Start(t.Context(), old); err == nil {
		t.Error("starting a server that runs is no error")
	}
	reader := plainClient(t, e.ClientAddr(old))
	if _, err := reader.Sync("/"); err != nil {
		t.Fatal(err)
	}
	if found, _, err := reader.Exists("/kept"); err != nil || !found {
		t.Errorf("the restarted server has /kept: %v, %v: want what was written before the kill", found, err)
	}
}

func TestOneServerStandsAlone(t *testing.T) {
	e := launchTest(t, Options{Servers: 1})
	if leader, err := e.Leader(t.Context()); leader != "zk1" {
		t.Errorf("leader %q, %v: want zk1", leader, err)
	}
	r, err := Connect(t.Context(), []string{e.ClientAddr("zk1")})
	if err != nil {
		t.Fatal(err)
	}
	if r.Version() != e.Version() {
		t.Errorf("version %q through Connect, %q through Launch", r.Version(), e.Version())
	}
	if r.Links() != nil {
		t.Error("the links of a remote ensemble are not nil")
	}
	if err := r.Kill(t.Context(), r.Nodes()[0]); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("killing a remote server: %v: want errors.ErrUnsupported", err)
	}
}

func TestLaunchTriesOtherPortsWhereOneIsTaken(t *testing.T) {
	needServers(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	attempts := 0
	reserve := func(n int) (*local.Ports, error) {
		attempts++
		p, err := local.ReservePorts(n)
		if err == nil && attempts == 1 {
			p.Numbers[0] = taken.Addr().(*net.TCPAddr).Port
		}
		return p, err
	}
	e, err := launch(t.Context(), Options{Servers: 1, Dir: t.TempDir()}, reserve)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(e.Close(), e.Close()); err != nil {
		t.Error(err)
	}
	if attempts != 2 {
		t.Errorf("%d attempts: want 2", attempts)
	}
}

func TestAServerThatDiesAtStartShowsTheEndOfItsLog(t *testing.T) {
	needServers(t)
	java := filepath.Join(t.TempDir(), "java")
	script := `#!/bin/sh
case $1 in -version) echo 'openjdk version "17.0.1"' >&2; exit 0;; esac
echo first; echo "java.io.IOException: No space left on device"; exit 4
`
	if err := os.WriteFile(java, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := Launch(t.Context(), Options{Dir: t.TempDir(), Java: java})
	var died *DiedError
	if !errors.As(err, &died) {
		t.Fatalf("%v: want a DiedError", err)
	}
	for _, want := range []string{"exit status 4", "first", "the disk is full", "server.log"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q:\n%v", want, err)
		}
	}
}

func TestAnEnsembleThatNeverElectsShowsEveryServersState(t *testing.T) {
	needServers(t)
	java := filepath.Join(t.TempDir(), "java")
	script := `#!/bin/sh
case $1 in -version) echo 'openjdk version "17.0.1"' >&2; exit 0;; esac
exec sleep 60
`
	if err := os.WriteFile(java, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := Launch(ctx, Options{Dir: t.TempDir(), Java: java})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%v: want a time-out", err)
	}
	for i := range 3 {
		if want := fmt.Sprintf("zk%d: ", i+1); !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q:\n%v", want, err)
		}
	}
}
