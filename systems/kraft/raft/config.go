package raft

import (
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
)

// Config is what all replicas of a quorum agree on. The zero value of a duration
// or a size is replaced by the default, which is Kafka's where it has one.
type Config struct {
	// Voters are the members of the quorum; everybody else is an observer.
	Voters []node.ID
	// ElectionTimeout T is how long a voter without a leader waits before it
	// stands: a random time in [T, 2T). Default 1 s.
	ElectionTimeout time.Duration
	// FetchTimeout is how long a follower believes in a leader that does not
	// answer its fetches. Default 2 s. A leader that no majority has fetched
	// from for one and a half times as long resigns.
	FetchTimeout time.Duration
	// FetchMaxWait is how long a fetch that finds nothing waits at the leader.
	// Default 500 ms.
	FetchMaxWait time.Duration
	// RequestTimeout ends a call without an answer. Default 1 s, half of
	// Kafka's, so that one lost message does not cost a whole FetchTimeout.
	RequestTimeout time.Duration
	// RetryBackoff is the pause before a call is tried again. Default 50 ms.
	RetryBackoff time.Duration
	// MaxElectionBackoff bounds the random pause after a lost election, which
	// doubles with every one lost in a row. Default 1 s.
	MaxElectionBackoff time.Duration
	// MaxFetchBatches bounds the batches in the answer to one fetch. Default 64.
	MaxFetchBatches int
	// SnapshotEvery is the number of records applied after which a replica
	// takes a snapshot and drops its log up to it. Default 0: never.
	SnapshotEvery int64
	// SnapshotChunk bounds the bytes in one answer to FetchSnapshot. Default 4 KiB.
	SnapshotChunk int
	// EagerHighWatermark answers a waiting fetch as soon as the high watermark
	// has passed what its sender knows (KIP-1166, Kafka 4.1). Without it a
	// commit reaches the others with their next fetch, up to FetchMaxWait
	// later.
	EagerHighWatermark bool
	// Guards are the safety rules in force.
	Guards Guards
}

// Guards are Raft's safety rules, each a switch.
type Guards struct {
	// PreVote asks a majority whether it would vote before the epoch is
	// raised, so that a voter that was cut off does not depose a healthy
	// leader when it comes back.
	PreVote bool
	// CheckQuorum makes a leader that a majority does not fetch from resign.
	CheckQuorum bool
	// VoteDurability writes a vote to disk before it is given.
	VoteDurability bool
	// FsyncBeforeAck makes a voter's records durable before they count: its
	// own before its next fetch, the leader's before the high watermark moves.
	FsyncBeforeAck bool
	// Truncation makes the leader compare epochs at the offset a follower
	// fetches from, and the follower drop what parted from the leader's log.
	Truncation bool
	// OwnEpochCommit lets the high watermark move only past the start of the
	// leader's own epoch: records of earlier epochs commit with a later one.
	OwnEpochCommit bool
	// QuorumConfirm makes a quorum read wait until a majority has confirmed,
	// after the read arrived, that the leader still leads.
	QuorumConfirm bool
}

// AllGuards has every rule in force.
func AllGuards() Guards {
	return Guards{
		PreVote: true, CheckQuorum: true, VoteDurability: true, FsyncBeforeAck: true,
		Truncation: true, OwnEpochCommit: true, QuorumConfirm: true,
	}
}

// withDefaults fills in what was left out.
func (c Config) withDefaults() Config {
	durations := []struct {
		at    *time.Duration
		value time.Duration
	}{
		{&c.ElectionTimeout, time.Second},
		{&c.FetchTimeout, 2 * time.Second},
		{&c.FetchMaxWait, 500 * time.Millisecond},
		{&c.RequestTimeout, time.Second},
		{&c.RetryBackoff, 50 * time.Millisecond},
		{&c.MaxElectionBackoff, time.Second},
	}
	for _, d := range durations {
		if *d.at == 0 {
			*d.at = d.value
		}
	}
	if c.MaxFetchBatches == 0 {
		c.MaxFetchBatches = 64
	}
	if c.SnapshotChunk == 0 {
		c.SnapshotChunk = 4 << 10
	}
	return c
}

// checkQuorumTimeout is how long a leader goes on without fetches from a majority.
func (c Config) checkQuorumTimeout() time.Duration { return c.FetchTimeout * 3 / 2 }
