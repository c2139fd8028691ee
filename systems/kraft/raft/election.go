package raft

import (
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// election counts the answers that a prospective or a candidate has.
type election struct {
	granted, refused map[node.ID]bool
}

// stand begins an election, with the pre-vote where that is in force.
func (r *Replica) stand() {
	if r.cfg.Guards.PreVote {
		r.becomeProspective()
	} else {
		r.becomeCandidate()
	}
}

// canvass asks every other voter, and counts our own voice.
func (r *Replica) canvass() {
	r.election = &election{granted: map[node.ID]bool{r.self: true}, refused: map[node.ID]bool{}}
	r.timeout.set(r.electionTimeout())
	for _, v := range r.others {
		r.askForVote(v)
	}
	r.count()
}

func (r *Replica) askForVote(voter node.ID) {
	request := &VoteRequest{
		Candidate: r.self, Epoch: r.quorum.Epoch, PreVote: r.role == Prospective,
		LastEpoch: r.log.LastEpoch(), LastOffset: r.log.End(),
	}
	call(r, voter, request, func(a *VoteResponse, err error) {
		if err != nil {
			r.env.After(r.cfg.RetryBackoff, r.inTerm(func() { r.askForVote(voter) }))
			return
		}
		if a.Granted {
			r.election.granted[voter] = true
		} else {
			r.election.refused[voter] = true
		}
		r.count()
	})
}

// count ends the election once it is decided.
func (r *Replica) count() {
	switch {
	case len(r.election.granted) >= r.majority():
		if r.role == Prospective {
			r.becomeCandidate()
		} else {
			r.becomeLeader()
		}
	case len(r.election.refused) >= r.majority() || len(r.election.refused) == len(r.others):
		r.loseElection()
	}
}

// loseElection goes back to waiting: a prospective to the leader it knew, if
// any, and a candidate to standing again after a random pause, so that two that
// stand against each other fall out of step.
func (r *Replica) loseElection() {
	q := r.quorum
	r.lost++
	switch {
	case r.role == Candidate:
		r.enter(Unattached)
		r.timeout.set(r.electionBackoff())
	case q.Leader != "" && q.Leader != r.self:
		r.becomeFollower(q.Epoch, q.Leader)
	default:
		r.becomeUnattached(q.Epoch)
	}
}

// electionBackoff draws the pause after a lost election.
func (r *Replica) electionBackoff() time.Duration {
	longest := min(r.cfg.MaxElectionBackoff, 2*r.cfg.RetryBackoff<<min(r.lost, 10))
	return time.Duration(r.env.Rand().Int64N(int64(longest)))
}

// onVote answers a request for a vote. A candidate of a later epoch ends our
// own, even when we lead it; one whose log is shorter is refused whatever else.
func (r *Replica) onVote(m *VoteRequest, reply func(node.Message)) {
	if m.Epoch < r.quorum.Epoch || !r.voter {
		reply(&VoteResponse{Error: protocol.FencedLeaderEpoch, Standing: r.Standing()})
		return
	}
	if m.Epoch > r.quorum.Epoch {
		left := r.timeout.left()
		followed := r.role == Follower || r.role == Unattached
		r.becomeUnattached(m.Epoch)
		if followed && left > 0 {
			// Somebody else standing is no reason to wait any longer.
			r.timeout.set(min(left, r.timeout.left()))
		}
	}
	granted := r.logUpToDate(m)
	if m.PreVote {
		granted = granted && r.wouldVote()
	} else if granted = granted && r.mayVote(m.Candidate); granted {
		r.vote(m.Candidate)
	}
	r.durably(func() {
		// What is promised is what was decided, whatever came since.
		reply(&VoteResponse{Standing: Standing{m.Epoch, r.leaderIn(m.Epoch)}, Granted: granted})
	})
}

// leaderIn is the leader we know of in the epoch, if we still are in it.
func (r *Replica) leaderIn(epoch int32) node.ID {
	if s := r.Standing(); s.Epoch == epoch {
		return s.Leader
	}
	return ""
}

// logUpToDate reports whether the candidate's log holds at least what ours does,
// and so everything that our acknowledgement helped to commit.
func (r *Replica) logUpToDate(m *VoteRequest) bool {
	if e := r.log.LastEpoch(); m.LastEpoch != e {
		return m.LastEpoch > e
	}
	return m.LastOffset >= r.log.End()
}

// mayVote reports whether our vote in this epoch is still free, or went to the
// same candidate.
func (r *Replica) mayVote(candidate node.ID) bool {
	if r.role != Unattached && r.role != Prospective || r.quorum.Leader != "" {
		return false
	}
	return r.quorum.Voted == "" || r.quorum.Voted == candidate
}

// wouldVote is the answer to a pre-vote. A follower that has fetched from its
// leader has no reason to want another.
func (r *Replica) wouldVote() bool {
	return r.role != Leader && !(r.role == Follower && r.follow.fetched)
}

// vote gives away our vote in this epoch.
func (r *Replica) vote(candidate node.ID) {
	r.enter(Unattached)
	q := r.quorum
	q.Voted = candidate
	r.setQuorum(q)
	r.timeout.set(r.electionTimeout())
	r.env.Trace(node.Trace{What: "voted", Peer: candidate, Epoch: q.Epoch})
}
