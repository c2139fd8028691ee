package raft

import (
	"encoding/binary"
	"fmt"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// snapshotFile is the file that holds the latest snapshot.
const snapshotFile = logName + ".checkpoint"

// snapshot is the state machine's state at some offset; End is 0 if there is none.
type snapshot struct {
	id   SnapshotID
	data []byte
}

// openSnapshot loads the latest snapshot, and makes the log begin no later than
// it ends: the snapshot is written before the log is cut, and a crash may have
// come between the two.
func (r *Replica) openSnapshot() error {
	p := r.disk.Read(snapshotFile)
	if p == nil {
		if r.log.Start() > 0 {
			return fmt.Errorf("log begins at offset %d, and there is no snapshot of what came before", r.log.Start())
		}
		return nil
	}
	end, n := binary.Uvarint(p)
	if n <= 0 {
		return fmt.Errorf("file %s: no end offset", snapshotFile)
	}
	epoch, m := binary.Varint(p[n:])
	if m <= 0 {
		return fmt.Errorf("file %s: no epoch", snapshotFile)
	}
	r.snapshot = snapshot{SnapshotID{int64(end), int32(epoch)}, p[n+m:]}
	id := r.snapshot.id
	if e := r.log.EndOf(id.Epoch); e.Epoch != id.Epoch || e.End < id.End {
		r.log.Reset(id.End, id.Epoch)
	}
	return r.load()
}

// load gives the snapshot to the state machine.
func (r *Replica) load() error {
	id := r.snapshot.id
	if err := r.sm.Load(id, r.snapshot.data); err != nil {
		return fmt.Errorf("snapshot %d-%d: %w", id.End, id.Epoch, err)
	}
	r.applied, r.appliedEpoch = id.End, id.Epoch
	r.hw = max(r.hw, id.End)
	return nil
}

// writeSnapshot replaces the snapshot on disk.
func (r *Replica) writeSnapshot(id SnapshotID, data []byte) {
	r.snapshot = snapshot{id, data}
	p := binary.AppendUvarint(nil, uint64(id.End))
	p = binary.AppendVarint(p, int64(id.Epoch))
	r.disk.Write(snapshotFile, append(p, data...))
}

// maybeSnapshot takes a snapshot once enough has been applied since the last. The
// log is kept from the one before on, so that a follower that is only a little
// behind needs no snapshot.
func (r *Replica) maybeSnapshot() {
	every := r.cfg.SnapshotEvery
	if every == 0 || r.applied-r.snapshot.id.End < every {
		return
	}
	id, before := SnapshotID{r.applied, r.appliedEpoch}, r.snapshot.id
	r.writeSnapshot(id, r.sm.Snapshot())
	r.log.Compact(before.End, before.Epoch)
	r.env.Trace(node.Trace{What: "snapshot", Epoch: id.Epoch, Version: id.End})
}

// fetchSnapshot asks the leader for the next piece of a snapshot.
func (r *Replica) fetchSnapshot() {
	f := &r.follow
	request := &FetchSnapshotRequest{Replica: r.self, Epoch: r.quorum.Epoch, ID: *f.snapshot, Position: len(f.bytes)}
	call(r, r.quorum.Leader, request, func(a *FetchSnapshotResponse, err error) {
		if err != nil {
			r.retry(r.fetchSnapshot)
			return
		}
		if a.Error != protocol.None || a.ID != *f.snapshot || a.Position != len(f.bytes) {
			// The leader has a newer one by now: a fetch will say which.
			f.snapshot, f.bytes = nil, nil
			r.retry(r.fetch)
			return
		}
		r.timeout.set(r.cfg.FetchTimeout)
		f.bytes = append(f.bytes, a.Bytes...)
		if len(f.bytes) < a.Size {
			r.fetchSnapshot()
			return
		}
		r.install(*f.snapshot, f.bytes)
	})
}

// install makes a fetched snapshot our state and the start of our log.
func (r *Replica) install(id SnapshotID, data []byte) {
	r.follow.snapshot, r.follow.bytes = nil, nil
	if id.End <= r.applied {
		r.fail(fmt.Errorf("leader %s sent a snapshot up to offset %d, but %d is applied", r.quorum.Leader, id.End, r.applied))
		return
	}
	r.writeSnapshot(id, data)
	r.log.Reset(id.End, id.Epoch)
	if err := r.load(); err != nil {
		r.fail(err)
		return
	}
	r.env.Trace(node.Trace{What: "snapshot-loaded", Peer: r.quorum.Leader, Epoch: id.Epoch, Version: id.End})
	r.log.Sync(r.inTerm(r.fetch))
}

// onFetchSnapshot serves a piece of our snapshot.
func (r *Replica) onFetchSnapshot(m *FetchSnapshotRequest, reply func(node.Message)) {
	a := &FetchSnapshotResponse{Error: r.leaderOnly(m.Epoch), Standing: r.Standing(), ID: m.ID, Position: m.Position}
	s := r.snapshot
	switch {
	case a.Error != protocol.None:
	case m.ID != s.id:
		a.Error = SnapshotNotFound
	case m.Position < 0 || m.Position > len(s.data):
		a.Error = PositionOutOfRange
	default:
		a.Size = len(s.data)
		a.Bytes = s.data[m.Position:min(len(s.data), m.Position+r.cfg.SnapshotChunk)]
	}
	if a.Error == protocol.None {
		if voter := r.index(m.Replica); voter >= 0 {
			r.heardFrom(voter)
		}
	}
	r.durably(func() { reply(a) })
}
