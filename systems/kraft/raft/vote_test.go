package raft

import (
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/systems/kraft/epochlog"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/sim"
)

// peer is another voter, played by the test. It leads its epoch if it has one,
// and then answers fetches with what it has.
type peer struct {
	env   node.Env
	epoch int32
	log   []*epochlog.Batch
}

func (p *peer) Start() {}

func (p *peer) Receive(_ node.ID, m node.Message, reply func(node.Message)) {
	if f, ok := m.(*FetchRequest); ok && p.epoch > 0 && reply != nil {
		a := &FetchResponse{Standing: Standing{p.epoch, "c2"}, HighWatermark: 0}
		for _, b := range p.log {
			if b.Base >= f.Offset {
				a.Batches = append(a.Batches, b)
			}
		}
		reply(a)
	}
}

// voteBench is one voter, c1, whose peers c2 and c3 the test plays.
type voteBench struct {
	*sim.World
	peer  *peer
	voter *machine
}

func newVoteBench(t *testing.T) *voteBench {
	w := &voteBench{World: sim.New(sim.Config{Seed: 1}), peer: &peer{}}
	cfg := Config{Voters: []node.ID{"c1", "c2", "c3"}, Guards: AllGuards()}
	// It loses patience only when the test is long over.
	cfg.ElectionTimeout, cfg.FetchTimeout = time.Hour, time.Hour
	for _, err := range []error{
		w.Add("c1", func(env node.Env) node.Machine {
			w.voter = &machine{}
			w.voter.Replica = New(env, cfg, w.voter)
			return w.voter
		}),
		w.Add("c2", func(env node.Env) node.Machine {
			w.peer.env = env
			return w.peer
		}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w.Run(time.Millisecond)
	return w
}

// lead has c2 announce itself as the leader of an epoch with records of the
// given epochs, one each, and waits for c1 to fetch them.
func (w *voteBench) lead(epoch int32, records ...int32) {
	w.peer.epoch = epoch
	for i, e := range records {
		w.peer.log = append(w.peer.log, &epochlog.Batch{Base: int64(i), Epoch: e, Records: [][]byte{{byte(i)}}})
	}
	w.peer.env.Call("c1", &BeginQuorumEpochRequest{Leader: "c2", Epoch: epoch}, time.Second, func(node.Message, error) {})
	w.Run(w.Now() + 100*time.Millisecond)
	w.peer.epoch = 0
}

func (w *voteBench) ask(m *VoteRequest) *VoteResponse {
	var a *VoteResponse
	w.peer.env.Call("c1", m, time.Second, func(m node.Message, _ error) { a, _ = m.(*VoteResponse) })
	w.Run(w.Now() + 100*time.Millisecond)
	return a
}

func TestVotes(t *testing.T) {
	vote := func(candidate node.ID, epoch, lastEpoch int32, lastOffset int64) *VoteRequest {
		return &VoteRequest{Candidate: candidate, Epoch: epoch, LastEpoch: lastEpoch, LastOffset: lastOffset}
	}
	empty := func(candidate node.ID, epoch int32) *VoteRequest { return vote(candidate, epoch, epochlog.NoEpoch, 0) }
	preVote := func(m *VoteRequest) *VoteRequest {
		m.PreVote = true
		return m
	}
	for _, c := range []struct {
		rule    string
		before  func(*voteBench)
		request *VoteRequest
		granted bool
		code    protocol.Code
	}{
		{rule: "the first candidate of a later epoch gets the vote", request: empty("c2", 1), granted: true},
		{rule: "a second candidate of the same epoch does not", request: empty("c3", 1),
			before: func(w *voteBench) { w.ask(empty("c2", 1)) }},
		{rule: "the same candidate gets it again", request: empty("c2", 1), granted: true,
			before: func(w *voteBench) { w.ask(empty("c2", 1)) }},
		{rule: "a candidate of a yet later epoch gets it", request: empty("c3", 2), granted: true,
			before: func(w *voteBench) { w.ask(empty("c2", 1)) }},
		{rule: "a candidate of an earlier epoch is fenced", request: empty("c3", 1), code: protocol.FencedLeaderEpoch,
			before: func(w *voteBench) { w.ask(empty("c2", 2)) }},
		{rule: "a vote is remembered over a crash", request: empty("c3", 1),
			before: func(w *voteBench) {
				w.ask(empty("c2", 1))
				w.Crash("c1")
				w.Restart("c1")
				w.Run(w.Now() + time.Millisecond)
			}},
		{rule: "nobody gets it in an epoch whose leader is known", request: vote("c3", 3, 9, 9),
			before: func(w *voteBench) { w.lead(3) }},
		{rule: "a candidate with the same log gets it", request: vote("c3", 5, 3, 2), granted: true,
			before: func(w *voteBench) { w.lead(3, 3, 3) }},
		{rule: "one with a shorter log does not", request: vote("c3", 5, 3, 1),
			before: func(w *voteBench) { w.lead(3, 3, 3) }},
		{rule: "one whose last record is of an earlier epoch does not, however long its log", request: vote("c3", 5, 2, 99),
			before: func(w *voteBench) { w.lead(3, 3, 3) }},
		{rule: "one whose last record is of a later epoch gets it, however short its log", request: vote("c3", 5, 4, 1), granted: true,
			before: func(w *voteBench) { w.lead(3, 3, 3) }},
		{rule: "one that is refused for its log ends our epoch all the same, and the next gets the vote", request: vote("c2", 5, 3, 2), granted: true,
			before: func(w *voteBench) {
				w.lead(3, 3, 3)
				w.ask(vote("c3", 5, 3, 1))
			}},
		{rule: "a pre-vote is granted where there is no leader", request: preVote(empty("c2", 0)), granted: true},
		{rule: "a pre-vote binds nobody", request: empty("c3", 1), granted: true,
			before: func(w *voteBench) { w.ask(preVote(empty("c2", 1))) }},
		{rule: "a pre-vote is granted although the vote is given away", request: preVote(empty("c3", 1)), granted: true,
			before: func(w *voteBench) { w.ask(empty("c2", 1)) }},
		{rule: "a pre-vote is refused by a follower that has fetched from its leader", request: preVote(vote("c3", 3, 3, 2)),
			before: func(w *voteBench) { w.lead(3, 3, 3) }},
		{rule: "a pre-vote is refused for a shorter log", request: preVote(vote("c3", 5, 3, 1)),
			before: func(w *voteBench) { w.lead(3, 3, 3) }},
	} {
		t.Run(c.rule, func(t *testing.T) {
			w := newVoteBench(t)
			if c.before != nil {
				c.before(w)
			}
			a := w.ask(c.request)
			if err := w.voter.Err(); err != nil {
				t.Fatal(err)
			}
			if a == nil || a.Granted != c.granted || a.Error != c.code {
				t.Errorf("got %+v, want granted %t and error %q", a, c.granted, c.code)
			}
		})
	}
}

func TestTwoLeadersInOneEpochStopAReplica(t *testing.T) {
	w := newVoteBench(t)
	w.lead(3)
	w.peer.env.Send("c1", &BeginQuorumEpochRequest{Leader: "c3", Epoch: 3})
	w.Run(w.Now() + 100*time.Millisecond)
	if w.voter.Err() == nil {
		t.Error("it goes on")
	}
}

func TestCommittedRecordsAreNeverTruncated(t *testing.T) {
	w := newVoteBench(t)
	w.peer.epoch = 1
	w.lead(1, 1, 1)
	w.voter.setHighWatermark(2)
	w.voter.becomeFollower(2, "c2")
	w.voter.truncate(epochlog.EpochEnd{Epoch: 1, End: 1})
	if w.voter.Err() == nil || w.voter.End() != 2 {
		t.Errorf("error %v, log end offset %d", w.voter.Err(), w.voter.End())
	}
}

func TestDamagedFilesStopAReplica(t *testing.T) {
	for file, content := range map[string]string{
		quorumFile:         "not json",
		snapshotFile:       "",
		logName + ".start": "x",
	} {
		t.Run(file, func(t *testing.T) {
			w := sim.New(sim.Config{Seed: 1})
			var m *machine
			err := w.Add("c1", func(env node.Env) node.Machine {
				env.Disk().Write(file, []byte(content))
				m = &machine{}
				m.Replica = New(env, Config{Voters: []node.ID{"c1"}}, m)
				return m
			})
			if err != nil {
				t.Fatal(err)
			}
			w.Run(5 * time.Second)
			if m.Err() == nil {
				t.Error("it starts")
			}
		})
	}
}
