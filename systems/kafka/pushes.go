package kafka

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/stalemate-io/stalemate/systems"
	"github.com/stalemate-io/stalemate/systems/links"
	"github.com/stalemate-io/stalemate/systems/node"
)

var _ systems.Pushing = (*Cluster)(nil)

// holds are the pushes that are to be held back, by whom they are for.
type holds struct {
	mu   sync.Mutex
	next map[node.ID]time.Duration
}

// Pushed lists the brokers that a controller pushes metadata to: all in ZooKeeper
// mode, and none of the log, nor where no proxy could hold anything back.
func (c *Cluster) Pushed() []string {
	if c.options.Mode != ZooKeeper || !c.proxied() {
		return nil
	}
	return c.Nodes()
}

// HoldPush has the next UpdateMetadata to a broker arrive d late. The controller takes
// it for lost after Options.PushTimeout, connects anew and goes on.
func (c *Cluster) HoldPush(to string, d time.Duration) error {
	if !slices.Contains(c.Pushed(), to) {
		return fmt.Errorf("nothing is pushed to %q that could be held back: want one of %q", to, c.Pushed())
	}
	c.holds.mu.Lock()
	defer c.holds.mu.Unlock()
	if c.holds.next == nil {
		c.holds.next = map[node.ID]time.Duration{}
	}
	c.holds.next[node.ID(to)] = d
	return nil
}

// keyUpdateMetadata is the key of the request by which metadata is pushed. A frame of
// Kafka's protocol begins with the key.
const keyUpdateMetadata = 6

// on gives what judges the frames to a broker.
func (h *holds) on(to node.ID) func(frame []byte) links.Fate {
	return func(frame []byte) links.Fate {
		if len(frame) < 2 || binary.BigEndian.Uint16(frame) != keyUpdateMetadata {
			return links.Fate{}
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		d := h.next[to]
		delete(h.next, to)
		return links.Fate{Delay: d}
	}
}
