package main

import (
	"fmt"
	"strings"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/systems/zookeeper"
)

// scene is one part of the demo.
type scene struct {
	name, title string
	// text says what happens, why what the reads did follows from it.
	text, why string
	// flags are the scene's own settings of run zookeeper.
	flags string
	// stale are the paths that must have been stale, rounds how often that is
	// tried.
	stale  []string
	rounds int
	// fresh are the paths that must never have been stale.
	fresh []string
}

// scenes lists the demo's scenes. Two ticks and a second is longer than
// followers bear with a silent leader, so that they elect another one.
func scenes() []scene {
	quorum := []string{zookeeper.PathWrite, zookeeper.PathCheck}
	return []scene{
		{
			name:   "demo-slow-follower",
			title:  "slow follower",
			text:   "What the leader sends to one follower takes 100 ms longer, for five of eight seconds.",
			why:    "A get answers from the follower's memory; a sync first lets what is under way arrive.",
			flags:  "--faults=slow-link --fault-for=5s --time=8s --fault-every=8s",
			stale:  []string{zookeeper.PathGet},
			rounds: 2,
			fresh:  append([]string{zookeeper.PathSync}, quorum...),
		},
		{
			name:   "demo-paused-leader",
			title:  "paused leader",
			text:   "The leader stands still for three seconds; the others elect a new one and go on;\nthen the old one wakes, and for up to a tick does not know.",
			why:    "The woken leader answers a sync by itself, without asking anybody.",
			flags:  "--faults=pause-leader --fault-for=3s --time=7s --fault-every=7s",
			stale:  []string{zookeeper.PathGet, zookeeper.PathSync},
			rounds: 5,
			fresh:  quorum,
		},
		{
			name:   "demo-cut-off-leader",
			title:  "cut-off leader",
			text:   "The leader is cut off from its followers, not from its clients, for four seconds.",
			why:    "The old leader steps down up to a tick after its followers gave it up.",
			flags:  "--faults=isolate-leader --fault-for=4s --time=8s --fault-every=8s",
			rounds: 1,
			fresh:  quorum,
		},
	}
}

// missing says what the verdict does not show that the scene is there to show.
func (s scene) missing(v *checker.Verdict) []string {
	var missing []string
	for _, path := range s.stale {
		if p := v.Paths[path]; p == nil || p.StaleReads == 0 {
			missing = append(missing, "no stale "+path)
		}
	}
	for _, path := range s.fresh {
		if p := v.Paths[path]; p == nil || p.Reads == 0 {
			missing = append(missing, "no "+path+" returned")
		} else if p.StaleReads > 0 {
			missing = append(missing, fmt.Sprintf("%d stale reads by %s", p.StaleReads, path))
		}
	}
	return missing
}

// told says in a sentence what was seen, and why.
func (s scene) told(v *checker.Verdict) string {
	var stale, fresh []string
	for _, path := range zookeeper.Paths() {
		p := v.Paths[path.Name]
		switch {
		case p == nil || p.Reads == 0:
		case p.StaleReads > 0:
			stale = append(stale, path.Name)
		default:
			fresh = append(fresh, path.Name)
		}
	}
	said := "Nothing was stale."
	if len(stale) > 0 {
		said = "Stale: " + strings.Join(stale, ", ") + "; never stale: " + strings.Join(fresh, ", ") + "."
	}
	if node := worst(v.Paths[zookeeper.PathGet]); node.StaleReads > 0 {
		said += fmt.Sprintf(" Through %s, %d of %d gets\n  were stale.", node.Name, node.StaleReads, node.Reads)
	}
	return "  " + said + "\n  " + s.why
}

// worst gives the node with the most stale reads.
func worst(v *checker.Verdict) checker.Share {
	var most checker.Share
	if v == nil {
		return most
	}
	for _, node := range v.Nodes {
		if node.StaleReads > most.StaleReads {
			most = node
		}
	}
	return most
}
