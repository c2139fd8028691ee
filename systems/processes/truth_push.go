package processes

import (
	"fmt"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/push"
	"github.com/stalemate-io/stalemate/systems/tcp"
	"github.com/stalemate-io/stalemate/systems/zookeeper"
)

// commitWithin bounds how long after its proposal a write is committed by servers
// that nobody breaks: one write to disk at each, on a busy machine.
const commitWithin = 250 * time.Millisecond

// PushTruth gives every state of a partition that the store has committed, in the
// store's order, read from what its stopped servers logged in dataDirs.
//
// At is when the first node knew of it, by the trace. The servers' logs tell when
// it was proposed; where no node knew soon after that, because the controller that
// had asked for it was gone, At is the latest at which it can have been committed.
//
// clock tells what tcp.Now was at a time of the servers' clock.
//
// The error is also that of a store that has lost what it had acknowledged.
func PushTruth(dataDirs []string, trace []tcp.Entry, clock func(time.Time) time.Duration) ([]push.Change, error) {
	logged, err := zookeeper.Writes(dataDirs, push.IsStatePath)
	if err != nil {
		return nil, err
	}
	return datePush(logged, trace, clock)
}

// stateOf is one state that a partition had.
type stateOf struct {
	key     string
	version int64
}

// knowledge is what the trace tells of one state of a partition.
type knowledge struct {
	leader, epoch int32
	at            time.Duration // when a node first knew
	who           node.ID       // one that knew
	by            node.ID       // who wrote it, if its writer was told
}

// datePush gives writes the times at which nodes first knew of them.
func datePush(logged []zookeeper.Write, trace []tcp.Entry, clock func(time.Time) time.Duration) ([]push.Change, error) {
	known := map[stateOf]knowledge{}
	for i := range trace {
		if err := learn(known, &trace[i]); err != nil {
			return nil, err
		}
	}
	writes := make([]push.Write, 0, len(logged))
	uncertain := map[int64]bool{}
	for _, w := range logged {
		kind := node.Set
		if w.Deleted {
			kind = node.Delete
		}
		if w.Uncertain {
			uncertain[w.Zxid] = true
		}
		writes = append(writes, push.Write{
			Zxid: w.Zxid, At: clock(w.Time), Kind: kind, Path: w.Path, Data: w.Data, Version: w.Version,
		})
	}
	all, err := push.Truth(writes)
	if err != nil {
		return nil, err
	}
	changes := all[:0]
	for _, c := range all {
		id := stateOf{c.Partition.String(), c.Version}
		k, told := known[id]
		delete(known, id)
		switch {
		case told && (k.leader != c.Leader || k.epoch != c.LeaderEpoch):
			return nil, fmt.Errorf("the store has leader %d of %s in epoch %d as version %d, but %s was told of leader %d in epoch %d",
				c.Leader, id.key, c.LeaderEpoch, id.version, k.who, k.leader, k.epoch)
		case !told && uncertain[c.Zxid]:
			continue // a minority of the servers has it, and nobody ever saw it
		}
		// The proposal's time is rounded down to a millisecond.
		c.At += time.Millisecond + commitWithin
		if c.By = k.by; told {
			c.At = min(c.At, k.at)
		}
		changes = append(changes, c)
	}
	for id, k := range known { // in no particular order: one is as good as another
		if k.by != "" {
			return nil, fmt.Errorf("%s was told that leader %d of %s in epoch %d is version %d, which the servers have not logged",
				k.by, k.leader, id.key, k.epoch, id.version)
		}
	}
	// Whoever knew a write committed knew that of all before it.
	for i := len(changes) - 2; i >= 0; i-- {
		changes[i].At = min(changes[i].At, changes[i+1].At)
	}
	return changes, nil
}

// learn takes a line of the trace for what it tells of the store.
func learn(known map[stateOf]knowledge, e *tcp.Entry) error {
	acknowledged := e.What == push.TraceStoreWrite || e.What == push.TraceISRWrite
	if !acknowledged && e.What != push.TraceSnapshotRead {
		return nil
	}
	id := stateOf{e.Key, e.Version}
	k, told := known[id]
	if !told {
		k = knowledge{leader: e.Leader, epoch: e.Epoch, at: e.Time, who: e.Node}
	}
	if k.leader != e.Leader || k.epoch != e.Epoch {
		return fmt.Errorf("version %d of %s is leader %d in epoch %d for %s, and for %s leader %d in epoch %d",
			id.version, id.key, k.leader, k.epoch, k.who, e.Node, e.Leader, e.Epoch)
	}
	k.at = min(k.at, e.Time)
	if acknowledged && k.by == "" {
		k.by = e.Node
	}
	known[id] = k
	return nil
}
