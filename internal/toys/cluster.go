// Package toys puts a toy system, its faults and its clients into one simulated
// world, the same for every system, runs it and judges what came of it.
package toys

import (
	"fmt"
	"time"

	"github.com/stalemate-io/stalemate/systems/kraft"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/push"
	"github.com/stalemate-io/stalemate/systems/sim"
	"github.com/stalemate-io/stalemate/workloads/leadership"
)

// Config says what a cluster is made of.
type Config struct {
	// System is push or kraft.
	System                           string
	Controllers, Brokers, Partitions int
	Seed                             uint64
	// Off and On switch guards of the system by name.
	Off, On []string
	// Steady makes every delay the same, so that a story is the same at every
	// seed.
	Steady bool
	// Hurried makes the time-outs of kraft's log short and its network slow, so
	// that there are many elections with many records at stake. Push has none.
	Hurried bool
	// Trace keeps what happened to every message.
	Trace bool
	// SessionTimeout is after how much silence a controller or broker is taken
	// for dead, 6 s by default in both systems.
	SessionTimeout time.Duration
}

// Systems lists the systems there are.
func Systems() []string { return []string{"push", "kraft"} }

// Cluster is a system in a world.
type Cluster struct {
	*sim.World
	Config               Config
	Brokers, Controllers []node.ID
	Partitions           []protocol.Partition
	// Paths are the read paths that the system has.
	Paths []protocol.ReadPath

	invariants *kraft.Invariants
	broken     error
	active     func() node.ID
}

// New makes a cluster whose nodes are about to boot.
func New(c Config) (*Cluster, error) {
	if c.SessionTimeout == 0 {
		c.SessionTimeout = 6 * time.Second
	}
	k := &Cluster{Config: c}
	w := sim.Config{Seed: c.Seed, Trace: c.Trace}
	if c.Steady {
		w.Delay, w.Sync = sim.Constant(500*time.Microsecond), sim.Constant(time.Millisecond)
	}
	if c.Hurried {
		w.Delay, w.Sync = sim.LogNormal(10*time.Millisecond, 1), sim.LogNormal(3*time.Millisecond, 1)
	}
	for p := range c.Partitions {
		k.Partitions = append(k.Partitions, protocol.Partition{Topic: "t", Index: int32(p)})
	}
	switch c.System {
	case "push":
		return k, k.push(w)
	case "kraft":
		return k, k.kraft(w)
	}
	return nil, fmt.Errorf("no system %q in the simulator; expected push or kraft", c.System)
}

type switches interface{ Set(string, bool) error }

func (c *Config) guards(g switches) error {
	for _, list := range []struct {
		names []string
		on    bool
	}{{c.Off, false}, {c.On, true}} {
		for _, name := range list.names {
			if err := g.Set(name, list.on); err != nil {
				return err
			}
		}
	}
	return nil
}

// replicaLag is how long a follower may lag and stay in sync, the same in both
// systems: longer than the session time-out, as in Kafka (30 s against 9 s in
// kraft and 18 s with a store), and short enough to happen within a run.
func (c *Config) replicaLag() time.Duration { return c.SessionTimeout * 5 / 3 }

func (k *Cluster) push(w sim.Config) error {
	c := &k.Config
	w.Store = &sim.StoreConfig{SessionTimeout: c.SessionTimeout}
	if c.Steady {
		w.Store.Commit, w.Store.Lag = sim.Constant(2*time.Millisecond), sim.Constant(time.Millisecond)
	}
	cfg := push.Cluster(c.Controllers, c.Brokers, c.Partitions)
	cfg.ReplicaLagTimeMax = c.replicaLag()
	if err := c.guards(&cfg.Guards); err != nil {
		return err
	}
	k.World, k.Brokers, k.Controllers = sim.New(w), cfg.BrokerIDs(), cfg.ControllerIDs()
	k.Paths = []protocol.ReadPath{protocol.ReadBroker, protocol.ReadLeader}
	k.active = func() node.ID { return push.ActiveController(k.World, k.Store().Get) }
	return push.Add(k.World, k.Store().Get, cfg)
}

func (k *Cluster) kraft(w sim.Config) error {
	c := &k.Config
	cfg := kraft.Cluster(c.Controllers, c.Brokers, c.Partitions)
	cfg.SessionTimeout = c.SessionTimeout
	cfg.HeartbeatInterval = c.SessionTimeout / 4
	if c.Hurried {
		cfg.MaxIdle = 20 * time.Millisecond
		cfg.Raft.ElectionTimeout = 100 * time.Millisecond
		cfg.Raft.FetchTimeout = 200 * time.Millisecond
		cfg.Raft.FetchMaxWait = 50 * time.Millisecond
		cfg.Raft.RequestTimeout = 100 * time.Millisecond
		cfg.Raft.RetryBackoff = 10 * time.Millisecond
		cfg.Raft.MaxElectionBackoff = 100 * time.Millisecond
		cfg.Raft.MaxFetchBatches = 1
	}
	cfg.ReplicaLagTime = c.replicaLag()
	if err := c.guards(&cfg.Guards); err != nil {
		return err
	}
	k.World, k.Brokers, k.Controllers = sim.New(w), cfg.BrokerIDs(), cfg.ControllerIDs()
	k.Paths = []protocol.ReadPath{protocol.ReadBroker, protocol.ReadLeader, protocol.ReadQuorum}
	k.active = func() node.ID { return kraft.ActiveController(k.World, cfg) }
	k.invariants = kraft.NewInvariants()
	k.OnTurn(k.check)
	return kraft.Add(k.World, cfg)
}

// Active is the active controller, empty if there is none.
func (k *Cluster) Active() node.ID { return k.active() }

// check asserts the system's invariants after a node's turn.
func (k *Cluster) check(id node.ID, m node.Machine) {
	if err := k.invariants.Check(k.Now(), id, m); err != nil && k.broken == nil {
		k.broken = fmt.Errorf("at %v: %w", k.Now(), err)
	}
}

// Broken says which of the invariants that the system asserts at every step broke
// first, nil if none did.
func (k *Cluster) Broken() error { return k.broken }

// Truth gives every change of leadership that the system committed, in its order.
func (k *Cluster) Truth() ([]leadership.Change, error) {
	var out []leadership.Change
	if k.invariants != nil {
		changes, err := kraft.Truth(k.invariants.Committed())
		for _, c := range changes {
			out = append(out, leadership.Change{Partition: c.Partition, Leader: c.Leader, Epoch: c.LeaderEpoch, Order: c.Offset, At: c.Committed})
		}
		return out, err
	}
	changes, err := push.Truth(Writes(k.Store()))
	for _, c := range changes {
		if c.Moved {
			out = append(out, leadership.Change{Partition: c.Partition, Leader: c.Leader, Epoch: c.LeaderEpoch, Order: c.Zxid, At: c.At})
		}
	}
	return out, err
}

// Writes lists what was committed to a store.
func Writes(s *sim.Store) []push.Write {
	var out []push.Write
	for _, t := range s.Log() {
		for _, c := range t.Changes {
			out = append(out, push.Write{
				Zxid: t.Zxid, At: t.At, By: t.By, Kind: c.Kind, Path: c.Path, Data: c.Data, Version: c.Stat.Version,
			})
		}
	}
	return out
}
