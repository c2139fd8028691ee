package push

import (
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// Write is one change of a node of the store that was committed, in whatever way
// one learns of it: from the simulator's store, or from the transaction logs of
// real servers.
type Write struct {
	Zxid int64
	At   time.Duration
	By   node.ID // whose session asked for it; empty if unknown
	Kind node.StoreOpKind
	Path string
	// Data and Version are the node's afterwards.
	Data    []byte
	Version int32
}

// Change is one committed state of a partition. In this design the store is
// what is true; everything else is a copy.
type Change struct {
	Partition protocol.Partition
	State
	// Version is the partition's order token, 0 at its creation.
	Version int64
	// Zxid orders changes of different partitions: the store's own order, of
	// which brokers learn nothing.
	Zxid int64
	// At is when the store committed it, and By who asked for it.
	At time.Duration
	By node.ID
	// Moved says that the leader or its epoch changed, and not the in-sync
	// set alone.
	Moved bool
}

// Truth gives every committed state of every partition in the order of the
// store, elections nobody asked for among them. It fails on a state that nobody
// can read.
func Truth(log []Write) ([]Change, error) {
	var changes []Change
	last := map[protocol.Partition]State{}
	for i := range log {
		w := &log[i]
		p, ok := parseStatePath(w.Path)
		if !ok || w.Kind == node.Delete {
			continue
		}
		s, err := DecodeState(w.Path, w.Data)
		if err != nil {
			return nil, err
		}
		before, known := last[p]
		last[p] = s
		changes = append(changes, Change{
			Partition: p, State: s, Version: int64(w.Version), Zxid: w.Zxid, At: w.At, By: w.By,
			Moved: !known || before.Leader != s.Leader || before.LeaderEpoch != s.LeaderEpoch,
		})
	}
	return changes, nil
}
