package zookeeper

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/stalemate-io/stalemate/systems/docker/dockertest"
)

func TestContainedServersKnowEachOtherByAddress(t *testing.T) {
	o, err := Options{Dir: "x", TickTime: testTick}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	text := configurationAt(o, containedData, "0.0.0.0", containedClient, []string{"10.0.0.2:2888:3888", "10.0.0.3:2888:3888"})
	for _, want := range []string{"clientPortAddress=0.0.0.0\n", "server.2=10.0.0.3:2888:3888\n", "dataDir=/data\n", "tickTime=500\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// One ensemble sees all faults, as in TestFaults.
func TestContainedEnsemble(t *testing.T) {
	dockertest.Need(t)
	e, err := LaunchContained(t.Context(), Options{Dir: t.TempDir(), TickTime: testTick, SyncLimit: testSync}, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	await := func(want string, cond func(Roles) bool) Roles {
		t.Helper()
		roles, err := e.Await(t.Context(), want, cond)
		if err != nil {
			t.Fatal(err)
		}
		return roles
	}
	old, _ := await("all to serve", Roles.AllServe).Leader()
	writer := plainClient(t, e.ClientAddr(old))
	if _, err := writer.Create("/kept", nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	each := func(do func(from, to string) error) {
		t.Helper()
		for _, node := range e.Nodes() {
			if node == old {
				continue
			}
			if err := errors.Join(do(old, node), do(node, old)); err != nil {
				t.Fatal(err)
			}
		}
	}
	each(e.Links().Cut)
	await("a new leader", newLeader(old))
	await("the old one to answer, and not to serve", func(r Roles) bool { return errors.Is(r[old].Err, ErrNotServing) })
	each(e.Links().Heal)
	old, _ = await("all to serve again", Roles.AllServe).Leader()

	if err := e.Pause(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	await("a leader in place of the paused one", newLeader(old))
	if err := e.Resume(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	old, _ = await("all to serve after the pause", Roles.AllServe).Leader()

	if err := e.Kill(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	await("a leader in place of the killed one", newLeader(old))
	if err := e.Start(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	reader := plainClient(t, e.ClientAddr(old))
	if _, err := reader.Sync("/"); err != nil {
		t.Fatal(err)
	}
	if found, _, err := reader.Exists("/kept"); err != nil || !found {
		t.Errorf("the restarted server has /kept: %v, %v", found, err)
	}
	reader.Close()
	if err := errors.Join(e.Close(), e.Close()); err != nil {
		t.Fatal(err)
	}
	for _, dir := range e.DataDirs() {
		if files, err := txnLogFiles(dir); err != nil || len(files) == 0 {
			t.Errorf("no transaction logs in %s: %v", dir, err)
		}
	}
}
