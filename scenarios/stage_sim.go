package scenarios

import (
	"fmt"
	"time"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/internal/toys"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/sim"
	"github.com/stalemate-io/stalemate/workloads/leadership"
)

// simulated is a cluster in a world of its own, in which every delay is constant.
type simulated struct {
	cluster *toys.Cluster
	client  *lender
}

// lender is a client that only lends its Env.
type lender struct{ env node.Env }

func (l *lender) Start()                                            {}
func (l *lender) Receive(node.ID, node.Message, func(node.Message)) {}

// simulate boots the cluster of an act, and lets it come up until every broker
// knows both partitions.
func simulate(a *Act) (stage, error) {
	k, err := toys.New(toys.Config{
		System: a.System, Controllers: controllerCount, Brokers: brokerCount, Partitions: partitionCount,
		Off: a.Off, On: a.On, Steady: true, Trace: true, Seed: 1,
	})
	if err != nil {
		return nil, err
	}
	s := &simulated{k, &lender{}}
	if err := k.AddClient("x1", func(env node.Env) node.Machine {
		s.client.env = env
		return s.client
	}); err != nil {
		return nil, err
	}
	for k.Now() < 30*time.Second {
		k.Run(k.Now() + 500*time.Millisecond)
		if t, err := k.Truth(); err != nil || len(t) < partitionCount || k.Active() == "" {
			continue
		}
		k.Run(k.Now() + time.Second)
		return s, nil
	}
	return nil, fmt.Errorf("the cluster was not ready after 30 s")
}

func (s *simulated) nodes() []node.ID   { return s.cluster.Nodes() }
func (s *simulated) brokers() []node.ID { return s.cluster.Brokers }
func (s *simulated) active() node.ID    { return s.cluster.Active() }
func (s *simulated) now() time.Duration { return s.cluster.Now() }

func (s *simulated) wait(d time.Duration) error {
	s.cluster.Run(s.now() + d)
	return nil
}

// call lets time pass until there is an answer, or none.
func (s *simulated) call(to node.ID, m node.Message, timeout time.Duration, done func(node.Message, error)) error {
	ended := false
	s.client.env.Call(to, m, timeout, func(m node.Message, err error) {
		done(m, err)
		ended = true
	})
	for end := s.now() + timeout + time.Second; !ended && s.now() < end; {
		s.cluster.Run(s.now() + 500*time.Microsecond)
	}
	return nil
}

func (s *simulated) fault(f sim.Fault) error {
	f.At = s.now()
	if err := s.cluster.Schedule([]sim.Fault{f}, 0); err != nil {
		return err
	}
	return s.wait(time.Microsecond)
}

func (s *simulated) recording() leadership.Recording { return s.cluster.Recording() }
func (s *simulated) record(e histories.Event)        { s.cluster.Record(e) }
func (s *simulated) trace() ([]sim.Entry, error)     { return s.cluster.Trace(), nil }

func (s *simulated) truth() ([]leadership.Change, bool, error) {
	changes, err := s.cluster.Truth()
	return changes, true, err
}

func (s *simulated) end() ([]histories.Event, []leadership.Change, error) {
	changes, err := s.cluster.Truth()
	return s.cluster.History(), changes, err
}

func (s *simulated) close() error { return nil }
