package kraft

import (
	"fmt"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/sim"
)

// Who the faults hit.

func anybody(w *weather) node.ID {
	if a := w.active(); a != "" && w.rand.IntN(3) == 0 {
		return a
	}
	return pick(w.rand, w.nodes)
}

func controllers(w *weather) node.ID { return pick(w.rand, w.cfg.Controllers) }

func brokers(w *weather) node.ID { return BrokerNode(pick(w.rand, w.cfg.Brokers)) }

func theActive(w *weather) node.ID { return w.active() }

// aFollower is a voter that is up and does not lead.
func aFollower(w *weather) node.ID {
	id := controllers(w)
	if w.active() == "" || id == w.active() {
		return ""
	}
	return id
}

// ordinary has a bit of everything, on the default cluster.
var ordinary = storm{
	config: func() Config { return Cluster(3, 5, 12) },
	length: 20 * time.Second, gap: 700 * time.Millisecond, outage: 4 * time.Second,
	kinds: []string{"crash", "crash-at-effect", "isolate", "one-way", "pause"}, victim: anybody,
	loss: 5, copies: 5, writes: 100 * time.Millisecond,
}

// swarm has whatever the simulator can do, half of the kinds at a time.
var swarm = storm{
	config: func() Config { return Cluster(3, 5, 12) },
	length: 20 * time.Second, writes: 100 * time.Millisecond,
	profile: &sim.Profile{
		Messages: []string{"Vote", "VoteResponse", "BeginQuorumEpoch", "Fetch", "FetchResponse", "BrokerRegistration", "BrokerHeartbeat", "AlterPartition", "ReplicaFetch"},
		Notes:    []string{"candidate", "voted", "leading", "active", "truncated", "appended", "committed", "applied", "role"},
		Until:    18 * time.Second, Every: 700 * time.Millisecond, For: 2 * time.Second,
	},
}

// quorumOnly is a cluster of controllers that are impatient and always write, so
// that there are many elections with many records at stake.
func quorumOnly() Config {
	cfg := Cluster(3, 0, 0)
	cfg.MaxIdle = 20 * time.Millisecond
	cfg.Raft.ElectionTimeout = 100 * time.Millisecond
	cfg.Raft.FetchTimeout = 200 * time.Millisecond
	cfg.Raft.FetchMaxWait = 50 * time.Millisecond
	cfg.Raft.RequestTimeout = 100 * time.Millisecond
	cfg.Raft.RetryBackoff = 10 * time.Millisecond
	cfg.Raft.MaxElectionBackoff = 100 * time.Millisecond
	cfg.Raft.MaxFetchBatches = 1
	return cfg
}

// slow makes messages and disks slow against the time-outs of quorumOnly.
var slow = sim.Config{Delay: sim.LogNormal(10*time.Millisecond, 1), Sync: sim.LogNormal(3*time.Millisecond, 1)}

// elections is hard on those who have just been elected.
var elections = storm{
	config: quorumOnly, world: slow,
	length: 10 * time.Second, gap: 150 * time.Millisecond, outage: 900 * time.Millisecond,
	kinds: []string{"crash", "crash-at-effect", "isolate", "one-way", "pause"}, victim: anybody,
	loss: 5, copies: 20, writes: 100 * time.Millisecond, newborn: 4,
}

// restarts has voters crash and come back within an election.
var restarts = storm{
	config: quorumOnly, world: slow,
	length: 10 * time.Second, gap: 80 * time.Millisecond, outage: 200 * time.Millisecond,
	kinds: []string{"crash", "crash-at-effect"}, victim: anybody,
	loss: 5, copies: 20, writes: 100 * time.Millisecond, newborn: 4,
}

// cutOff cuts the active controller off from the other nodes, not from clients.
var cutOff = storm{
	config: func() Config { return Cluster(3, 3, 3) },
	length: 40 * time.Second, gap: 5 * time.Second, outage: 20 * time.Second, alone: true,
	kinds: []string{"isolate"}, victim: theActive,
	writes: 20 * time.Millisecond,
	also: func(w *weather) error {
		for _, id := range w.cfg.Controllers {
			if c := w.controller(id); c != nil {
				// Nobody is paused here: one and a half times the fetch
				// time-out, and as much again for good measure.
				if since, ok := w.invariants.Deposed(w.Now(), c.replica); ok && since > 6*time.Second {
					return fmt.Errorf("%s leads on, %v after a successor was elected", id, since)
				}
			}
		}
		return nil
	},
}

// loneVoter cuts off a voter that does not lead and lets it come back.
var loneVoter = storm{
	config: func() Config { return Cluster(3, 1, 1) },
	length: 30 * time.Second, gap: 3 * time.Second, outage: 15 * time.Second, alone: true,
	kinds: []string{"isolate"}, victim: aFollower,
	writes: 200 * time.Millisecond,
	also: func(w *weather) error {
		if n := w.invariants.Elections(); n > 1 {
			return fmt.Errorf("a healthy leader was deposed: %d elections", n)
		}
		return nil
	},
}

// incarnations has brokers crash and register again while what leaders ask for
// them is late.
var incarnations = storm{
	config: func() Config {
		cfg := Cluster(1, 3, 2)
		cfg.SessionTimeout, cfg.HeartbeatInterval = time.Second, 200*time.Millisecond
		cfg.ReplicaLagTime = 2 * time.Second
		return cfg
	},
	length: 40 * time.Second, gap: 700 * time.Millisecond, outage: 5 * time.Second,
	kinds: []string{"crash", "pair"}, victim: brokers,
	quiet: true, writes: 10 * time.Millisecond, late: map[string]time.Duration{"AlterPartition": 6 * time.Second},
	also: func(w *weather) error {
		var up []*Broker
		for _, n := range w.cfg.Brokers {
			if b := w.broker(n); b != nil {
				up = append(up, b)
			}
		}
		return checkInSync(up)
	},
}
