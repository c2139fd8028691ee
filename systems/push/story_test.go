package push

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/sim"
)

// TestStories plays the stories in testdata, each a cluster whose every delay is
// constant, so that what happens next is what the story says.
//
//	cluster [off=GUARD,...] [direct-isr]   boots c1, then b1 to b3, then c2; topic t has two partitions
//	faults                                 begins the faults of the lines below, now
//	run D                                  lets time pass
//	elect P TARGET [at=C] [unanswered]     asks for an election
//	move P B,B,... [at=C]                  asks for a reassignment
//	produce P VALUE at=B [acks=all]        appends a value
//	fetch P at=B                           reads a partition
//	ask P                                  shows what every broker tells a client
//	believe P                              shows what is true, and what each broker holds in its two stores
//	traced WHAT...                         shows what was traced since last asked
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &story{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if s.testCluster != nil {
				s.t = t
			}
			return s.play(t, d)
		})
	})
}

type story struct {
	*testCluster
	traces []string
}

func (s *story) play(t *testing.T, d *datadriven.TestData) string {
	if d.Cmd != "cluster" && s.testCluster == nil {
		d.Fatalf(t, "a story begins with cluster")
	}
	word := func(i int) string {
		if i >= len(d.CmdArgs) {
			d.Fatalf(t, "%s needs more words", d.Cmd)
		}
		return d.CmdArgs[i].Key
	}
	at := func(or string) node.ID {
		if d.HasArg("at") {
			d.ScanArgs(t, "at", &or)
		}
		return node.ID(or)
	}
	integer := func(text string) int32 {
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		return int32(n)
	}
	partition := func() protocol.Partition {
		return protocol.Partition{Topic: "t", Index: integer(strings.TrimPrefix(word(0), "t-"))}
	}
	active := string(ControllerID(1))
	if s.testCluster != nil && s.active() != 0 {
		active = string(ControllerID(s.active()))
	}
	switch d.Cmd {
	case "cluster":
		s.boot(t, d)
		return ""
	case "faults":
		var faults []sim.Fault
		for _, line := range strings.Split(d.Input, "\n") {
			f, err := sim.ParseFault(fmt.Sprintf("at %v %s", s.w.Now(), line))
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			faults = append(faults, f)
		}
		if err := s.w.Schedule(faults, 0); err != nil {
			d.Fatalf(t, "%v", err)
		}
		return ""
	case "run":
		span, err := time.ParseDuration(word(0))
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		s.w.Run(s.w.Now() + span)
		return ""
	case "elect":
		request := &protocol.ElectLeadersRequest{Partition: partition(), Target: integer(word(1))}
		if d.HasArg("unanswered") {
			s.client.Send(at(active), request)
			return ""
		}
		return s.admin(at(active), request)
	case "move":
		var to []int32
		for _, b := range strings.Split(word(1), "/") {
			to = append(to, integer(b))
		}
		return s.admin(at(active), &protocol.AlterReassignmentRequest{Partition: partition(), Replicas: to})
	case "produce":
		r := &protocol.ProduceRequest{Partition: partition(), Value: int64(integer(word(1))), LeaderEpoch: -1, AcksAll: d.HasArg("acks")}
		answer, err := s.ask(at(""), r)
		if err != nil {
			return err.Error()
		}
		a := answer.(*protocol.ProduceResponse)
		if a.Error != protocol.None {
			return string(a.Error)
		}
		return fmt.Sprintf("appended at offset %d in epoch %d", a.Offset, a.LeaderEpoch)
	case "fetch":
		answer, err := s.ask(at(""), &protocol.FetchRequest{Partition: partition(), LeaderEpoch: -1})
		if err != nil {
			return err.Error()
		}
		a := answer.(*protocol.FetchResponse)
		if a.Error != protocol.None {
			return string(a.Error)
		}
		return fmt.Sprintf("%v in epoch %d", a.Values, a.LeaderEpoch)
	case "ask":
		return s.tell(partition())
	case "believe":
		return s.believe(partition())
	case "traced":
		var kinds []string
		for i := range d.CmdArgs {
			kinds = append(kinds, word(i))
		}
		var out []string
		for _, line := range s.traces {
			if slices.ContainsFunc(kinds, func(k string) bool { return strings.Contains(line, " "+k+":") }) {
				out = append(out, line)
			}
		}
		s.traces = nil
		if len(out) == 0 {
			return "nothing"
		}
		return strings.Join(out, "\n")
	}
	d.Fatalf(t, "no such command")
	return ""
}

// boot starts the nodes one after the other, so that c1 is the controller.
func (s *story) boot(t *testing.T, d *datadriven.TestData) {
	cfg := DefaultConfig()
	cfg.Brokers, cfg.Topics = 3, []Topic{SpreadTopic("t", 2, 3, 3)}
	if d.HasArg("off") {
		var names string
		d.ScanArgs(t, "off", &names)
		for _, name := range strings.Split(names, "/") {
			if err := cfg.Guards.Set(name, false); err != nil {
				d.Fatalf(t, "%v", err)
			}
		}
	}
	cfg.DirectISR = d.HasArg("direct-isr")
	if err := cfg.Validate(); err != nil {
		d.Fatalf(t, "%v", err)
	}
	*s = story{testCluster: &testCluster{t: t, cfg: cfg, nodes: map[string]topicNode{}}}
	s.w = sim.New(sim.Config{
		Seed: 1, Delay: sim.Constant(time.Millisecond), Sync: sim.Constant(time.Millisecond),
		Store: &sim.StoreConfig{
			SessionTimeout: 6 * time.Second, Commit: sim.Constant(time.Millisecond), Lag: sim.Constant(time.Millisecond),
		},
	})
	s.w.OnTrace(s.note)
	s.add("c1", NewController(cfg))
	s.w.Run(100 * time.Millisecond)
	for _, id := range cfg.BrokerIDs() {
		s.add(id, NewBroker(cfg))
		s.w.Run(s.w.Now() + 20*time.Millisecond)
	}
	s.add("c2", NewController(cfg))
	s.addClient()
	s.settle()
	s.traces = nil
}

func (s *story) note(id node.ID, t node.Trace) {
	line := fmt.Sprintf("%s %s:", id, t.What)
	if t.Peer != "" {
		line += " " + string(t.Peer)
	}
	if t.Key != "" {
		line += fmt.Sprintf(" %s leader %d e%d v%d", t.Key, t.Leader, t.Epoch, t.Version)
	} else if t.Epoch > 0 {
		line += fmt.Sprintf(" controller epoch %d", t.Epoch)
	}
	if t.Why != "" {
		line += " (" + t.Why + ")"
	}
	s.traces = append(s.traces, line)
}

func (s *story) admin(to node.ID, r node.Message) string {
	answer, err := s.ask(to, r)
	if err != nil {
		return err.Error()
	}
	a := answer.(*protocol.AdminResponse)
	if a.Error != protocol.None {
		if a.Error == protocol.NotController {
			return fmt.Sprintf("%s, ask %q", a.Error, a.Controller)
		}
		return string(a.Error)
	}
	return fmt.Sprintf("leader %d e%d v%d", a.Leader, a.LeaderEpoch, a.Version)
}

func (s *story) tell(p protocol.Partition) string {
	var lines []string
	for _, id := range s.cfg.BrokerIDs() {
		if s.w.Machine(id) == nil {
			lines = append(lines, fmt.Sprintf("%s is down", id))
			continue
		}
		answer, err := s.ask(id, &protocol.MetadataRequest{Partition: p})
		if err != nil {
			lines = append(lines, fmt.Sprintf("%s: %v", id, err))
			continue
		}
		a := answer.(*protocol.MetadataResponse)
		line := fmt.Sprintf("%s: leader %d e%d, controller %s", id, a.Leader, a.LeaderEpoch, a.Controller)
		if a.Error != protocol.None {
			line += " " + string(a.Error)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func (s *story) believe(p protocol.Partition) string {
	state, version := s.truth(p)
	lines := []string{fmt.Sprintf("store: leader %d e%d v%d isr %v", state.Leader, state.LeaderEpoch, version, state.ISR)}
	for n := int32(1); n <= int32(s.cfg.Brokers); n++ {
		b := s.broker(n)
		if b == nil {
			lines = append(lines, fmt.Sprintf("b%d: down", n))
			continue
		}
		leader, epoch, v, _ := b.Believes(p)
		line := fmt.Sprintf("b%d: cache leader %d e%d v%d", n, leader, epoch, v)
		leads, leader, epoch := b.Role(p)
		if leads {
			line += fmt.Sprintf(", leads e%d", epoch)
		} else {
			line += fmt.Sprintf(", follows %d e%d", leader, epoch)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
