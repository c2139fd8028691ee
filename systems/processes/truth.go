package processes

import (
	"fmt"
	"time"

	"github.com/stalemate-io/stalemate/systems/kraft"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/tcp"
)

// KraftTruth gives every change of leadership that a stopped cluster of kraft has
// committed, in the log's order, read from the disks of its controllers. At is
// when the first node knew it committed, by tcp.Now, from the trace; unseen is
// when the run ended, for changes that no node knew of before.
//
// The error is also that of a cluster that broke its word: a node has applied
// what is not in the log.
func (r Remains) KraftTruth(trace []tcp.Entry, unseen time.Duration) ([]kraft.Change, error) {
	disks := map[node.ID]node.Disk{}
	for _, id := range r.Settings.ControllerIDs() {
		d, err := tcp.ReadDisk(diskIn(r.nodeDir(id)))
		if err != nil {
			return nil, fmt.Errorf("disk of %s: %w", id, err)
		}
		disks[id] = d
	}
	log, err := kraft.CommittedOnDisks(disks)
	if err != nil {
		return nil, err
	}
	changes, err := kraft.Truth(log)
	if err != nil {
		return nil, err
	}
	return date(changes, trace, unseen)
}

// term is a leader epoch of a partition.
type term struct {
	key   string
	epoch int32
}

// date gives changes the times at which they were first known to be committed.
func date(changes []kraft.Change, trace []tcp.Entry, unseen time.Duration) ([]kraft.Change, error) {
	index := map[term]int{}
	for i := range changes {
		changes[i].Appended, changes[i].Committed = unseen, unseen
		index[term{changes[i].Partition.String(), changes[i].LeaderEpoch}] = i
	}
	for _, e := range trace {
		if e.What == "active" {
			// A new controller answers once it knows all before this offset
			// committed, what its predecessor appended too.
			for i := len(changes) - 1; i >= 0; i-- {
				if changes[i].Offset < e.Version {
					changes[i].Committed = min(changes[i].Committed, e.Time)
					break
				}
			}
			continue
		}
		known := e.What == "committed" || e.What == "applied"
		if !known && e.What != "appended" {
			continue
		}
		i, ok := index[term{e.Key, e.Epoch}]
		if known && (!ok || changes[i].Leader != e.Leader) {
			return nil, fmt.Errorf("%s has %s leader %d of %s in epoch %d (offset %d), which is not in the log that a majority holds",
				e.Node, e.What, e.Leader, e.Key, e.Epoch, e.Version)
		}
		if !ok {
			continue // appended and never committed
		}
		// A record may have been appended more than once, by leaders that
		// were deposed before it was committed.
		changes[i].Appended = min(changes[i].Appended, e.Time)
		if known {
			changes[i].Committed = min(changes[i].Committed, e.Time)
		}
	}
	// Whoever knew a record committed knew that of all before it.
	earliest := unseen
	for i := len(changes) - 1; i >= 0; i-- {
		c := &changes[i]
		earliest = min(earliest, c.Committed)
		c.Committed, c.Appended = earliest, min(earliest, c.Appended)
	}
	return changes, nil
}
