package push

import (
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/sim"
)

func TestBoot(t *testing.T) {
	c := newCluster3x5(t, 1, nil)
	c.settle()
	t.Log(c.w.Now(), c.w.Events(), c.active())
	start := time.Now()
	e := c.w.Events()
	c.w.Run(60 * time.Second)
	t.Log(c.w.Events()-e, time.Since(start))
	truth, err := Truth(c.w.Store().Log())
	t.Log(len(truth), err)
	for _, id := range []node.ID{"b1", "b2", "c1", "c2", "c3"} {
		c.w.Crash(id)
		c.w.Run(c.w.Now() + 20*time.Second)
		c.w.Restart(id)
		c.settle()
		t.Log(id, c.w.Now(), c.active())
	}
	_ = sim.Config{}
}
