package raft

import "github.com/stalemate-io/stalemate/systems/node"

// becomeCandidate stands for the next epoch with our own vote.
func (r *Replica) becomeCandidate() {
	r.enter(Candidate)
	epoch := r.quorum.Epoch + 1
	r.setQuorum(quorumState{Epoch: epoch, Voted: r.self})
	r.env.Trace(node.Trace{What: "candidate", Epoch: epoch})
	r.durably(r.inTerm(r.canvass))
}
