package sim

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
	"pgregory.net/rapid"
)

// probe is a node that does nothing but hold a session with the store.
type probe struct {
	env      node.Env
	sessions []bool // what OnSession told
}

func (p *probe) Start() {
	p.env.Store().OnSession(func(established bool) { p.sessions = append(p.sessions, established) })
}

func (p *probe) Receive(node.ID, node.Message, func(node.Message)) {}

// storeWorld is a store with probes p1, p2, …
func storeWorld(t rapid.TB, seed uint64, probes int) *World {
	t.Helper()
	w := New(Config{Seed: seed, Store: &StoreConfig{SessionTimeout: 3 * time.Second, Lag: LogNormal(20*time.Millisecond, 1)}})
	for i := range probes {
		if err := w.Add(node.ID(fmt.Sprint("p", i+1)), func(env node.Env) node.Machine { return &probe{env: env} }); err != nil {
			t.Fatal(err)
		}
	}
	w.Run(time.Second)
	return w
}

func probeOf(w *World, id node.ID) *probe { return w.Machine(id).(*probe) }

// multi has a probe write, and waits for the answer.
func multi(t testing.TB, w *World, id node.ID, ops ...node.StoreOp) ([]node.Stat, error) {
	t.Helper()
	var stats []node.Stat
	var err error
	done := false
	probeOf(w, id).env.Store().Multi(ops, func(s []node.Stat, e error) { stats, err, done = s, e, true })
	await(t, w, "the store's answer", func() bool { return done })
	return stats, err
}

// await lets the world go on until something is the case.
func await(t testing.TB, w *World, what string, cond func() bool) {
	t.Helper()
	for until := w.Now() + time.Minute; !cond(); {
		if !w.Step() || w.Now() > until {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func create(path, data string) node.StoreOp {
	return node.StoreOp{Kind: node.Create, Path: path, Data: []byte(data)}
}

func set(path, data string, version int32) node.StoreOp {
	return node.StoreOp{Kind: node.Set, Path: path, Data: []byte(data), Version: version}
}

func TestMultiRules(t *testing.T) {
	for _, c := range []struct {
		rule   string
		before []node.StoreOp
		ops    []node.StoreOp
		index  int // of the operation that is refused
		err    error
	}{
		{rule: "a parent must exist", ops: []node.StoreOp{create("/a/b", "")}, err: node.ErrNoNode},
		{rule: "a node is created once", before: []node.StoreOp{create("/a", "")}, ops: []node.StoreOp{create("/a", "")}, err: node.ErrNodeExists},
		{rule: "an operation sees those before it", ops: []node.StoreOp{create("/a", ""), create("/a/b", ""), set("/a/b", "x", 0), set("/a/b", "y", 1)}},
		{rule: "a version must fit", before: []node.StoreOp{create("/a", "")}, ops: []node.StoreOp{create("/b", ""), set("/a", "x", 1)}, index: 1, err: node.ErrBadVersion},
		{rule: "a check changes nothing and must hold", before: []node.StoreOp{create("/a", "")}, ops: []node.StoreOp{{Kind: node.Check, Path: "/a", Version: 1}}, err: node.ErrBadVersion},
		{rule: "a node with children stays", before: []node.StoreOp{create("/a", ""), create("/a/b", "")}, ops: []node.StoreOp{{Kind: node.Delete, Path: "/a", Version: node.AnyVersion}}, err: node.ErrNotEmpty},
		{rule: "a node whose children go first can go", before: []node.StoreOp{create("/a", ""), create("/a/b", "")}, ops: []node.StoreOp{{Kind: node.Delete, Path: "/a/b", Version: 0}, {Kind: node.Delete, Path: "/a", Version: 0}}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			w := storeWorld(t, 1, 1)
			if c.before != nil {
				_, err := multi(t, w, "p1", c.before...)
				must(t, err)
			}
			log := len(w.Store().Log())
			stats, err := multi(t, w, "p1", c.ops...)
			var refused *node.OpError
			switch {
			case !errors.Is(err, c.err):
				t.Fatalf("error is %v; want %v", err, c.err)
			case c.err == nil && len(stats) != len(c.ops):
				t.Fatalf("%d stats for %d operations", len(stats), len(c.ops))
			case c.err != nil && (!errors.As(err, &refused) || refused.Index != c.index):
				t.Fatalf("error %q does not say that operation %d was refused", err, c.index)
			case c.err != nil && len(w.Store().Log()) != log:
				t.Fatal("a refused write is in the log")
			}
		})
	}
}

func TestSequentialNodesGoOnCounting(t *testing.T) {
	w := storeWorld(t, 1, 1)
	_, err := multi(t, w, "p1", create("/q", ""))
	must(t, err)
	next := node.StoreOp{Kind: node.Create, Path: "/q/n_", Sequential: true}
	_, err = multi(t, w, "p1", next, next)
	must(t, err)
	_, err = multi(t, w, "p1", node.StoreOp{Kind: node.Delete, Path: "/q/n_0000000001", Version: 0})
	must(t, err)
	_, err = multi(t, w, "p1", next)
	must(t, err)
	if got, want := w.Store().tree.childrenAt("/q", w.Store().zxid), []string{"n_0000000000", "n_0000000002"}; !slices.Equal(got, want) {
		t.Errorf("children are %q; want %q", got, want)
	}
}

// TestPausedNodeLosesItsSessionUnawares is how zombies are made.
func TestPausedNodeLosesItsSessionUnawares(t *testing.T) {
	w := storeWorld(t, 1, 2)
	_, err := multi(t, w, "p1", node.StoreOp{Kind: node.Create, Path: "/boss", Ephemeral: true})
	must(t, err)
	told := 0
	probeOf(w, "p2").env.Store().Get("/boss", func() { told++ }, func(node.Stat, []byte, error) {})
	w.Run(w.Now() + time.Second)
	w.Pause("p1")
	w.Run(w.Now() + 10*time.Second)
	if _, _, exists := w.Store().Get("/boss"); exists || told != 1 {
		t.Fatalf("the ephemeral exists: %v; the watch fired %d times", exists, told)
	}
	log := w.Store().Log()
	if last := log[len(log)-1]; !last.Expiry || last.By != "p1" {
		t.Fatalf("the last write is %+v; want the expiry of p1's session", last)
	}
	p := probeOf(w, "p1")
	if !slices.Equal(p.sessions, []bool{true}) {
		t.Fatalf("the paused node was told %v", p.sessions)
	}
	var failed error
	p.env.Store().Get("/", nil, func(_ node.Stat, _ []byte, err error) { failed = err })
	w.Resume("p1")
	if len(p.sessions) != 1 {
		t.Fatal("the node knew at the very moment it woke up")
	}
	await(t, w, "a new session", func() bool { return len(p.sessions) == 3 })
	if !slices.Equal(p.sessions, []bool{true, false, true}) || failed == nil {
		t.Fatalf("the node was told %v, and its request ended with %v", p.sessions, failed)
	}
}

func TestWriteThatMeetsACutHasAnUnknownOutcome(t *testing.T) {
	w := storeWorld(t, 1, 1)
	must(t, w.Schedule([]Fault{{Kind: "cut-one-way", Nodes: []node.ID{"s1", "s2", "s3"}, Peers: []node.ID{"p1"}, At: w.Now(), For: 4 * time.Second}}, 0))
	w.Run(w.Now() + time.Millisecond)
	_, err := multi(t, w, "p1", create("/a", ""))
	if !errors.Is(err, node.ErrSession) {
		t.Fatalf("error is %v; want %v", err, node.ErrSession)
	}
	if _, _, exists := w.Store().Get("/a"); !exists {
		t.Error("the write did not take effect, though only the answer was lost")
	}
}

// TestShortCutLeavesNoRequestWithoutAnswer: a connection on which something was
// lost must not go on as if nothing had happened.
func TestShortCutLeavesNoRequestWithoutAnswer(t *testing.T) {
	for seed := range uint64(200) {
		w := storeWorld(t, seed, 1)
		cut := Fault{Kind: "halves", Nodes: []node.ID{"p1"}, Peers: []node.ID{"s1", "s2", "s3"}, At: w.Now() + 50*time.Millisecond, For: time.Duration(1+seed) * 5 * time.Millisecond}
		must(t, w.Schedule([]Fault{cut}, 0))
		asked, answered := 0, 0
		for range 30 {
			asked++
			probeOf(w, "p1").env.Store().Get("/", nil, func(node.Stat, []byte, error) { answered++ })
			w.Run(w.Now() + 10*time.Millisecond)
		}
		w.Run(w.Now() + 10*time.Second)
		if answered != asked {
			t.Fatalf("seed %d: %d of %d requests were answered", seed, answered, asked)
		}
	}
}

func TestServersOfTheStoreCrashAndCatchUp(t *testing.T) {
	w := storeWorld(t, 3, 3)
	for _, s := range w.Store().Servers()[:2] {
		w.Crash(s)
	}
	for i, id := range []node.ID{"p1", "p2", "p3"} {
		_, err := multi(t, w, id, create(fmt.Sprint("/", i), ""))
		for errors.Is(err, node.ErrSession) {
			_, err = multi(t, w, id, create(fmt.Sprint("/", i), ""))
		}
		if err != nil && !errors.Is(err, node.ErrNodeExists) {
			t.Fatal(err)
		}
	}
	for _, s := range w.Store().Servers() {
		w.Restart(s)
	}
	for _, server := range w.Store().servers[:2] {
		if server.applied != w.Store().zxid {
			t.Errorf("%s came back with %d of %d writes", server.host.id, server.applied, w.Store().zxid)
		}
	}
}

// TestStoreAgainstAMap has probes read, write and watch at random under cuts,
// crashes, pauses and lag, and compares all they saw with a plain map to which
// the log was applied.
func TestStoreAgainstAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := storeWorld(t, rapid.Uint64().Draw(t, "seed"), 3)
		j := &judge{t: t, w: w, seen: map[sitting]int64{}, writes: map[int64]int{}}
		ids := []node.ID{"p1", "p2", "p3"}
		paths := []string{"/a", "/b", "/a/x", "/a/y"}
		steps := rapid.IntRange(1, 60).Draw(t, "steps")
		for range steps {
			id := rapid.SampledFrom(ids).Draw(t, "who")
			path := rapid.SampledFrom(paths).Draw(t, "path")
			switch rapid.IntRange(0, 11).Draw(t, "what") {
			case 0, 1, 2:
				j.get(id, path)
			case 3:
				j.children(id, "/a")
			case 4, 5, 6:
				ops := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) node.StoreOp {
					return node.StoreOp{
						Kind:      rapid.SampledFrom([]node.StoreOpKind{node.Create, node.Create, node.Set, node.Set, node.Delete, node.Check}).Draw(t, "kind"),
						Path:      rapid.SampledFrom(paths).Draw(t, "path"),
						Data:      []byte(rapid.StringN(0, 2, -1).Draw(t, "data")),
						Version:   rapid.Int32Range(-1, 2).Draw(t, "version"),
						Ephemeral: rapid.Bool().Draw(t, "ephemeral"),
					}
				}), 1, 3).Draw(t, "ops")
				j.write(id, ops)
			case 7:
				p := Profile{Kinds: []string{"halves", "isolate-node", "cut-one-way", "lose", "slow-link", "hold-link", "pause-node", "store-lag", "kill-node", "expire-session"},
					Nodes: ids, Servers: w.Store().Servers(), From: w.Now(), Until: w.Now() + 2*time.Second, Every: time.Second, For: 2 * time.Second}
				if err := w.Schedule(p.Schedule(rapid.Uint64().Draw(t, "faults")), 0); err != nil {
					t.Fatal(err)
				}
			case 8:
				server := rapid.SampledFrom(w.Store().Servers()).Draw(t, "server")
				w.Crash(server)
				w.At(w.Now()+time.Second, func() { w.Restart(server) })
			default:
				w.Run(w.Now() + time.Duration(rapid.IntRange(0, 1000).Draw(t, "ms"))*time.Millisecond)
			}
		}
		w.Heal()
		w.Run(w.Now() + 20*time.Second)
		j.verdict()
	})
}

// judge compares what probes see with the log.
type judge struct {
	t      *rapid.T
	w      *World
	seen   map[sitting]int64 // a lower bound of what each session has seen
	states []map[string]revision
	writes map[int64]int // how many changes were confirmed, by zxid
}

// sitting is one session of one life of a node.
type sitting struct {
	p       *probe
	session int
}

func (j *judge) up(id node.ID) *probe {
	p, _ := j.w.Machine(id).(*probe)
	return p
}

// replay gives the states after each write so far, by its zxid.
func (j *judge) replay() []map[string]revision {
	if j.states == nil {
		j.states = []map[string]revision{{}}
	}
	for _, txn := range j.w.Store().Log() {
		last := len(j.states) - 1
		if txn.Zxid <= int64(last) {
			continue
		}
		for int64(last) < txn.Zxid-1 { // writes without a change
			j.states = append(j.states, j.states[last])
			last++
		}
		next := map[string]revision{}
		for p, r := range j.states[last] {
			next[p] = r
		}
		for _, c := range txn.Changes {
			_, exists := next[c.Path]
			switch c.Kind {
			case node.Delete:
				delete(next, c.Path)
			default:
				if exists != (c.Kind == node.Set) {
					j.t.Fatalf("write %d: %v of %s, which exists: %v", txn.Zxid, c.Kind, c.Path, exists)
				}
				next[c.Path] = revision{exists: true, data: c.Data, stat: c.Stat}
			}
		}
		j.states = append(j.states, next)
	}
	for int64(len(j.states)) <= j.w.Store().zxid {
		j.states = append(j.states, j.states[len(j.states)-1])
	}
	return j.states
}

// agree requires that some state not older than what the session has seen is
// as it was read, and returns the oldest.
func (j *judge) agree(p *probe, what string, same func(map[string]revision) bool) {
	states, s := j.replay(), sitting{p, len(p.sessions)}
	for z := j.seen[s]; z < int64(len(states)); z++ {
		if same(states[z]) {
			j.seen[s] = z
			return
		}
	}
	j.t.Fatalf("%s read %s as it never was since write %d, which it has seen", p.env.Self(), what, j.seen[s])
}

// renewed starts over with what a session has seen once it is a new one.
func (j *judge) renewed(p *probe, before int) bool { return len(p.sessions) != before }

func (j *judge) get(id node.ID, path string) {
	p := j.up(id)
	if p == nil {
		return
	}
	life := len(p.sessions)
	var was node.Stat
	left, fired := false, false
	watch := func() { fired = true }
	p.env.Store().Get(path, watch, func(stat node.Stat, data []byte, err error) {
		if err != nil && !errors.Is(err, node.ErrNoNode) || j.renewed(p, life) {
			return
		}
		was, left = stat, true
		j.agree(p, path, func(state map[string]revision) bool {
			r := state[path]
			return r.exists == (err == nil) && r.stat == stat && string(r.data) == string(data)
		})
		// Ask again: newer data must not be seen before the watch fires.
		p.env.Store().Get(path, nil, func(stat node.Stat, _ []byte, err error) {
			if err != nil && !errors.Is(err, node.ErrNoNode) || j.renewed(p, life) {
				return
			}
			if left && stat != was && !fired {
				j.t.Fatalf("%s saw a change of %s before its watch fired", id, path)
			}
		})
	})
}

func (j *judge) children(id node.ID, path string) {
	p := j.up(id)
	if p == nil {
		return
	}
	life := len(p.sessions)
	p.env.Store().Children(path, nil, func(names []string, err error) {
		if err != nil && !errors.Is(err, node.ErrNoNode) || j.renewed(p, life) {
			return
		}
		j.agree(p, "the children of "+path, func(state map[string]revision) bool {
			var want []string
			for child := range state {
				if parent, name := split(child); parent == path {
					want = append(want, name)
				}
			}
			slices.Sort(want)
			return state[path].exists == (err == nil) && slices.Equal(names, want)
		})
	})
}

func (j *judge) write(id node.ID, ops []node.StoreOp) {
	p := j.up(id)
	if p == nil {
		return
	}
	life := len(p.sessions)
	p.env.Store().Multi(ops, func(stats []node.Stat, err error) {
		if err != nil {
			return
		}
		for i, op := range ops {
			if op.Kind != node.Create && op.Kind != node.Set {
				continue
			}
			zxid := stats[i].Mzxid
			if j.writes[zxid]++; !j.renewed(p, life) {
				s := sitting{p, life}
				j.seen[s] = max(j.seen[s], zxid)
			}
		}
	})
}

func (j *judge) verdict() {
	states := j.replay()
	for _, txn := range j.w.Store().Log() {
		made, confirmed := 0, j.writes[txn.Zxid]
		for _, c := range txn.Changes {
			if c.Kind != node.Delete {
				made++
			}
		}
		if confirmed != 0 && confirmed != made {
			j.t.Fatalf("write %d changed %d nodes and was confirmed for %d", txn.Zxid, made, confirmed)
		}
		delete(j.writes, txn.Zxid)
	}
	if len(j.writes) > 0 {
		j.t.Fatalf("writes were confirmed that the log does not have: %v", j.writes)
	}
	for path, r := range states[len(states)-1] {
		stat, data, exists := j.w.Store().Get(path)
		if !exists || stat != r.stat || string(data) != string(r.data) {
			j.t.Fatalf("%s is %v %q; the log says %v %q", path, stat, data, r.stat, r.data)
		}
	}
	for _, server := range j.w.Store().servers {
		if server.applied != j.w.Store().zxid {
			j.t.Fatalf("%s has applied %d of %d writes", server.host.id, server.applied, j.w.Store().zxid)
		}
	}
	for _, id := range j.w.Nodes() {
		if p := j.up(id); p == nil || !p.env.(*env).session.up {
			j.t.Fatalf("%s has no session after everything was healed", id)
		}
	}
}
