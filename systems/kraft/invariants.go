package kraft

import (
	"fmt"
	"time"

	"github.com/stalemate-io/stalemate/systems/kraft/metadata"
	"github.com/stalemate-io/stalemate/systems/kraft/raft"
	"github.com/stalemate-io/stalemate/systems/node"
)

// Invariants asserts, step by step, what the design promises whatever happens:
// the safety of the metadata log (raft.Watch), and that two nodes which have
// applied the log up to the same offset have the same image, so that brokers can
// be behind one another but never disagree.
type Invariants struct {
	*raft.Watch
	images map[int64]sighting // by offset
	nodes  map[node.ID]*looked
}

// looked is how far one node, in one boot, has been looked at.
type looked struct {
	machine node.Machine
	offset  int64
}

type sighting struct {
	fingerprint uint64
	by          node.ID
}

// NewInvariants begins to watch a cluster that has not run yet.
func NewInvariants() *Invariants {
	return &Invariants{
		Watch: raft.NewWatch(), images: map[int64]sighting{}, nodes: map[node.ID]*looked{},
	}
}

// Check looks at one node, of which it accepts machines of any kind, and says
// which invariant it breaks, if any. It is cheap where nothing has changed, so
// that it can be called after every step for the node that has moved.
func (v *Invariants) Check(now time.Duration, id node.ID, m node.Machine) error {
	var image *metadata.Image
	var replica *raft.Replica
	var err error
	switch m := m.(type) {
	case *Controller:
		image, replica, err = m.image, m.replica, m.Err()
	case *Broker:
		image, replica, err = m.image, m.replica, m.Err()
	default:
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s has stopped: %w", id, err)
	}
	if err := v.Observe(now, replica); err != nil {
		return err
	}
	l := v.nodes[id]
	if l == nil || l.machine != m {
		l = &looked{machine: m}
		v.nodes[id] = l
	}
	if l.offset == image.Offset {
		return nil
	}
	if image.Offset < l.offset {
		return fmt.Errorf("image of %s went back from offset %d to %d", id, l.offset, image.Offset)
	}
	l.offset = image.Offset
	f := image.Fingerprint()
	if s, ok := v.images[image.Offset]; ok && s.fingerprint != f {
		return fmt.Errorf("images differ: %s and %s have both applied the log up to offset %d", id, s.by, image.Offset)
	}
	v.images[image.Offset] = sighting{f, id}
	return nil
}
