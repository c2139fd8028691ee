package raft

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/stalemate-io/stalemate/systems/kraft/epochlog"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/sim"
)

// machine is a replica with a state machine that joins the records it is given.
type machine struct {
	*Replica
	text  string
	leads bool
}

func (m *machine) Receive(from node.ID, request node.Message, reply func(node.Message)) {
	m.Replica.Receive(from, request, reply)
}

func (m *machine) Commit(b *epochlog.Batch) {
	for _, r := range b.Records {
		if !b.Control {
			m.text += string(r)
		}
	}
}

func (m *machine) Load(_ SnapshotID, data []byte) error {
	m.text = string(data)
	return nil
}

func (m *machine) Snapshot() []byte { return []byte(m.text) }
func (m *machine) Lead(int32)       { m.leads = true }
func (m *machine) Yield()           { m.leads = false }

// patient is an Env with a source of randomness of the scenario's own, so that
// who stands first is up to the scenario alone: c1 before c2 before c3.
type patient struct {
	node.Env
	rand *rand.Rand
}

func (p patient) Rand() *rand.Rand { return p.rand }

// scenario runs the commands of one text file:
//
//	quorum voters=3 observers=1 [snapshot=N] [chunk=N] [batches=N] [without=guard,guard]
//	run D                 let D pass, and print what the replicas traced
//	cut A B / cut A       drop everything between two nodes, or from and to one
//	mute A                drop everything that a node sends
//	heal                  undo all cuts
//	crash A, restart A, pause A, resume A
//	append A text         have a leader append one record a letter
//	resign A
//	read A                ask for a quorum read
//	status                print every replica
type scenario struct {
	*sim.World
	watch *Watch
	nodes []node.ID
	cuts  map[[2]node.ID]bool
	out   strings.Builder
	quiet bool
}

func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var s *scenario
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "quorum" {
				s = newScenario(t, d)
				return ""
			}
			s.out.Reset()
			for _, line := range append([]string{strings.TrimSpace(d.Cmd + " " + arguments(d))}, strings.Split(d.Input, "\n")...) {
				if line != "" {
					s.do(t, d, strings.Fields(line))
				}
			}
			return s.out.String()
		})
	})
}

func arguments(d *datadriven.TestData) string {
	var words []string
	for _, a := range d.CmdArgs {
		words = append(words, a.Key)
	}
	return strings.Join(words, " ")
}

func newScenario(t *testing.T, d *datadriven.TestData) *scenario {
	s := &scenario{watch: NewWatch(), cuts: map[[2]node.ID]bool{}}
	s.World = sim.New(sim.Config{Seed: 1, Delay: sim.Constant(time.Millisecond), Sync: sim.Constant(time.Millisecond)})
	cfg := Config{Guards: AllGuards()}
	number := func(key string, otherwise int) int {
		if d.HasArg(key) {
			d.ScanArgs(t, key, &otherwise)
		}
		return otherwise
	}
	voters, observers := number("voters", 3), number("observers", 0)
	cfg.SnapshotEvery = int64(number("snapshot", 0))
	cfg.SnapshotChunk = number("chunk", 0)
	cfg.MaxFetchBatches = number("batches", 0)
	if d.HasArg("without") {
		var guard string
		d.ScanArgs(t, "without", &guard)
		switch guard {
		case "truncation":
			cfg.Guards.Truncation = false
		case "pre-vote":
			cfg.Guards.PreVote = false
		case "check-quorum":
			cfg.Guards.CheckQuorum = false
		case "quorum-confirm":
			cfg.Guards.QuorumConfirm = false
		default:
			d.Fatalf(t, "no guard %q", guard)
		}
	}
	for i := range voters {
		cfg.Voters = append(cfg.Voters, node.ID("c"+strconv.Itoa(i+1)))
	}
	s.nodes = append(s.nodes, cfg.Voters...)
	for i := range observers {
		s.nodes = append(s.nodes, node.ID("b"+strconv.Itoa(i+1)))
	}
	for i, id := range s.nodes {
		err := s.Add(id, func(env node.Env) node.Machine {
			m := &machine{}
			m.Replica = New(patient{env, rand.New(rand.NewPCG(uint64(i), 326))}, cfg, m)
			return m
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	s.Intercept(func(e *sim.Envelope, f *sim.Fate) { f.Lose = s.cuts[[2]node.ID{e.From, e.To}] })
	s.OnTrace(func(id node.ID, tr node.Trace) {
		if s.quiet {
			return
		}
		fmt.Fprintf(&s.out, "%7.3fs %s %s", s.Now().Seconds(), id, tr.What)
		if tr.Peer != "" && tr.Peer != id {
			fmt.Fprintf(&s.out, " %s", tr.Peer)
		}
		fmt.Fprintf(&s.out, ", epoch %d", tr.Epoch)
		if tr.Version != 0 || tr.What == "truncated" {
			fmt.Fprintf(&s.out, ", offset %d", tr.Version)
		}
		if tr.Why != "" {
			fmt.Fprintf(&s.out, ": %s", tr.Why)
		}
		s.out.WriteByte('\n')
	})
	return s
}

func (s *scenario) replica(id string) *machine {
	m, _ := s.Machine(node.ID(id)).(*machine)
	return m
}

func (s *scenario) do(t *testing.T, d *datadriven.TestData, words []string) {
	switch words[0] {
	case "run":
		length, err := time.ParseDuration(words[1])
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		s.run(length)
	case "cut", "mute":
		s.cut(words[0] == "cut", node.ID(words[1]), words[2:])
	case "heal":
		clear(s.cuts)
	case "crash":
		s.Crash(node.ID(words[1]))
	case "restart":
		s.Restart(node.ID(words[1]))
	case "pause":
		s.Pause(node.ID(words[1]))
	case "resume":
		s.Resume(node.ID(words[1]))
	case "append":
		m := s.replica(words[1])
		for _, letter := range words[2] {
			if _, err := m.Append(m.quorum.Epoch, []byte(string(letter))); err != nil {
				fmt.Fprintln(&s.out, err)
			}
		}
	case "resign":
		s.replica(words[1]).Resign()
	case "read":
		at := s.Now()
		s.replica(words[1]).ReadIndex(func(index int64, err error) {
			fmt.Fprintf(&s.out, "%7.3fs %s answers the read of %.3fs: ", s.Now().Seconds(), words[1], at.Seconds())
			if err != nil {
				fmt.Fprintln(&s.out, err)
				return
			}
			fmt.Fprintf(&s.out, "%q, offset %d\n", s.replica(words[1]).text, index)
		})
	case "status":
		s.status()
	default:
		d.Fatalf(t, "no command %q", words[0])
	}
}

// run lets time pass with the invariants watched at every step.
func (s *scenario) run(length time.Duration) {
	done := false
	s.At(s.Now()+length, func() { done = true })
	for !done && s.Step() {
		for _, id := range s.nodes {
			if m := s.replica(string(id)); m != nil {
				if err := s.watch.Observe(s.Now(), m.Replica); err != nil {
					fmt.Fprintf(&s.out, "%7.3fs VIOLATION: %v\n", s.Now().Seconds(), err)
					return
				}
			}
		}
	}
}

func (s *scenario) cut(both bool, a node.ID, others []string) {
	if len(others) == 0 {
		for _, id := range s.nodes {
			others = append(others, string(id))
		}
	}
	for _, o := range others {
		s.cuts[[2]node.ID{a, node.ID(o)}] = true
		if both {
			s.cuts[[2]node.ID{node.ID(o), a}] = true
		}
	}
}

func (s *scenario) status() {
	for _, id := range s.nodes {
		m := s.replica(string(id))
		if m == nil {
			fmt.Fprintf(&s.out, "%s down\n", id)
			continue
		}
		st := m.Standing()
		leader := string(st.Leader)
		if leader == "" {
			leader = "none"
		}
		fmt.Fprintf(&s.out, "%s %-11s epoch %d, leader %s, log %d to %d, high watermark %d, applied %q\n",
			id, m.Role(), st.Epoch, leader, m.log.Start(), m.End(), m.HighWatermark(), m.text)
	}
}
