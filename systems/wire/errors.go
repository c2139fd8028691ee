package wire

import (
	"fmt"

	"github.com/stalemate-io/stalemate/systems/kraft"
	"github.com/stalemate-io/stalemate/systems/kraft/raft"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// Error codes that this package itself answers.
const (
	unknownServerError = -1
	unsupportedVersion = 35
	invalidRequest     = 42
	invalidRecord      = 87
	unknownTopicID     = 100
)

// codes are the numbers of error codes, as Kafka's protocol gives them.
var codes = map[protocol.Code]int16{
	protocol.None:                     0,
	protocol.OffsetOutOfRange:         1,
	protocol.UnknownTopicOrPartition:  3,
	protocol.LeaderNotAvailable:       5,
	protocol.NotLeaderOrFollower:      6,
	protocol.RequestTimedOut:          7,
	kraft.BrokerNotAvailable:          8,
	protocol.StaleControllerEpoch:     11,
	protocol.NotEnoughReplicas:        19,
	protocol.UnsupportedVersion:       unsupportedVersion,
	kraft.InvalidReplicaAssignment:    39,
	protocol.NotController:            41,
	protocol.FencedLeaderEpoch:        74,
	protocol.UnknownLeaderEpoch:       75,
	protocol.StaleBrokerEpoch:         77,
	protocol.OffsetNotAvailable:       78,
	protocol.EligibleLeadersNotAvail:  83,
	protocol.ElectionNotNeeded:        84,
	protocol.InvalidUpdateVersion:     95,
	raft.SnapshotNotFound:             98,
	raft.PositionOutOfRange:           99,
	kraft.DuplicateBrokerRegistration: 101,
	kraft.IneligibleReplica:           107,
}

var names = func() map[int16]protocol.Code {
	m := make(map[int16]protocol.Code, len(codes))
	for name, n := range codes {
		m[n] = name
	}
	return m
}()

// code gives the number of an error code. One without a number is a server's own
// trouble to whoever asked.
func code(c protocol.Code) int16 {
	if n, ok := codes[c]; ok {
		return n
	}
	return unknownServerError
}

// codeOf is the inverse of code. Codes that the toys do not know keep their number.
func codeOf(n int16) protocol.Code {
	if c, ok := names[n]; ok {
		return c
	}
	return protocol.Code(fmt.Sprintf("ERROR_%d", n))
}
