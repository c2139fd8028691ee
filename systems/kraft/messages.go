package kraft

import (
	"github.com/stalemate-io/stalemate/systems/kraft/epochlog"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// Error codes between brokers and controllers, by Kafka's names.
const (
	BrokerNotAvailable          protocol.Code = "BROKER_NOT_AVAILABLE"
	DuplicateBrokerRegistration protocol.Code = "DUPLICATE_BROKER_REGISTRATION"
	IneligibleReplica           protocol.Code = "INELIGIBLE_REPLICA"
	InvalidReplicaAssignment    protocol.Code = "INVALID_REPLICA_ASSIGNMENT"
)

// BrokerRegistrationRequest asks the active controller to register a broker.
type BrokerRegistrationRequest struct {
	Broker int32
	// Incarnation is drawn anew at every start of the broker.
	Incarnation uint64
}

// BrokerRegistrationResponse carries the broker epoch.
type BrokerRegistrationResponse struct {
	Error protocol.Code
	Epoch int64
}

// BrokerHeartbeatRequest keeps a broker's session alive.
type BrokerHeartbeatRequest struct {
	Broker int32
	Epoch  int64
	// Applied is the offset before which the broker has applied the log.
	Applied int64
	// WantFence says that the broker is not ready to be unfenced.
	WantFence bool
}

// BrokerHeartbeatResponse says how the controller sees the broker.
type BrokerHeartbeatResponse struct {
	Error    protocol.Code
	CaughtUp bool
	Fenced   bool
}

// AlterPartitionRequest asks the active controller for other in-sync replicas of
// a partition that the sender leads.
type AlterPartitionRequest struct {
	Broker         int32
	BrokerEpoch    int64
	Partition      protocol.Partition
	LeaderEpoch    int32
	PartitionEpoch int32
	ISR            []InSync
}

// InSync is a replica in sync, in the incarnation that the leader knows; -1 if
// it knows none.
type InSync struct {
	Broker      int32
	BrokerEpoch int64
}

// AlterPartitionResponse carries the partition's state once it is committed.
type AlterPartitionResponse struct {
	Error          protocol.Code
	Leader         int32
	LeaderEpoch    int32
	PartitionEpoch int32
	ISR            []int32
}

// ReplicaFetchRequest is a follower's fetch from a partition leader: all the
// partitions that it follows there at once.
type ReplicaFetchRequest struct {
	Broker      int32
	BrokerEpoch int64
	Partitions  []ReplicaPosition
}

// ReplicaPosition is where a follower's copy of a partition ends.
type ReplicaPosition struct {
	Partition   protocol.Partition
	LeaderEpoch int32
	Offset      int64
	LastEpoch   int32
}

// ReplicaFetchResponse answers for each partition that there is something to say
// about.
type ReplicaFetchResponse struct {
	Error      protocol.Code
	Partitions []ReplicaData
}

// ReplicaData carries a partition's records, or where to truncate to. It repeats
// the position that it answers.
type ReplicaData struct {
	Partition     protocol.Partition
	LeaderEpoch   int32
	Offset        int64
	Error         protocol.Code
	Diverging     *epochlog.EpochEnd
	Batches       []*epochlog.Batch
	HighWatermark int64
}

// Kind names the message in fault schedules and stories.
func (*BrokerRegistrationRequest) Kind() string { return "BrokerRegistration" }

// Kind names the message in fault schedules and stories.
func (*BrokerRegistrationResponse) Kind() string { return "BrokerRegistrationResponse" }

// Kind names the message in fault schedules and stories.
func (*BrokerHeartbeatRequest) Kind() string { return "BrokerHeartbeat" }

// Kind names the message in fault schedules and stories.
func (*BrokerHeartbeatResponse) Kind() string { return "BrokerHeartbeatResponse" }

// Kind names the message in fault schedules and stories.
func (*AlterPartitionRequest) Kind() string { return "AlterPartition" }

// Kind names the message in fault schedules and stories.
func (*AlterPartitionResponse) Kind() string { return "AlterPartitionResponse" }

// Kind names the message in fault schedules and stories.
func (*ReplicaFetchRequest) Kind() string { return "ReplicaFetch" }

// Kind names the message in fault schedules and stories.
func (*ReplicaFetchResponse) Kind() string { return "ReplicaFetchResponse" }
