package nemesis

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/stalemate-io/stalemate/systems"
)

// Fault is a kind of trouble.
type Fault interface {
	// Name is the fault's name on the command line and in histories.
	Name() string
	// Available returns an error that says why the cluster cannot be hurt
	// this way, if it cannot.
	Available(systems.Cluster) error
	// Plan chooses targets. It asks the cluster what it needs to know and
	// changes nothing.
	Plan(context.Context, systems.Cluster, *rand.Rand) (Disruption, error)
}

// Disruption is a fault with its targets chosen.
type Disruption struct {
	// Targets are the nodes that it is aimed at.
	Targets []string
	// What says in a sentence what is done to them.
	What string
	// Begin does it, End undoes it. End is called whatever Begin returned,
	// since a disruption may begin in part.
	Begin, End func(context.Context) error
}

// Settings are what the faults need to know beyond the cluster.
type Settings struct {
	// Delay is how long a slow link holds back what it carries.
	Delay time.Duration
	// Hold is how long a late push is held back.
	Hold time.Duration
}

// DefaultDelay is the delay of a slow link: far above a healthy round trip, far
// below what a follower takes for a dead leader.
const DefaultDelay = 100 * time.Millisecond

// DefaultHold is for how long a push is held back: longer than its sender is likely
// to wait for the answer.
const DefaultHold = 10 * time.Second

// All lists the faults, in the order in which they are documented.
func All(s Settings) []Fault {
	if s.Delay <= 0 {
		s.Delay = DefaultDelay
	}
	if s.Hold <= 0 {
		s.Hold = DefaultHold
	}
	return []Fault{
		isolate{leaderOnly: true},
		isolate{},
		lose{store: true, leaderOnly: true},
		lose{store: true},
		lose{leaderOnly: true},
		lose{},
		pause{leaderOnly: true},
		pause{},
		kill{leaderOnly: true},
		kill{},
		cutOneWay{},
		halves{},
		bridge{},
		slowLink{delay: s.Delay},
		latePush{hold: s.Hold},
	}
}

// Names lists the faults' names.
func Names() []string {
	var names []string
	for _, f := range All(Settings{}) {
		names = append(names, f.Name())
	}
	return names
}

// Parse turns a comma-separated list of names into faults. An empty list and
// "none" mean no fault; the first word of a name stands for all faults that begin
// with it, so that "kill" is kill-leader and kill-node.
func Parse(list string, s Settings) ([]Fault, error) {
	if list = strings.TrimSpace(list); list == "" || list == "none" {
		return nil, nil
	}
	all := All(s)
	var faults []Fault
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		before := len(faults)
		for _, f := range all {
			if f.Name() == name || strings.HasPrefix(f.Name(), name+"-") {
				faults = append(faults, f)
			}
		}
		if len(faults) == before {
			return nil, fmt.Errorf("no fault %q: expected one or more of %s, with commas, or none",
				name, strings.Join(Names(), ", "))
		}
	}
	return faults, nil
}
