package raft

import (
	"github.com/stalemate-io/stalemate/systems/kraft/epochlog"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// Error codes of the metadata log beyond those that clients see.
const (
	SnapshotNotFound   protocol.Code = "SNAPSHOT_NOT_FOUND"
	PositionOutOfRange protocol.Code = "POSITION_OUT_OF_RANGE"
)

// Standing is what every answer says of the quorum: the answering replica's
// epoch and the leader it knows in it, if any.
type Standing struct {
	Epoch  int32
	Leader node.ID
}

// VoteRequest asks for a vote, or with PreVote whether one would be given.
type VoteRequest struct {
	Candidate node.ID
	// Epoch is the epoch stood for; with PreVote, that which the sender is in.
	Epoch int32
	// LastEpoch and LastOffset are the epoch of the candidate's last record
	// and its log end offset.
	LastEpoch  int32
	LastOffset int64
	PreVote    bool
}

// VoteResponse answers a VoteRequest.
type VoteResponse struct {
	Error protocol.Code
	Standing
	Granted bool
}

// BeginQuorumEpochRequest announces a leader to a voter.
type BeginQuorumEpochRequest struct {
	Leader node.ID
	Epoch  int32
}

// BeginQuorumEpochResponse without an error says that the voter follows the
// leader in its epoch.
type BeginQuorumEpochResponse struct {
	Error protocol.Code
	Standing
}

// EndQuorumEpochRequest says that the leader has resigned.
type EndQuorumEpochRequest struct {
	Leader node.ID
	Epoch  int32
	// Preferred are the other voters, those with the longest logs first; the
	// first is to stand at once.
	Preferred []node.ID
}

// EndQuorumEpochResponse answers an EndQuorumEpochRequest.
type EndQuorumEpochResponse struct {
	Error protocol.Code
	Standing
}

// FetchRequest asks for the records from the sender's end offset on, and so
// acknowledges those before it.
type FetchRequest struct {
	Replica node.ID
	// Epoch is the epoch in which the sender takes the receiver for leader.
	Epoch int32
	// Offset is the sender's log end offset, LastEpoch the epoch of its last
	// record.
	Offset    int64
	LastEpoch int32
	// HighWatermark is the one that the sender knows, -1 if none (KIP-1166).
	HighWatermark int64
}

// SnapshotID names a snapshot: it holds everything before End, the last record
// of which is of Epoch.
type SnapshotID struct {
	End   int64
	Epoch int32
}

// FetchResponse carries records, or says where the sender of the fetch must
// truncate to or which snapshot it must take first.
type FetchResponse struct {
	Error protocol.Code
	Standing
	// HighWatermark is -1 while the leader does not know it.
	HighWatermark int64
	Diverging     *epochlog.EpochEnd
	Snapshot      *SnapshotID
	Batches       []*epochlog.Batch
}

// FetchSnapshotRequest asks for a piece of a snapshot.
type FetchSnapshotRequest struct {
	Replica  node.ID
	Epoch    int32
	ID       SnapshotID
	Position int
}

// FetchSnapshotResponse carries a piece of a snapshot that is Size bytes long.
type FetchSnapshotResponse struct {
	Error protocol.Code
	Standing
	ID       SnapshotID
	Size     int
	Position int
	Bytes    []byte
}

// Kind names the message in fault schedules and stories.
func (*VoteRequest) Kind() string { return "Vote" }

// Kind names the message in fault schedules and stories.
func (*VoteResponse) Kind() string { return "VoteResponse" }

// Kind names the message in fault schedules and stories.
func (*BeginQuorumEpochRequest) Kind() string { return "BeginQuorumEpoch" }

// Kind names the message in fault schedules and stories.
func (*BeginQuorumEpochResponse) Kind() string { return "BeginQuorumEpochResponse" }

// Kind names the message in fault schedules and stories.
func (*EndQuorumEpochRequest) Kind() string { return "EndQuorumEpoch" }

// Kind names the message in fault schedules and stories.
func (*EndQuorumEpochResponse) Kind() string { return "EndQuorumEpochResponse" }

// Kind names the message in fault schedules and stories.
func (*FetchRequest) Kind() string { return "Fetch" }

// Kind names the message in fault schedules and stories.
func (*FetchResponse) Kind() string { return "FetchResponse" }

// Kind names the message in fault schedules and stories.
func (*FetchSnapshotRequest) Kind() string { return "FetchSnapshot" }

// Kind names the message in fault schedules and stories.
func (*FetchSnapshotResponse) Kind() string { return "FetchSnapshotResponse" }
