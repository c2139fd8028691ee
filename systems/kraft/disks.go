package kraft

import (
	"errors"
	"fmt"

	"github.com/stalemate-io/stalemate/systems/kraft/epochlog"
	"github.com/stalemate-io/stalemate/systems/kraft/raft"
	"github.com/stalemate-io/stalemate/systems/node"
)

// CommittedOnDisks reads what a quorum has committed from the disks of all its
// voters, none of which runs: the batches that a majority holds, from offset 0
// on. A last one among them may be held by a majority without the leader having
// heard of it; then it would have been committed next. When it was appended and
// committed a disk does not tell.
func CommittedOnDisks(disks map[node.ID]node.Disk) ([]raft.Committed, error) {
	logs := map[node.ID]*epochlog.Log{}
	for id, d := range disks {
		l, err := raft.OpenLog(d)
		if err != nil {
			return nil, fmt.Errorf("disk of %s: %w", id, err)
		}
		if l.Start() > 0 {
			return nil, fmt.Errorf("disk of %s: its log begins at offset %d: "+
				"the whole of it is only kept by a cluster that takes no snapshots", id, l.Start())
		}
		logs[id] = l
	}
	if len(logs) == 0 {
		return nil, errors.New("no disks: expected one of each voter")
	}
	var committed []raft.Committed
	for end := int64(0); ; {
		b := majorityAt(logs, end)
		if b == nil {
			return committed, nil
		}
		committed = append(committed, raft.Committed{Batch: b})
		end = b.End()
	}
}

// majorityAt gives the batch at an offset that most logs hold, if any.
func majorityAt(logs map[node.ID]*epochlog.Log, offset int64) *epochlog.Batch {
	for _, l := range logs {
		b := l.At(offset)
		if b == nil {
			continue
		}
		holders := 0
		for _, other := range logs {
			if o := other.At(offset); o != nil && o.Equal(b) {
				holders++
			}
		}
		if holders > len(logs)/2 {
			return b
		}
	}
	return nil
}
