package push

import "github.com/stalemate-io/stalemate/systems/protocol"

// The messages between controller and brokers carry the fields of Kafka's
// requests of the same names that matter here. They travel by pointer and are
// values: slices in them are shared between requests and never changed.

// Header is what every push has in common.
type Header struct {
	Controller      int32 // id of the sending controller
	ControllerEpoch int32 // in which it was elected
	BrokerEpoch     int64 // incarnation of the broker it is meant for; czxid of its registration
	ID              uint64
}

// PartitionState is the state of a partition in a push.
type PartitionState struct {
	Partition       protocol.Partition
	ControllerEpoch int32 // of the controller that wrote the state, not of the sender
	Leader          int32
	LeaderEpoch     int32
	ISR             []int32
	Version         int32 // partition epoch: version of the state node
	Replicas        []int32
	Adding          []int32
	Removing        []int32
	IsNew           bool // LeaderAndIsr only: the replica has no data yet
}

// LeaderAndISRRequest makes a broker leader or follower of partitions.
type LeaderAndISRRequest struct {
	Header
	Partitions  []PartitionState
	LiveLeaders []int32
}

// LeaderAndISRResponse says for each partition of the request, in its order,
// what became of it. A broker that refuses to follow an unknown leader answers
// None all the same, as Kafka does.
type LeaderAndISRResponse struct {
	Error      protocol.Code
	Partitions []protocol.Code
}

// UpdateMetadataRequest replaces a broker's list of live brokers as a whole and
// merges partitions into its metadata cache.
type UpdateMetadataRequest struct {
	Header
	Partitions  []PartitionState
	LiveBrokers []int32
}

// UpdateMetadataResponse answers an UpdateMetadataRequest.
type UpdateMetadataResponse struct {
	Error protocol.Code
}

// StopReplicaRequest ends a broker's role in partitions.
type StopReplicaRequest struct {
	Header
	Partitions []StopReplicaPartition
}

// StopReplicaPartition is a partition of a StopReplicaRequest. A leader epoch of
// -1 asks for no check and -2 stands for a deletion.
type StopReplicaPartition struct {
	Partition   protocol.Partition
	LeaderEpoch int32
	Delete      bool // delete the replica's data too
}

// StopReplicaResponse answers a StopReplicaRequest, partition by partition.
type StopReplicaResponse struct {
	Error      protocol.Code
	Partitions []protocol.Code
}

// AlterPartitionRequest asks the controller to commit in-sync sets that a
// leader wants (KIP-497).
type AlterPartitionRequest struct {
	Broker      int32
	BrokerEpoch int64
	Partitions  []AlterPartition
}

// AlterPartition is a partition of an AlterPartitionRequest.
type AlterPartition struct {
	Partition   protocol.Partition
	LeaderEpoch int32
	ISR         []int32
	Version     int32
}

// AlterPartitionResponse answers an AlterPartitionRequest, partition by
// partition in its order.
type AlterPartitionResponse struct {
	Error      protocol.Code
	Partitions []AlterPartitionResult
}

// AlterPartitionResult is the state that was committed, or why none was.
type AlterPartitionResult struct {
	Error       protocol.Code
	Leader      int32
	LeaderEpoch int32
	ISR         []int32
	Version     int32
}

// ControlledShutdownRequest asks the controller to move leadership away from a
// broker that is about to stop.
type ControlledShutdownRequest struct {
	Broker      int32
	BrokerEpoch int64
}

// ControlledShutdownResponse lists what the broker still leads.
type ControlledShutdownResponse struct {
	Error     protocol.Code
	Remaining []protocol.Partition
}

// ShutdownRequest tells a broker to stop in an orderly way: hand over its
// leaderships, take back its registration, then answer and fall silent.
type ShutdownRequest struct{}

// ShutdownResponse says that the broker has stopped, and what it could not hand
// over.
type ShutdownResponse struct {
	Remaining []protocol.Partition
}

// ReplicaFetchRequest is a follower's fetch from a leader.
type ReplicaFetchRequest struct {
	Replica     int32
	BrokerEpoch int64
	Partitions  []ReplicaFetch
}

// ReplicaFetch is a partition of a ReplicaFetchRequest. Offset is the end of
// the follower's log, which thereby acknowledges all before it.
type ReplicaFetch struct {
	Partition        protocol.Partition
	Offset           int64
	LeaderEpoch      int32 // in which the follower follows
	LastFetchedEpoch int32 // of the last record of its log; -1 for an empty one
}

// ReplicaFetchResponse carries what there is to say on partitions of the
// request. Where it has nothing new for any, it is empty.
type ReplicaFetchResponse struct {
	Partitions []ReplicaFetchResult
}

// ReplicaFetchResult is a leader's answer on one partition: an error, or where
// the logs diverge, or records.
type ReplicaFetchResult struct {
	Partition     protocol.Partition
	Error         protocol.Code
	Records       []Record
	HighWatermark int64
	// Diverging says that the follower's log has records the leader's has
	// not: the largest epoch of the leader's at or below the follower's, and
	// where it ends.
	Diverging      bool
	DivergingEpoch int32
	DivergingEnd   int64
}

// Record is one record of a partition's log.
type Record struct {
	Epoch int32 // leader epoch in which it was appended
	Value int64
}

// Kind names the message for fault schedules.
func (*LeaderAndISRRequest) Kind() string       { return "LeaderAndIsr" }
func (*UpdateMetadataRequest) Kind() string     { return "UpdateMetadata" }
func (*StopReplicaRequest) Kind() string        { return "StopReplica" }
func (*AlterPartitionRequest) Kind() string     { return "AlterPartition" }
func (*ControlledShutdownRequest) Kind() string { return "ControlledShutdown" }
func (*ReplicaFetchRequest) Kind() string       { return "Fetch" }
