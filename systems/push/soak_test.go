package push

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/sim"
)

// nuisance is a client that asks for elections, reassignments and produces all
// the time, at random.
type nuisance struct {
	env node.Env
	cfg *Config
	n   int64
	// acknowledged are the values produced with acks=all.
	acknowledged map[protocol.Partition][]int64
}

func (u *nuisance) Start()                                              { u.next() }
func (u *nuisance) Receive(node.ID, node.Message, func(m node.Message)) {}

func (u *nuisance) next() {
	r := u.env.Rand()
	ps := u.cfg.Partitions()
	p := ps[r.IntN(len(ps))]
	broker := func() int32 { return int32(r.IntN(u.cfg.Brokers)) + 1 }
	done := func(node.Message, error) {
		u.env.After(time.Duration(r.IntN(100))*time.Millisecond, u.next)
	}
	switch x := r.IntN(100); {
	case x < 20:
		u.env.Call(ControllerID(int32(r.IntN(3))+1), &protocol.ElectLeadersRequest{Partition: p, Target: broker()}, time.Second, done)
	case x < 23:
		a, b, c := broker(), broker(), broker()
		u.env.Call(ControllerID(int32(r.IntN(3))+1), &protocol.AlterReassignmentRequest{Partition: p, Replicas: []int32{a, b, c}}, time.Second, done)
	default:
		u.n++
		v := u.n
		u.env.Call(BrokerID(broker()), &protocol.ProduceRequest{Partition: p, Value: v, AcksAll: true, LeaderEpoch: -1}, time.Second,
			func(m node.Message, err error) {
				if a, ok := m.(*protocol.ProduceResponse); ok && err == nil && a.Error == protocol.None {
					u.acknowledged[p] = append(u.acknowledged[p], v)
				}
				done(m, err)
			})
	}
}

// profile says what trouble a cluster is to have.
type profile struct {
	crashes bool // nodes crash and restart
	late    bool // messages arrive twice, or after their sender has given up
	change  func(*Config, *sim.Config)
}

// trouble makes life hard for a cluster until a moment: messages get lost,
// nodes pause, lose their sessions and are cut off from each other, and what
// else the profile says.
func trouble(w *sim.World, seed uint64, until time.Duration, p profile) {
	r := rand.New(rand.NewPCG(seed, 7))
	cut := map[[2]node.ID]bool{}
	w.Intercept(func(e *sim.Envelope, f *sim.Fate) {
		if w.Now() >= until {
			return
		}
		if cut[[2]node.ID{e.From, e.To}] {
			f.Lose = true
			return
		}
		switch x := r.IntN(100); {
		case x == 0:
			f.Lose = true
		case x == 1 && p.late:
			f.Delay = time.Duration(r.IntN(5000)) * time.Millisecond
		case x == 2 && p.late:
			f.Copies = 1
		}
	})
	nodes := w.Nodes()
	down := map[node.ID]bool{}
	var act func()
	act = func() {
		if w.Now() >= until {
			return
		}
		id := nodes[r.IntN(len(nodes))]
		end := min(w.Now()+time.Duration(200+r.IntN(9000))*time.Millisecond, until)
		switch r.IntN(5) {
		case 0:
			if !down[id] && p.crashes {
				down[id] = true
				w.Crash(id)
				w.At(end, func() { down[id] = false; w.Restart(id) })
			}
		case 1:
			w.Pause(id)
			w.At(end, func() { w.Resume(id) })
		case 2:
			w.Store().ExpireSession(id)
		default:
			pair := [2]node.ID{id, nodes[r.IntN(len(nodes))]}
			cut[pair] = true
			w.At(end, func() { cut[pair] = false })
		}
		w.At(w.Now()+time.Duration(r.IntN(1500))*time.Millisecond, act)
	}
	w.At(w.Now(), act)
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
			return &nuisance{env: env, cfg: &s.cfg, acknowledged: acknowledged, n: int64(i) << 32}
		}); err != nil {
			t.Fatal(err)
		}
	}
	trouble(s.w, seed, 25*time.Second, p)
	s.w.Run(25 * time.Second)
	if !s.agrees(15 * time.Second) {
		s.wrong["disagreement after the trouble"]++
		s.note += fmt.Sprint("after the trouble: ", s.disagreements(), " ")
	}
	if n := s.active(); n != 0 {
		s.w.Store().ExpireSession(ControllerID(n))
	}
	if !s.agrees(15 * time.Second) {
		s.wrong["disagreement after a failover"]++
		s.note += fmt.Sprint("after a failover: ", s.disagreements(), " ")
	}
	faults, err := audit.Faults(s.w.Store().Log())
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
				s.wrong["acknowledged record lost"]++
			}
		}
		for _, n := range s.assigned(p) {
			if n == state.Leader || s.broker(n) == nil {
				continue
			}
			r := s.broker(n).replica(p)
			for o := range min(r.highWatermark, leader.replica(p).highWatermark) {
				if r.log.records[o] != log[o] {
					s.wrong["committed logs differ"]++
					break
				}
			}
		}
	}
}

func TestProbe(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("SEEDS"))
	for _, pr := range []profile{{}, {crashes: true}, {late: true}, {late: true, crashes: true}} {
		for _, direct := range []bool{false, true} {
			pr.change = func(c *Config, _ *sim.Config) {
				c.DirectISR = direct
				c.MinInsyncReplicas = 2
				if g := os.Getenv("OFF"); g != "" {
					if err := c.Guards.Set(g, false); err != nil {
						t.Fatal(err)
					}
				}
			}
			seeds := map[string]int{}
			first := map[string]uint64{}
			start := time.Now()
			for seed := uint64(1); seed <= uint64(n); seed++ {
				s := soak(t, seed, pr)
				for k := range s.wrong {
					seeds[k]++
					if first[k] == 0 {
						first[k] = seed
						if os.Getenv("NOTE") != "" {
							t.Log(seed, k, s.note)
						}
					}
				}
			}
			t.Log("crashes", pr.crashes, "late", pr.late, "direct", direct, seeds, first, time.Since(start))
		}
	}
}
