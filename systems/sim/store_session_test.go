package sim

import (
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
)

func TestSessionNeverGoesBack(t *testing.T) {
	w := storeWorld(t, 1, 1)
	servers := w.Store().Servers()
	s := probeOf(w, "p1").env.(*env).session
	mine := servers[s.server]
	for _, id := range servers {
		if id != mine {
			must(t, w.Schedule([]Fault{{Kind: "store-lag", Nodes: []node.ID{id}, Amount: 2 * time.Second, At: w.Now()}}, 0))
		}
	}
	w.Run(w.Now() + time.Millisecond)
	_, err := multi(t, w, "p1", create("/a", "new"))
	must(t, err)
	written := w.Now()
	w.Crash(mine)
	await(t, w, "the loss of the connection", func() bool { return !s.up })
	var data []byte
	done := false
	s.Get("/a", nil, func(_ node.Stat, d []byte, err error) { data, done = d, err == nil })
	await(t, w, "an answer to the read", func() bool { return done })
	if string(data) != "new" {
		t.Errorf("another server answered %q, though the session had written %q", data, "new")
	}
	if w.Now()-written < time.Second {
		t.Errorf("the other servers lag 2 s and answered after %v", w.Now()-written)
	}
}

func TestWatchTellsWhatHappenedDuringACut(t *testing.T) {
	for _, c := range []struct {
		rule     string
		path     string
		children bool
		write    node.StoreOp
		fires    bool
	}{
		{"a change", "/a", false, set("/a", "x", node.AnyVersion), true},
		{"a creation", "/b", false, create("/b", ""), true},
		{"a deletion", "/c", false, node.StoreOp{Kind: node.Delete, Path: "/c", Version: node.AnyVersion}, true},
		{"a new child", "/a", true, create("/a/x", ""), true},
		{"the end of the parent", "/c", true, node.StoreOp{Kind: node.Delete, Path: "/c", Version: node.AnyVersion}, true},
		{"nothing of its own", "/a", false, set("/c", "x", node.AnyVersion), false},
		{"a change of the parent, which is none of its children", "/a", true, set("/a", "x", node.AnyVersion), false},
	} {
		t.Run(c.rule, func(t *testing.T) {
			w := storeWorld(t, 1, 1)
			_, err := multi(t, w, "p1", create("/a", ""), create("/c", ""))
			must(t, err)
			p, fired := probeOf(w, "p1"), 0
			if c.children {
				p.env.Store().Children(c.path, func() { fired++ }, func([]string, error) {})
			} else {
				p.env.Store().Get(c.path, func() { fired++ }, func(node.Stat, []byte, error) {})
			}
			w.Run(w.Now() + time.Second)
			must(t, w.Schedule([]Fault{{Kind: "isolate-node", Nodes: []node.ID{"p1"}, At: w.Now(), For: 1300 * time.Millisecond}}, 0))
			w.Run(w.Now() + 100*time.Millisecond)
			if _, err := w.Store().Write(c.write); err != nil {
				t.Fatal(err)
			}
			w.Run(w.Now() + time.Second)
			if fired != 0 {
				t.Fatal("the watch fired through the cut")
			}
			w.Run(w.Now() + 10*time.Second)
			if len(p.sessions) != 1 {
				t.Fatalf("the session did not outlast the cut: %v", p.sessions)
			}
			if want := map[bool]int{true: 1}[c.fires]; fired != want {
				t.Errorf("the watch fired %d times; want %d", fired, want)
			}
		})
	}
}
