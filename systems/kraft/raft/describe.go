package raft

import (
	"slices"
	"strings"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// DescribeQuorumRequest asks the leader how far the others are (KIP-642).
type DescribeQuorumRequest struct{}

// DescribeQuorumResponse says how far all who fetch are, to the leader's knowledge.
type DescribeQuorumResponse struct {
	Error protocol.Code
	Standing
	// HighWatermark is -1 while the leader does not know it.
	HighWatermark int64
	Voters        []Position
	// Observers are those that have fetched from this leader, by name.
	Observers []Position
}

// Position is the log end offset that a replica has acknowledged; -1 if it has not
// been heard of.
type Position struct {
	Replica node.ID
	End     int64
}

// onDescribeQuorum tells what the leader knows.
func (r *Replica) onDescribeQuorum(reply func(node.Message)) {
	a := &DescribeQuorumResponse{Standing: r.Standing(), HighWatermark: -1}
	if r.role != Leader {
		a.Error = protocol.NotLeaderOrFollower
		reply(a)
		return
	}
	if r.lead.hwKnown {
		a.HighWatermark = r.hw
	}
	for i, v := range r.cfg.Voters {
		p := Position{v, r.lead.ends[i]}
		switch {
		case v == r.self:
			p.End = r.log.End()
		case r.lead.heard[i] < 0:
			p.End = -1
		}
		a.Voters = append(a.Voters, p)
	}
	for id, end := range r.lead.observers {
		a.Observers = append(a.Observers, Position{id, end})
	}
	slices.SortFunc(a.Observers, func(p, q Position) int { return strings.Compare(string(p.Replica), string(q.Replica)) })
	reply(a)
}

// Kind names the message in fault schedules and stories.
func (*DescribeQuorumRequest) Kind() string { return "DescribeQuorum" }

// Kind names the message in fault schedules and stories.
func (*DescribeQuorumResponse) Kind() string { return "DescribeQuorumResponse" }
