package leadership

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// Observed gives the changes that clients saw, where the system itself cannot be
// asked what it committed: each leader in an epoch that was answered to a read or a
// write. It counts as committed by when a client first was told of it, or of a
// later epoch of the same partition.
//
// That is never too early, so that nothing is found stale that was not. It may be
// too late, so that a lag measured by it is the least that it can have been, and no
// change is known to come after another because it was seen later: it may have been
// as early as the request for the last acknowledged change of the same partition
// before it. A change that nobody was told of is missing.
func Observed(events []histories.Event) []Change {
	seen := map[string]Change{}
	invoked := map[int]int64{}              // by process, its last
	requested := map[string]time.Duration{} // when each change that was acknowledged was asked for
	for i := range events {
		e := &events[i]
		if e.Type == histories.Invoke {
			invoked[e.Process.Client] = e.Time
			continue
		}
		if e.Type != histories.OK || !e.Process.IsClient() || e.F != "read" && e.F != "write" {
			continue
		}
		key, _ := e.Key.AsString()
		text, _ := e.Value.AsString()
		leader, epoch, ok := ParseText(text)
		partition, known := partitionOf(key)
		if !ok || !known || epoch < 0 {
			continue // a node that knew of no leader
		}
		if _, told := seen[id(key, text)]; !told {
			seen[id(key, text)] = Change{Partition: partition, Leader: leader, Epoch: epoch, At: time.Duration(e.Time)}
		}
		if e.F == "write" {
			requested[id(key, text)] = time.Duration(invoked[e.Process.Client])
		}
	}
	changes := slices.SortedFunc(maps.Values(seen), func(a, b Change) int {
		return cmp.Or(a.Partition.Compare(b.Partition), cmp.Compare(a.Epoch, b.Epoch), cmp.Compare(a.Leader, b.Leader))
	})
	for i := len(changes) - 2; i >= 0; i-- {
		if changes[i].Partition == changes[i+1].Partition {
			changes[i].At = min(changes[i].At, changes[i+1].At)
		}
	}
	var since, latest time.Duration // requests for changes of earlier epochs, and of those up to now
	for i := range changes {
		c := &changes[i]
		switch {
		case i == 0 || c.Partition != changes[i-1].Partition:
			since, latest = 0, 0
		case c.Epoch > changes[i-1].Epoch:
			since = latest
		}
		c.Order, c.Early = int64(i), max(0, c.At-since)
		latest = max(latest, requested[id(c.Partition.String(), Text(c.Leader, c.Epoch))])
	}
	return changes
}

// partitionOf is the inverse of a partition's String.
func partitionOf(key string) (protocol.Partition, bool) {
	var p protocol.Partition
	i := strings.LastIndexByte(key, '-')
	if i < 1 {
		return p, false
	}
	n, err := strconv.ParseInt(key[i+1:], 10, 32)
	return protocol.Partition{Topic: key[:i], Index: int32(n)}, err == nil
}
