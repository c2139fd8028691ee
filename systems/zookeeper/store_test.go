package zookeeper

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stalemate-io/stalemate/systems/links"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/sim"
)

// storeBench is a world with a store in which two nodes, n1 and n2, have a
// session each.
type storeBench interface {
	store(node string) node.Store
	// await lets the world go on until cond holds.
	await(t *testing.T, what string, cond func() bool)
	// expire makes the session of n1 expire.
	expire(t *testing.T)
}

// asker asks a store of a bench one thing at a time.
type asker struct {
	storeBench
	t    *testing.T
	name string
}

func on(t *testing.T, b storeBench, name string) asker { return asker{b, t, name} }

func (c asker) multi(ops ...node.StoreOp) (stats []node.Stat, err error) {
	c.t.Helper()
	done := false
	c.store(c.name).Multi(ops, func(s []node.Stat, e error) { stats, err, done = s, e, true })
	c.await(c.t, "the answer to a write", func() bool { return done })
	return stats, err
}

func (c asker) get(path string, watch func()) (stat node.Stat, data string, err error) {
	c.t.Helper()
	done := false
	c.store(c.name).Get(path, watch, func(s node.Stat, d []byte, e error) { stat, data, err, done = s, string(d), e, true })
	c.await(c.t, "the answer to a read", func() bool { return done })
	return stat, data, err
}

func (c asker) children(path string, watch func()) (names []string, err error) {
	c.t.Helper()
	done := false
	c.store(c.name).Children(path, watch, func(n []string, e error) { names, err, done = n, e, true })
	c.await(c.t, "the answer to a listing", func() bool { return done })
	return names, err
}

// must is multi that has to succeed.
func (c asker) must(ops ...node.StoreOp) []node.Stat {
	c.t.Helper()
	stats, err := c.multi(ops...)
	if err != nil {
		c.t.Fatal(err)
	}
	return stats
}

// sees waits until a node reads what was written.
func (c asker) sees(path, want string) {
	c.t.Helper()
	for {
		if _, data, err := c.get(path, nil); err == nil && data == want {
			return
		}
	}
}

func created(path, data string) node.StoreOp {
	return node.StoreOp{Kind: node.Create, Path: path, Data: []byte(data)}
}

func changed(path, data string, version int32) node.StoreOp {
	return node.StoreOp{Kind: node.Set, Path: path, Data: []byte(data), Version: version}
}

func deleted(path string) node.StoreOp {
	return node.StoreOp{Kind: node.Delete, Path: path, Version: node.AnyVersion}
}

// refusal is a multi of which one operation must be refused.
func refusal(want error, index int, ops func(root string) []node.StoreOp) func(*testing.T, storeBench, string) {
	return func(t *testing.T, b storeBench, root string) {
		_, err := on(t, b, "n1").multi(ops(root)...)
		var refused *node.OpError
		if !errors.Is(err, want) || !errors.As(err, &refused) || refused.Index != index {
			t.Fatalf("error is %v; want operation %d refused with %v", err, index, want)
		}
		if _, _, err := on(t, b, "n1").get(root+"/new", nil); !errors.Is(err, node.ErrNoNode) {
			t.Fatalf("a refused multi left a node behind: %v", err)
		}
	}
}

// storeRules is what node.Store promises, told of the store in the simulator and
// of a real ensemble alike. root is a node without children that each rule has
// for itself.
var storeRules = []struct {
	rule string
	hold func(t *testing.T, b storeBench, root string)
}{
	{"a missing node is ErrNoNode", func(t *testing.T, b storeBench, root string) {
		if _, _, err := on(t, b, "n1").get(root+"/x", nil); !errors.Is(err, node.ErrNoNode) {
			t.Errorf("get gives %v", err)
		}
		if _, err := on(t, b, "n1").children(root+"/x", nil); !errors.Is(err, node.ErrNoNode) {
			t.Errorf("children gives %v", err)
		}
	}},
	{"a write answers with the stats that a read gives", func(t *testing.T, b storeBench, root string) {
		c := on(t, b, "n1")
		first := c.must(created(root+"/x", "1"))
		stat, data, err := c.get(root+"/x", nil)
		if err != nil || data != "1" || stat != first[0] || stat.Czxid == 0 || stat.Version != 0 {
			t.Errorf("created as %+v and read as %+v %q, %v", first[0], stat, data, err)
		}
		second := c.must(created(root+"/y", ""), changed(root+"/x", "2", 0))
		stat, data, err = c.get(root+"/x", nil)
		if err != nil || data != "2" || stat != second[1] || stat.Version != 1 || stat.Mzxid <= stat.Czxid {
			t.Errorf("changed to %+v and read as %+v %q, %v", second[1], stat, data, err)
		}
		if stat, _, err := c.get(root+"/y", nil); err != nil || stat != second[0] || stat.Czxid != second[1].Mzxid {
			t.Errorf("created as %+v and read as %+v, %v", second[0], stat, err)
		}
	}},
	{"an operation sees those before it", func(t *testing.T, b storeBench, root string) {
		on(t, b, "n1").must(created(root+"/a", ""), created(root+"/a/b", ""), changed(root+"/a/b", "x", 0), changed(root+"/a/b", "y", 1),
			node.StoreOp{Kind: node.Check, Path: root + "/a/b", Version: 2}, deleted(root+"/a/b"), deleted(root+"/a"))
	}},
	{"a parent must exist", refusal(node.ErrNoNode, 1, func(root string) []node.StoreOp {
		return []node.StoreOp{created(root+"/new", ""), created(root+"/a/b", "")}
	})},
	{"a node is created once", refusal(node.ErrNodeExists, 2, func(root string) []node.StoreOp {
		return []node.StoreOp{created(root+"/new", ""), created(root+"/a", ""), created(root+"/a", "")}
	})},
	{"a version must fit", refusal(node.ErrBadVersion, 1, func(root string) []node.StoreOp {
		return []node.StoreOp{created(root+"/new", ""), changed(root+"/new", "x", 1)}
	})},
	{"a check must hold", refusal(node.ErrBadVersion, 1, func(root string) []node.StoreOp {
		return []node.StoreOp{created(root+"/new", ""), {Kind: node.Check, Path: root + "/new", Version: 7}}
	})},
	{"what is checked must exist", refusal(node.ErrNoNode, 0, func(root string) []node.StoreOp {
		return []node.StoreOp{{Kind: node.Check, Path: root + "/a", Version: node.AnyVersion}, created(root+"/new", "")}
	})},
	{"a node with children stays", refusal(node.ErrNotEmpty, 2, func(root string) []node.StoreOp {
		return []node.StoreOp{created(root+"/new", ""), created(root+"/new/b", ""), deleted(root + "/new")}
	})},
	{"sequential nodes are numbered", func(t *testing.T, b storeBench, root string) {
		next := node.StoreOp{Kind: node.Create, Path: root + "/n_", Sequential: true}
		on(t, b, "n1").must(next, next)
		names, err := on(t, b, "n1").children(root, nil)
		if want := []string{"n_0000000000", "n_0000000001"}; err != nil || !slices.Equal(names, want) {
			t.Errorf("children are %q, %v; want %q", names, err, want)
		}
	}},
	{"children come in order", func(t *testing.T, b storeBench, root string) {
		on(t, b, "n1").must(created(root+"/c", ""), created(root+"/a", ""), created(root+"/b", ""))
		if names, err := on(t, b, "n1").children(root, nil); err != nil || !slices.Equal(names, []string{"a", "b", "c"}) {
			t.Errorf("children are %q, %v", names, err)
		}
	}},
	{"a watch fires once, at a change, after the answer that left it", func(t *testing.T, b storeBench, root string) {
		on(t, b, "n1").must(created(root+"/x", "1"))
		on(t, b, "n2").sees(root+"/x", "1")
		var story []string
		b.store("n2").Get(root+"/x", func() { story = append(story, "watch") }, func(_ node.Stat, d []byte, _ error) { story = append(story, string(d)) })
		b.await(t, "the first read", func() bool { return len(story) == 1 })
		on(t, b, "n1").must(changed(root+"/x", "2", 0))
		on(t, b, "n1").must(changed(root+"/x", "3", 1))
		b.await(t, "the watch", func() bool { return len(story) > 1 })
		on(t, b, "n2").sees(root+"/x", "3")
		if got := strings.Join(story, " "); got != "1 watch" {
			t.Errorf("n2 was told: %s", got)
		}
	}},
	{"a watch is told of before an answer that shows the change", func(t *testing.T, b storeBench, root string) {
		for i := range 20 {
			path := fmt.Sprint(root, "/x", i)
			on(t, b, "n1").must(created(path, "old"))
			on(t, b, "n2").sees(path, "old")
			fired := false
			if _, data, _ := on(t, b, "n2").get(path, func() { fired = true }); data != "old" {
				t.Fatalf("read %q", data)
			}
			b.store("n1").Multi([]node.StoreOp{changed(path, "new", 0)}, func([]node.Stat, error) {})
			for {
				if _, data, _ := on(t, b, "n2").get(path, nil); data == "new" {
					break
				}
			}
			if !fired {
				t.Fatal("the change was read before the watch was told of")
			}
		}
	}},
	{"the creation of a missing node is watched", func(t *testing.T, b storeBench, root string) {
		fired := 0
		if _, _, err := on(t, b, "n2").get(root+"/x", func() { fired++ }); !errors.Is(err, node.ErrNoNode) {
			t.Fatal(err)
		}
		on(t, b, "n1").must(created(root+"/x", ""))
		b.await(t, "the watch", func() bool { return fired == 1 })
	}},
	{"the deletion of a node is watched", func(t *testing.T, b storeBench, root string) {
		on(t, b, "n1").must(created(root+"/x", "1"))
		on(t, b, "n2").sees(root+"/x", "1")
		data, children := 0, 0
		if _, _, err := on(t, b, "n2").get(root+"/x", func() { data++ }); err != nil {
			t.Fatal(err)
		}
		if _, err := on(t, b, "n2").children(root+"/x", func() { children++ }); err != nil {
			t.Fatal(err)
		}
		on(t, b, "n1").must(deleted(root + "/x"))
		b.await(t, "both watches", func() bool { return data == 1 && children == 1 })
	}},
	{"children are watched for coming and going, not for their data", func(t *testing.T, b storeBench, root string) {
		on(t, b, "n1").must(created(root+"/x", "1"))
		on(t, b, "n2").sees(root+"/x", "1")
		fired := 0
		if _, err := on(t, b, "n2").children(root, func() { fired++ }); err != nil {
			t.Fatal(err)
		}
		on(t, b, "n1").must(changed(root+"/x", "2", 0))
		on(t, b, "n2").sees(root+"/x", "2")
		if fired != 0 {
			t.Error("fired for the data of a child")
		}
		on(t, b, "n1").must(deleted(root + "/x"))
		b.await(t, "the watch", func() bool { return fired == 1 })
	}},
	{"requests are answered in order", func(t *testing.T, b storeBench, root string) {
		var order []int
		c := b.store("n1")
		c.Multi([]node.StoreOp{created(root+"/x", "")}, func([]node.Stat, error) { order = append(order, 0) })
		c.Get(root+"/x", nil, func(_ node.Stat, _ []byte, err error) {
			if err != nil {
				t.Errorf("a read after a write of the same session: %v", err)
			}
			order = append(order, 1)
		})
		c.Children(root, nil, func([]string, error) { order = append(order, 2) })
		b.await(t, "three answers", func() bool { return len(order) == 3 })
		if !slices.IsSorted(order) {
			t.Errorf("answered in the order %v", order)
		}
	}},
	{"an expired session takes its ephemerals and watches with it, and a new one begins", func(t *testing.T, b storeBench, root string) {
		on(t, b, "n1").must(node.StoreOp{Kind: node.Create, Path: root + "/mine", Ephemeral: true})
		on(t, b, "n2").sees(root+"/mine", "")
		gone, dropped := 0, 0
		var sessions []bool
		if _, _, err := on(t, b, "n2").get(root+"/mine", func() { gone++ }); err != nil {
			t.Fatal(err)
		}
		if _, _, err := on(t, b, "n1").get(root+"/other", func() { dropped++ }); !errors.Is(err, node.ErrNoNode) {
			t.Fatal(err)
		}
		b.store("n1").OnSession(func(established bool) { sessions = append(sessions, established) })
		b.expire(t)
		b.await(t, "the ephemeral to go", func() bool { return gone == 1 })
		b.await(t, "a new session", func() bool { return slices.Equal(sessions, []bool{false, true}) })
		on(t, b, "n2").must(created(root+"/other", "x"))
		on(t, b, "n1").sees(root+"/other", "x")
		if dropped != 0 {
			t.Error("a watch outlived its session")
		}
	}},
	{"what waits for a connection fails when the session turns out to have expired", func(t *testing.T, b storeBench, root string) {
		var story []string
		b.store("n1").OnSession(func(established bool) { story = append(story, fmt.Sprint(established)) })
		b.expire(t)
		answered := 0
		// The first may have met the connection's end, which leaves it unknown.
		for range 2 {
			b.store("n1").Multi([]node.StoreOp{created(root+"/x", "")}, func(_ []node.Stat, err error) {
				switch answered++; {
				case errors.Is(err, node.ErrExpired):
					story = append(story, "expired")
				case errors.Is(err, node.ErrSession):
					answered--
					b.store("n1").Multi([]node.StoreOp{created(root+"/x", "")}, func(_ []node.Stat, err error) {
						answered++
						story = append(story, "expired")
						if !errors.Is(err, node.ErrExpired) {
							t.Errorf("asked again: %v", err)
						}
					})
				default:
					t.Errorf("a write in an expired session: %v", err)
				}
			})
		}
		b.await(t, "a new session", func() bool { return answered == 2 && len(story) == 4 })
		if got := strings.Join(story, " "); got != "false expired expired true" && got != "false true expired expired" {
			t.Errorf("n1 was told: %s", got)
		}
		if _, _, err := on(t, b, "n1").get(root+"/x", nil); !errors.Is(err, node.ErrNoNode) {
			t.Errorf("a write of the expired session was done: %v", err)
		}
	}},
}

func holdStoreRules(t *testing.T, bench func(t *testing.T) storeBench) {
	b := bench(t)
	for i, r := range storeRules {
		t.Run(r.rule, func(t *testing.T) {
			root := fmt.Sprint("/r", i)
			on(t, b, "n1").must(created(root, ""))
			on(t, b, "n2").sees(root, "")
			r.hold(t, b, root)
			b.store("n1").OnSession(func(bool) {})
		})
	}
}

// simBench is the store of the simulator.
type simBench struct{ world *sim.World }

type idle struct{ env node.Env }

func (idle) Start()                                            {}
func (idle) Receive(node.ID, node.Message, func(node.Message)) {}

func (b simBench) store(name string) node.Store {
	return b.world.Machine(node.ID(name)).(idle).env.Store()
}

func (b simBench) await(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for until := b.world.Now() + time.Minute; !cond(); {
		if !b.world.Step() || b.world.Now() > until {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func (b simBench) expire(*testing.T) { b.world.Store().ExpireSession("n1") }

func TestTheSimulatorsStoreKeepsTheRules(t *testing.T) {
	holdStoreRules(t, func(t *testing.T) storeBench {
		w := sim.New(sim.Config{Seed: 1, Store: &sim.StoreConfig{SessionTimeout: 3 * time.Second}})
		for _, id := range []node.ID{"n1", "n2"} {
			if err := w.Add(id, func(env node.Env) node.Machine { return idle{env} }); err != nil {
				t.Fatal(err)
			}
		}
		w.Run(time.Second)
		return simBench{w}
	})
}

// realBench is a real ensemble behind links that can be cut. Its loop runs on
// the test's goroutine, in await.
type realBench struct {
	loop   chan func()
	stores map[string]*Store
	mesh   *links.Mesh
	peers  []string
}

func (b *realBench) store(name string) node.Store { return b.stores[name] }

func (b *realBench) await(t *testing.T, what string, cond func() bool) {
	t.Helper()
	timeout := time.After(30 * time.Second)
	for !cond() {
		select {
		case f := <-b.loop:
			f()
		case <-timeout:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// expire keeps n1 from the servers until they have lost patience.
func (b *realBench) expire(t *testing.T) {
	t.Helper()
	path := fmt.Sprint("/expire-", time.Now().UnixNano())
	on(t, b, "n1").must(node.StoreOp{Kind: node.Create, Path: path, Ephemeral: true})
	on(t, b, "n2").sees(path, "")
	gone := false
	if _, _, err := on(t, b, "n2").get(path, func() { gone = true }); err != nil {
		t.Fatal(err)
	}
	b.each(t, b.mesh.Cut)
	b.await(t, "the servers to lose patience", func() bool { return gone })
	b.each(t, b.mesh.Heal)
}

func (b *realBench) each(t *testing.T, f func(from, to string) error) {
	t.Helper()
	for _, p := range b.peers {
		if err := errors.Join(f("n1", p), f(p, "n1")); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAnEnsembleKeepsTheRules(t *testing.T) {
	e := launchTest(t, Options{})
	leaderAndFollowers(t, e)
	holdStoreRules(t, func(t *testing.T) storeBench {
		b := &realBench{loop: make(chan func(), 1<<16), stores: map[string]*Store{}, peers: e.Nodes()}
		b.mesh = links.New(append([]string{"n1", "n2"}, b.peers...)...)
		t.Cleanup(func() { b.mesh.Close() })
		for _, name := range []string{"n1", "n2"} {
			var addresses []string
			for _, p := range b.peers {
				port, err := b.mesh.Open(links.Route{From: name, To: p, Target: e.ClientAddr(p)})
				if err != nil {
					t.Fatal(err)
				}
				addresses = append(addresses, net.JoinHostPort("127.0.0.1", fmt.Sprint(port)))
			}
			s := OpenStore(addresses, 2*testTick, func(f func()) { b.loop <- f })
			t.Cleanup(func() { s.Close() })
			b.stores[name] = s
		}
		return b
	})
}

func TestAStoreWithoutServersCloses(t *testing.T) {
	defer goleak.VerifyNone(t)
	s := OpenStore([]string{"127.0.0.1:1", "127.0.0.1:2"}, time.Second, func(func()) { t.Error("told of something") })
	s.Get("/", nil, func(node.Stat, []byte, error) {})
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
