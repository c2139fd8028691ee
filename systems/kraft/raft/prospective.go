package raft

// becomeProspective asks the others whether they would vote for us, without
// raising the epoch and without anything to remember (KIP-996).
func (r *Replica) becomeProspective() {
	r.enter(Prospective)
	r.durably(r.inTerm(r.canvass))
}
