package push

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/sim"
)

// nuisance is a client that asks for elections, reassignments and produces all
// the time, at random.
type nuisance struct {
	env        node.Env
	cfg        *Config
	partitions []protocol.Partition
	still      bool // asks for no reassignment
	n          int64
	// acknowledged are the values produced with acks=all.
	acknowledged map[protocol.Partition][]int64
}

func (u *nuisance) Start() {
	u.partitions = u.cfg.Partitions()
	u.next()
}
func (u *nuisance) Receive(node.ID, node.Message, func(m node.Message)) {}

func (u *nuisance) next() {
	r := u.env.Rand()
	p := u.partitions[r.IntN(len(u.partitions))]
	broker := func() int32 { return int32(r.IntN(u.cfg.Brokers)) + 1 }
	done := func(node.Message, error) {
		u.env.After(time.Duration(r.IntN(100))*time.Millisecond, u.next)
	}
	switch x := r.IntN(100); {
	case x < 20:
		u.env.Call(ControllerID(int32(r.IntN(3))+1), &protocol.ElectLeadersRequest{Partition: p, Target: broker()}, time.Second, done)
	case x < 23 && !u.still:
		a, b, c := broker(), broker(), broker()
		u.env.Call(ControllerID(int32(r.IntN(3))+1), &protocol.AlterReassignmentRequest{Partition: p, Replicas: []int32{a, b, c}}, time.Second, done)
	default:
		u.env.Call(BrokerID(broker()), &protocol.MetadataRequest{Partition: p}, time.Second, func(m node.Message, err error) {
			if a, ok := m.(*protocol.MetadataResponse); ok && err == nil && a.Error == protocol.None {
				u.produce(p, a.Leader, a.LeaderEpoch, done)
				return
			}
			done(m, err)
		})
	}
}

func (u *nuisance) produce(p protocol.Partition, leader, epoch int32, done func(node.Message, error)) {
	u.n++
	v := u.n
	u.env.Call(BrokerID(leader), &protocol.ProduceRequest{Partition: p, Value: v, AcksAll: true, LeaderEpoch: epoch}, time.Second,
		func(m node.Message, err error) {
			if a, ok := m.(*protocol.ProduceResponse); ok && err == nil && a.Error == protocol.None {
				u.acknowledged[p] = append(u.acknowledged[p], v)
			}
			done(m, err)
		})
}

// profile says what trouble a cluster is to have.
type profile struct {
	crashes bool // nodes crash and restart
	late    bool // messages arrive twice, or after their sender has given up
	still   bool // nobody asks for reassignments
	change  func(*Config, *sim.Config)
}

// trouble draws a schedule of faults that makes life hard for a cluster until a
// moment: messages get lost, nodes pause, lose their sessions and are cut off
// from each other and from the store, and what else the profile says.
func trouble(w *sim.World, seed uint64, until time.Duration, p profile) []sim.Fault {
	r := rand.New(rand.NewPCG(seed, 7))
	nodes := w.Nodes()
	all := []sim.Fault{{Kind: "lose", Nodes: nodes, Peers: nodes, PerMille: 10, For: until - time.Millisecond}}
	kinds := []string{"pause-node", "pause-node", "expire-session", "cut-one-way", "cut-one-way", "from-store", "isolate-node"}
	if p.crashes {
		kinds = append(kinds, "kill-node", "kill-node")
	}
	if p.late {
		all = append(all, sim.Fault{Kind: "duplicate", Nodes: nodes, Peers: nodes, PerMille: 10, For: until - time.Millisecond})
		kinds = append(kinds, "delay-message", "delay-message", "delay-message", "delay-message", "hold-link")
	}
	for at := 500 * time.Millisecond; at < until; at += time.Duration(r.IntN(1500)+1) * time.Millisecond {
		id := nodes[r.IntN(len(nodes))]
		f := sim.Fault{
			At: at, For: time.Duration(200+r.IntN(9000)) * time.Millisecond,
			Kind: kinds[r.IntN(len(kinds))], Nodes: []node.ID{id},
		}
		switch f.Kind {
		case "cut-one-way", "hold-link":
			f.Peers = []node.ID{nodes[r.IntN(len(nodes))]}
		case "from-store":
			f.Kind, f.Peers = []string{"hold-link", "cut-one-way"}[r.IntN(2)], w.Store().Servers()
		case "expire-session":
			f.For = 0
		case "delay-message":
			f.Nodes, f.Peers = nodes[:3], nodes[3:]
			f.Message = []string{kindLeaderAndISR, kindUpdateMetadata, kindUpdateMetadata}[r.IntN(3)]
			f.Nth, f.For, f.Amount = 1, 0, time.Duration(1+r.IntN(5000))*time.Millisecond
		}
		all = append(all, f)
	}
	return all
}

// soaked is what one seed came to, as counts of what went wrong by name.
type soaked struct {
	*testCluster
	wrong map[string]int
	note  string
}

// soak runs one seed: 25 s of trouble, 15 s of peace, and then a failover, after
// which nobody may disagree for lack of having been told.
func soak(t *testing.T, seed uint64, p profile) *soaked {
	t.Helper()
	s := &soaked{testCluster: newCluster3x5(t, seed, p.change), wrong: map[string]int{}}
	audit := NewAudit(s.w.Now)
	s.w.OnTrace(audit.Note)
	acknowledged := map[protocol.Partition][]int64{}
	for i := range 3 {
		if err := s.w.AddClient(node.ID(fmt.Sprintf("x%d", i+2)), func(env node.Env) node.Machine {
			return &nuisance{env: env, cfg: &s.cfg, acknowledged: acknowledged, still: p.still, n: int64(i) << 32}
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.w.Schedule(trouble(s.w, seed, 25*time.Second, p), 25*time.Second); err != nil {
		t.Fatal(err)
	}
	s.w.Run(25 * time.Second)
	if !s.agrees(15 * time.Second) {
		s.wrong[staysWrong]++
		s.note += fmt.Sprint("after the trouble: ", s.disagreements(), " ")
	}
	if n := s.active(); n != 0 {
		s.w.Store().ExpireSession(ControllerID(n))
	}
	if !s.agrees(15 * time.Second) {
		s.wrong[staysWrongYet]++
		s.note += fmt.Sprint("after a failover: ", s.disagreements(), " ")
	}
	faults, err := audit.Faults(writes(s.w))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range faults {
		s.wrong[string(f.Kind)]++
		s.note += fmt.Sprint(f, " ")
	}
	s.checkLogs(acknowledged)
	return s
}

// agrees lets the world run until all agree for a moment, for at most d.
func (s *soaked) agrees(d time.Duration) bool {
	for end := s.w.Now() + d; s.w.Now() < end; {
		s.w.Run(s.w.Now() + 500*time.Millisecond)
		if s.agreed() {
			return true
		}
	}
	return false
}

// checkLogs looks for acknowledged records that the leader has not, and for
// logs that differ below their high watermarks.
func (s *soaked) checkLogs(acknowledged map[protocol.Partition][]int64) {
	for _, p := range s.cfg.Partitions() {
		state, _ := s.truth(p)
		leader := s.broker(state.Leader)
		if leader == nil {
			continue
		}
		log := leader.replica(p).log.records
		have := map[int64]bool{}
		for _, r := range log {
			have[r.Value] = true
		}
		for _, v := range acknowledged[p] {
			if !have[v] {
				s.wrong[lostRecord]++
			}
		}
		for _, n := range s.assigned(p) {
			if n == state.Leader || s.broker(n) == nil {
				continue
			}
			r := s.broker(n).replica(p)
			for o := range min(r.highWatermark, leader.replica(p).highWatermark) {
				if r.log.records[o] != log[o] {
					s.wrong[logsDiffer]++
					break
				}
			}
		}
	}
}
