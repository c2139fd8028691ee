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

// CheckInSync asserts what in-sync replicas are for: each of them that is registered,
// in the incarnation that is, holds every record below the high watermark of the
// partition's leader, so that no election among them loses one. A replica that
// has restarted and not registered yet may have lost some: nobody elects it. The
// brokers are those that are up.
func CheckInSync(brokers []*Broker) error {
	var newest *metadata.Image
	up := map[int32]*Broker{}
	for _, b := range brokers {
		up[b.id] = b
		if newest == nil || b.image.Offset > newest.Offset {
			newest = b.image
		}
	}
	for _, leader := range brokers {
		for _, p := range leader.roles.hosted {
			s := newest.Partition(p.state.Partition)
			if !p.leads() || s == nil || s.LeaderEpoch != p.state.LeaderEpoch {
				continue // it leads no more, and may not know
			}
			if p.state.PartitionEpoch > s.PartitionEpoch {
				s = p.state // as the controller has told it ahead of the log
			}
			for _, id := range s.ISR {
				f, r := up[id], newest.Broker(id)
				if f == nil || r == nil || r.Fenced || r.Epoch != f.epoch {
					continue
				}
				if err := f.holds(p); err != nil {
					return fmt.Errorf("in-sync replicas: %w", err)
				}
			}
		}
	}
	return nil
}

// holds says what a broker's copy of a partition lacks of what is committed at
// its leader.
func (b *Broker) holds(leader *partition) error {
	if leader.hw == 0 || b == leader.b {
		return nil
	}
	p := b.roles.byName[leader.state.Partition]
	end := int64(0)
	if p != nil {
		end = p.log.End()
	}
	if end < leader.hw {
		return fmt.Errorf("broker %d is in sync with %s, whose high watermark is %d, and holds %d records", b.id, leader.state.Key, leader.hw, end)
	}
	if mine, theirs := p.log.Before(leader.hw), leader.log.Before(leader.hw); mine == nil || theirs == nil || !mine.Equal(theirs) {
		return fmt.Errorf("broker %d is in sync with %s and has another record than its leader below the high watermark %d", b.id, leader.state.Key, leader.hw)
	}
	return nil
}
