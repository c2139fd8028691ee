package kafka

import (
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/systems/local"
	"github.com/stalemate-io/stalemate/systems/node"
)

func TestOnePushIsHeldBack(t *testing.T) {
	if !local.TellsDiallers {
		t.Skip("there are no proxies here that could hold it back")
	}
	c := &Cluster{options: Options{Mode: ZooKeeper}, ids: []node.ID{"b1", "b2"}}
	late := func(to node.ID, key byte) time.Duration { return c.holds.on(to)([]byte{0, key, 0, 8}).Delay }
	must(t, c.HoldPush("b2", time.Second))
	for _, tt := range []struct {
		rule string
		to   node.ID
		key  byte
		want time.Duration
	}{
		{"pushes to others pass", "b1", keyUpdateMetadata, 0},
		{"so do other requests", "b2", 4, 0},
		{"the next push is late", "b2", keyUpdateMetadata, time.Second},
		{"and the one after it is not", "b2", keyUpdateMetadata, 0},
	} {
		if got := late(tt.to, tt.key); got != tt.want {
			t.Errorf("%s: held for %v", tt.rule, got)
		}
	}
	must(t, c.HoldPush("b2", time.Second))
	must(t, c.HoldPush("b2", 0))
	if got := late("b2", keyUpdateMetadata); got != 0 {
		t.Errorf("a hold that was taken back: held for %v", got)
	}
	if c.HoldPush("b3", time.Second) == nil {
		t.Error("a push to nobody is held back")
	}
	c.options.Mode = KRaft
	if c.HoldPush("b2", time.Second) == nil {
		t.Error("a push is held back where none are sent")
	}
}
