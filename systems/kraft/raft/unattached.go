package raft

// becomeUnattached enters an epoch, or stays in it, without a known leader.
func (r *Replica) becomeUnattached(epoch int32) {
	q := r.quorum
	if epoch > q.Epoch {
		q = quorumState{Epoch: epoch}
	}
	r.enter(Unattached)
	r.setQuorum(q)
	if r.voter {
		r.timeout.set(r.electionTimeout())
		return
	}
	// An observer has no part in elections: it asks the voters until one can
	// name the leader.
	r.durably(r.inTerm(r.fetch))
}
