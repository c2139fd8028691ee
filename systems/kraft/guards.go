package kraft

import (
	"fmt"
	"strings"

	"github.com/stalemate-io/stalemate/systems/kraft/raft"
)

// Guards are the safety rules of the design, each a switch. All but the extras
// are on in Kafka.
type Guards struct {
	// The rules of the metadata log; package raft describes them.
	PreVote, CheckQuorum, VoteDurability, FsyncBeforeAck, Truncation, OwnEpochCommit, QuorumConfirm bool
	// BrokerEpoch makes the controller refuse what an earlier incarnation of
	// a broker sent, and keep incarnations out of the in-sync replicas that
	// are not the one that had caught up (KIP-841, KIP-903).
	BrokerEpoch bool

	// SelfFencing makes a broker stop serving when no controller has
	// confirmed its session for nine tenths of the session time-out, and go on
	// only when it has applied the log up to where it was fenced. An extra: a
	// Kafka broker that is cut off from the controllers goes on. It keeps
	// deposed leaders from serving as long as in-sync sets shrink by time-outs
	// alone and ReplicaLagTime is longer than the session time-out; a
	// reassignment takes a leader that is cut off out of the set at once.
	SelfFencing bool
	// DataFlush makes brokers flush a partition's log before its records
	// count as replicated. An extra: Kafka leaves that to replication.
	DataFlush bool
}

// AllGuards has every rule in force that Kafka has, and no extras.
func AllGuards() Guards {
	return Guards{
		PreVote: true, CheckQuorum: true, VoteDurability: true, FsyncBeforeAck: true,
		Truncation: true, OwnEpochCommit: true, QuorumConfirm: true, BrokerEpoch: true,
	}
}

// guard joins a guard's name with its place.
type guard struct {
	name string
	at   func(*Guards) *bool
}

var guards = []guard{
	{"pre-vote", func(g *Guards) *bool { return &g.PreVote }},
	{"check-quorum", func(g *Guards) *bool { return &g.CheckQuorum }},
	{"vote-durability", func(g *Guards) *bool { return &g.VoteDurability }},
	{"fsync-before-ack", func(g *Guards) *bool { return &g.FsyncBeforeAck }},
	{"truncation-on-divergence", func(g *Guards) *bool { return &g.Truncation }},
	{"hw-own-epoch", func(g *Guards) *bool { return &g.OwnEpochCommit }},
	{"quorum-confirm", func(g *Guards) *bool { return &g.QuorumConfirm }},
	{"broker-epoch", func(g *Guards) *bool { return &g.BrokerEpoch }},
}

var extras = []guard{
	{"self-fencing", func(g *Guards) *bool { return &g.SelfFencing }},
	{"data-flush", func(g *Guards) *bool { return &g.DataFlush }},
}

// GuardNames lists the guards that are on unless switched off.
func GuardNames() []string { return names(guards) }

// ExtraGuardNames lists the guards that are off unless switched on.
func ExtraGuardNames() []string { return names(extras) }

func names(list []guard) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = s.name
	}
	return out
}

// Set switches the guard of that name. The error lists the names there are.
func (g *Guards) Set(name string, on bool) error {
	for _, list := range [][]guard{guards, extras} {
		for _, s := range list {
			if s.name == name {
				*s.at(g) = on
				return nil
			}
		}
	}
	return fmt.Errorf("kraft has no guard %q: expected one of %s",
		name, strings.Join(append(GuardNames(), ExtraGuardNames()...), ", "))
}

func (g Guards) raft() raft.Guards {
	return raft.Guards{
		PreVote: g.PreVote, CheckQuorum: g.CheckQuorum, VoteDurability: g.VoteDurability,
		FsyncBeforeAck: g.FsyncBeforeAck, Truncation: g.Truncation, OwnEpochCommit: g.OwnEpochCommit,
		QuorumConfirm: g.QuorumConfirm,
	}
}
