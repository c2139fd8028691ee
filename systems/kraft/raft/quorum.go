package raft

import (
	"encoding/json"
	"fmt"

	"github.com/stalemate-io/stalemate/systems/node"
)

// quorumFile is the file that holds the quorum state, by Kafka's name.
const quorumFile = "quorum-state"

// quorumState is what a replica must never forget about the epochs: which one
// it is in, who leads it, and whom it voted for in it. The leader is part of it
// so that one that restarts knows not to lead, nor to vote, in an epoch that it
// led before (KAFKA-10527, KAFKA-10661). The high watermark is not: it is
// learned anew.
type quorumState struct {
	Epoch  int32   `json:"leaderEpoch"`
	Leader node.ID `json:"leaderId,omitempty"`
	Voted  node.ID `json:"votedId,omitempty"`
}

func readQuorumState(disk node.Disk) (quorumState, error) {
	var q quorumState
	p := disk.Read(quorumFile)
	if p == nil {
		return q, nil
	}
	if err := json.Unmarshal(p, &q); err != nil {
		return q, fmt.Errorf("file %s: %w", quorumFile, err)
	}
	return q, nil
}

// setQuorum changes the quorum state and writes it down. A vote stays for as
// long as the epoch does.
func (r *Replica) setQuorum(q quorumState) {
	if q == r.quorum {
		return
	}
	r.quorum = q
	if !r.cfg.Guards.VoteDurability {
		q.Voted = ""
		if q.Leader == r.self {
			q.Leader = ""
		}
	}
	p, err := json.Marshal(q)
	if err != nil {
		r.fail(fmt.Errorf("file %s: %w", quorumFile, err))
		return
	}
	r.disk.Write(quorumFile, p)
	r.quorumWritten++
}

// durably calls f once the quorum state as it is now survives a crash: at once
// if it already does. Whatever tells others of our epoch or vote goes through
// here.
func (r *Replica) durably(f func()) {
	if r.quorumSynced == r.quorumWritten {
		f()
		return
	}
	written := r.quorumWritten
	r.disk.Sync(func() {
		r.quorumSynced = max(r.quorumSynced, written)
		if r.err == nil {
			f()
		}
	})
}
