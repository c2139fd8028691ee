package zookeeper

import (
	"fmt"
	"testing"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems"
)

// What real servers logged is what they acknowledged, in the order of their
// versions, also over the kill of a server and while the others went on.
func TestLogOfRealServers(t *testing.T) {
	e := launchTest(t, Options{})
	r := NewRegisters([]Server{{"zk2", e.ClientAddr("zk2")}}, "log", 0)
	if o := r.Create(t.Context(), "r0", histories.Int(0)); o.Type != histories.OK {
		t.Fatal(o.Err)
	}
	reader, err := r.Open(t.Context(), "zk2", PathWrite) // makes a znode of its own
	if err != nil {
		t.Fatal(err)
	}
	writer, err := r.Open(t.Context(), "zk2", "")
	if err != nil {
		t.Fatal(err)
	}
	want := "r0=0v0"
	write := func(n int64) {
		t.Helper()
		o := writer.Invoke(t.Context(), systems.Op{F: "write", Key: "r0", Value: histories.Int(n)})
		if o.Type != histories.OK {
			t.Fatal(o.Err)
		}
		want += fmt.Sprintf(" r0=%dv%s", n, o.Version)
		if o := reader.Invoke(t.Context(), systems.Op{F: "read", Key: "r0", Path: PathWrite}); o.Value != histories.Int(n) {
			t.Fatalf("read %v, wrote %d", o, n)
		}
	}
	for n := range int64(20) {
		if n == 10 {
			if err := e.Kill(t.Context(), "zk1"); err != nil {
				t.Fatal(err)
			}
		}
		write(n + 1)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	log, err := Log(e.DataDirs(), r.Root())
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, w := range log.Writes {
		got += fmt.Sprintf(" %s=%sv%s", w.Key, w.Value, w.Version)
		if w.Uncertain {
			got += "?"
		}
	}
	if got[1:] != want {
		t.Errorf("logged\n%s\nacknowledged\n%s", got[1:], want)
	}
	for _, c := range []systems.Client{reader, writer} {
		c.Close()
	}
}
