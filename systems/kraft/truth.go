package kraft

import (
	"fmt"
	"time"

	"github.com/stalemate-io/stalemate/systems/kraft/metadata"
	"github.com/stalemate-io/stalemate/systems/kraft/raft"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// Change is a change of leadership that the metadata log committed.
type Change struct {
	Partition   protocol.Partition
	Leader      int32 // protocol.NoLeader for none
	LeaderEpoch int32
	// Offset is that of the record: the Version of the answer to whoever
	// asked for the change, if anybody did.
	Offset int64
	// Appended and Committed bound the time at which the change took effect:
	// when the record was first seen in a log, and first seen committed.
	Appended, Committed time.Duration
}

// Truth gives every change of leadership in a committed log, in its order: those
// that a client asked for and those that happened by themselves. The log is that
// of Invariants.Committed, from offset 0 on.
func Truth(log []raft.Committed) ([]Change, error) {
	m := metadata.NewImage()
	epochs := map[protocol.Partition]int32{}
	var out []Change
	for _, c := range log {
		err := apply(m, c.Batch, func(s *metadata.PartitionState) {
			if e, ok := epochs[s.Partition]; ok && e == s.LeaderEpoch {
				return
			}
			epochs[s.Partition] = s.LeaderEpoch
			out = append(out, Change{
				Partition: s.Partition, Leader: s.Leader, LeaderEpoch: s.LeaderEpoch, Offset: s.Offset,
				Appended: c.Appended, Committed: c.CommittedAt,
			})
		})
		if err != nil {
			return out, fmt.Errorf("committed log: %w", err)
		}
	}
	return out, nil
}
