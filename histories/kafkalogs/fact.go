package kafkalogs

import (
	"fmt"
	"math"
)

// Kind is what a Fact says.
type Kind uint8

// The kinds of facts.
const (
	// Decided: a controller, the store or the metadata log has this state of a
	// partition.
	Decided Kind = iota + 1
	// Created: a controller made a new partition; its epochs begin anew.
	Created
	// SentRole and SentCache: a controller sends a state to the brokers To, in a
	// LeaderAndIsr or an UpdateMetadata request.
	SentRole
	SentCache
	// Received: a broker got a state in a LeaderAndIsr request. That it acts on
	// it shows in a Role.
	Received
	// Handling: a broker begins with a LeaderAndIsr request; the roles that
	// follow are its doing, in no order of their own.
	Handling
	// Role: a broker became leader, or follower, of a partition.
	Role
	// Cached: a broker has put a state into the metadata cache from which it
	// answers clients. Dropped: it has deleted a partition there.
	Cached
	Dropped
	// Commanded: a broker did what a controller of this epoch asked; of which
	// partitions is not said.
	Commanded
	// Fenced: a broker refused a request of a controller whose epoch, or of a
	// sender whose broker epoch, is old. Refused: it refused one partition's
	// state for its leader epoch.
	Fenced
	Refused
	// Elected: a node became the active controller, or the leader of the
	// metadata quorum, in this ControllerEpoch.
	Elected
	// Shown: a tool printed who leads, as some broker answered it. There is no
	// epoch.
	Shown
)

var kindNames = [...]string{
	Decided: "decided", Created: "created", SentRole: "sent LeaderAndIsr", SentCache: "sent UpdateMetadata",
	Received: "received LeaderAndIsr", Handling: "handles LeaderAndIsr", Role: "became", Cached: "cached", Dropped: "dropped from the cache",
	Commanded: "obeyed", Fenced: "fenced", Refused: "refused", Elected: "elected", Shown: "shown",
}

// String gives the kind in a word or two.
func (k Kind) String() string {
	if int(k) < len(kindNames) && kindNames[k] != "" {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Unknown stands for a number that a line does not tell.
const Unknown int32 = math.MinInt32

// NoLeader and LeaderDuringDelete are leaders that are none.
const (
	NoLeader           int32 = -1
	LeaderDuringDelete int32 = -2
)

// State is a partition's leadership as a line tells it.
type State struct {
	Leader          int32
	LeaderEpoch     int32
	ControllerEpoch int32 // of the controller that decided it
	PartitionEpoch  int32 // zkVersion up to 3.2
	ISR             []int32
}

func unknownState() State { return State{Unknown, Unknown, Unknown, Unknown, nil} }

// Fact is one thing that one line says.
type Fact struct {
	Kind Kind
	// File and Line say where it stands, Text what the line says, cut to a
	// length that can be shown.
	File string
	Line int
	Text string
	// Time is the line's time as it was written, empty where there is none; in
	// a metadata log that of the record, in ms since 1970. Clocks of different machines are not to be compared.
	Time string
	// Node is who logged it, Unknown if the line does not say.
	Node int32
	// Controller and ControllerEpoch are whose request it was, and Correlation
	// joins what one request brought; Unknown where not told.
	Controller      int32
	ControllerEpoch int32
	Correlation     int32
	// Offset is the place in the metadata log, -1 elsewhere.
	Offset int64
	// Partition is topic-number, empty where the fact is not about one.
	Partition string
	State     State
	// New says that a decision is the first of a new partition.
	New bool
	// To are the brokers that something is sent to.
	To []int32
	// Why is the reason of a refusal.
	Why string
}
