package kraft

import (
	"fmt"

	"github.com/stalemate-io/stalemate/systems/kraft/metadata"
)

// checkInSync asserts what in-sync replicas are for: each of them that is registered,
// in the incarnation that is, holds every record below the high watermark of the
// partition's leader, so that no election among them loses one. A replica that
// has restarted and not registered yet may have lost some: nobody elects it. The
// brokers are those that are up.
func checkInSync(brokers []*Broker) error {
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
				if err := holds(f, p); err != nil {
					return fmt.Errorf("in-sync replicas: %w", err)
				}
			}
		}
	}
	return nil
}

// holds says what a broker's copy of a partition lacks of what is committed at
// its leader.
func holds(b *Broker, leader *partition) error {
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
