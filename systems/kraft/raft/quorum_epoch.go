package raft

import (
	"fmt"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// announce tells the other voters that we lead, and goes on telling those that
// have not fetched lately.
func (r *Replica) announce() {
	now := r.env.Now()
	for i, v := range r.cfg.Voters {
		if v != r.self && now-r.lead.heard[i] >= r.cfg.FetchTimeout/2 {
			r.beginQuorumEpoch(v, nil)
		}
	}
	r.env.After(r.cfg.FetchTimeout/2, r.inTerm(r.announce))
}

// beginQuorumEpoch announces us to one voter; confirmed, if not nil, is called
// when the voter has said that it follows us.
func (r *Replica) beginQuorumEpoch(voter node.ID, confirmed func()) {
	request := &BeginQuorumEpochRequest{Leader: r.self, Epoch: r.quorum.Epoch}
	call(r, voter, request, func(a *BeginQuorumEpochResponse, err error) {
		if err == nil && a.Error == protocol.None && confirmed != nil {
			confirmed()
		}
	})
}

// onBeginQuorumEpoch hears of a leader.
func (r *Replica) onBeginQuorumEpoch(m *BeginQuorumEpochRequest, reply func(node.Message)) {
	if m.Epoch < r.quorum.Epoch {
		reply(&BeginQuorumEpochResponse{Error: protocol.FencedLeaderEpoch, Standing: r.Standing()})
		return
	}
	if !r.hearOfLeader(m.Epoch, m.Leader) {
		return
	}
	r.durably(func() { reply(&BeginQuorumEpochResponse{Standing: r.Standing()}) })
}

// hearOfLeader takes note of a leader that speaks for itself.
func (r *Replica) hearOfLeader(epoch int32, leader node.ID) bool {
	known := r.quorum.Leader
	if epoch == r.quorum.Epoch && known != "" && known != leader {
		r.fail(fmt.Errorf("two leaders in one epoch: %s and %s", known, leader))
		return false
	}
	if epoch > r.quorum.Epoch || r.role != Follower {
		r.becomeFollower(epoch, leader)
	}
	return r.err == nil
}

// becomeResigned gives up leading the epoch and asks the others to elect a
// leader in the next. If none of them does, we stand ourselves.
func (r *Replica) becomeResigned() {
	var preferred []node.ID
	if l := r.lead; l != nil {
		preferred = r.successors(l)
	}
	r.enter(Resigned)
	r.timeout.set(r.electionTimeout())
	r.env.Trace(node.Trace{What: "resigned", Epoch: r.quorum.Epoch})
	request := &EndQuorumEpochRequest{Leader: r.self, Epoch: r.quorum.Epoch, Preferred: preferred}
	for _, v := range r.others {
		call(r, v, request, func(*EndQuorumEpochResponse, error) {})
	}
}

// Resign makes a leader give up its epoch, as before a shutdown.
func (r *Replica) Resign() {
	if r.err == nil && r.role == Leader {
		r.becomeResigned()
	}
}

// successors are the other voters, those that have acknowledged most first.
func (r *Replica) successors(l *leadership) []node.ID {
	preferred := append([]node.ID(nil), r.others...)
	for i := 1; i < len(preferred); i++ {
		for j := i; j > 0 && l.ends[r.index(preferred[j-1])] < l.ends[r.index(preferred[j])]; j-- {
			preferred[j-1], preferred[j] = preferred[j], preferred[j-1]
		}
	}
	return preferred
}

// onEndQuorumEpoch hears that our leader has resigned. The voter it prefers
// stands at once, the others later and later, so that they do not stand against
// it. All of them are free to answer a pre-vote.
func (r *Replica) onEndQuorumEpoch(m *EndQuorumEpochRequest, reply func(node.Message)) {
	if m.Epoch < r.quorum.Epoch {
		reply(&EndQuorumEpochResponse{Error: protocol.FencedLeaderEpoch, Standing: r.Standing()})
		return
	}
	if !r.hearOfLeader(m.Epoch, m.Leader) {
		return
	}
	r.durably(func() { reply(&EndQuorumEpochResponse{Standing: r.Standing()}) })
	r.follow.fetched = false
	for i, v := range m.Preferred {
		if v != r.self || !r.voter {
			continue // an observer that somebody prefers stands for nothing
		}
		if i == 0 {
			r.stand()
			return
		}
		r.timeout.set(min(r.timeout.left(), r.cfg.RetryBackoff<<min(i, 10)))
	}
}
