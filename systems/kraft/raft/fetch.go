package raft

import (
	"github.com/stalemate-io/stalemate/systems/kraft/epochlog"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// parked is a fetch that found nothing and waits.
type parked struct {
	request *FetchRequest
	reply   func(node.Message)
	timer   node.Timer
}

// onFetch serves a voter or an observer, and takes the offset that a voter
// fetches from for its acknowledgement of everything before.
func (r *Replica) onFetch(m *FetchRequest, reply func(node.Message)) {
	if code := r.leaderOnly(m.Epoch); code != protocol.None {
		r.durably(func() { reply(&FetchResponse{Error: code, Standing: r.Standing(), HighWatermark: -1}) })
		return
	}
	r.dropParked(m.Replica)
	match, diverging := epochlog.Matches, epochlog.EpochEnd{}
	if r.cfg.Guards.Truncation || m.Offset < r.log.Start() {
		match, diverging = r.log.Match(m.Offset, m.LastEpoch)
	}
	voter := r.index(m.Replica)
	if voter >= 0 {
		r.heardFrom(voter)
	}
	switch match {
	case epochlog.Diverges:
		a := r.fetchResponse()
		a.Diverging = &diverging
		reply(a)
		return
	case epochlog.BeforeStart:
		a := r.fetchResponse()
		id := r.snapshot.id
		a.Snapshot = &id
		reply(a)
		return
	}
	if voter >= 0 {
		r.lead.ends[voter] = min(m.Offset, r.log.End())
		r.advanceHighWatermark()
		if r.role != Leader {
			reply(&FetchResponse{Error: protocol.NotLeaderOrFollower, Standing: r.Standing(), HighWatermark: -1})
			return
		}
	}
	if voter < 0 {
		r.observed(m)
	}
	if m.Offset < r.log.End() || r.cfg.EagerHighWatermark && r.lead.hwKnown && m.HighWatermark < r.hw {
		reply(r.records(m))
		return
	}
	p := &parked{request: m, reply: reply}
	p.timer = r.env.After(r.cfg.FetchMaxWait, r.inTerm(func() {
		r.answerParked(func(o *parked) bool { return o == p })
	}))
	r.lead.parked = append(r.lead.parked, p)
}

// maxObservers bounds how many observers a leader keeps in mind.
const maxObservers = 1000

// observed notes how far an observer is.
func (r *Replica) observed(m *FetchRequest) {
	if _, known := r.lead.observers[m.Replica]; known || len(r.lead.observers) < maxObservers {
		r.lead.observers[m.Replica] = min(m.Offset, r.log.End())
	}
}

// fetchResponse is an answer of the leader with nothing in it yet.
func (r *Replica) fetchResponse() *FetchResponse {
	a := &FetchResponse{Standing: r.Standing(), HighWatermark: -1}
	if r.lead.hwKnown {
		a.HighWatermark = r.hw
	}
	return a
}

// records answers a fetch with what there is, committed or not.
func (r *Replica) records(m *FetchRequest) *FetchResponse {
	a := r.fetchResponse()
	a.Batches = r.log.From(m.Offset, r.cfg.MaxFetchBatches)
	return a
}

// answerParked answers the waiting fetches that are due.
func (r *Replica) answerParked(due func(*parked) bool) {
	waiting := r.lead.parked[:0]
	var ready []*parked
	for _, p := range r.lead.parked {
		if due(p) {
			ready = append(ready, p)
		} else {
			waiting = append(waiting, p)
		}
	}
	r.lead.parked = waiting
	for _, p := range ready {
		p.timer.Stop()
		p.reply(r.records(p.request))
	}
}

// dropParked forgets a waiting fetch whose sender has given up on it, which the
// new one from the same replica shows.
func (r *Replica) dropParked(replica node.ID) {
	r.answerParked(func(p *parked) bool { return p.request.Replica == replica })
}
