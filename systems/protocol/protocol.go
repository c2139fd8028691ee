// Package protocol holds what clients ask the nodes of a control plane,
// whichever system it is: who leads a partition, move its leadership, append to
// it, read from it. The messages carry the fields of Kafka's requests of the
// same names that matter here.
package protocol

import (
	"cmp"
	"fmt"
	"slices"
)

// Partition names one partition of one topic.
type Partition struct {
	Topic string
	Index int32
}

// String gives the partition as topic-index, the way Kafka prints it; it is the
// key under which operations on it are recorded.
func (p Partition) String() string { return fmt.Sprintf("%s-%d", p.Topic, p.Index) }

// Compare orders partitions by their topics' names and then by index.
func (p Partition) Compare(q Partition) int {
	return cmp.Or(cmp.Compare(p.Topic, q.Topic), cmp.Compare(p.Index, q.Index))
}

// NoLeader is the leader of a partition that has none.
const NoLeader int32 = -1

// NoOffset stands where an answer carries no metadata offset.
const NoOffset int64 = -1

// Code is an error code of Kafka's protocol; the empty Code means none.
type Code string

// The error codes the toys answer, by Kafka's names.
const (
	None                    Code = ""
	OffsetOutOfRange        Code = "OFFSET_OUT_OF_RANGE"
	UnknownTopicOrPartition Code = "UNKNOWN_TOPIC_OR_PARTITION"
	LeaderNotAvailable      Code = "LEADER_NOT_AVAILABLE"
	NotLeaderOrFollower     Code = "NOT_LEADER_OR_FOLLOWER"
	NotController           Code = "NOT_CONTROLLER"
	FencedLeaderEpoch       Code = "FENCED_LEADER_EPOCH"
	UnknownLeaderEpoch      Code = "UNKNOWN_LEADER_EPOCH"
	StaleControllerEpoch    Code = "STALE_CONTROLLER_EPOCH"
	StaleBrokerEpoch        Code = "STALE_BROKER_EPOCH"
	EligibleLeadersNotAvail Code = "ELIGIBLE_LEADERS_NOT_AVAILABLE"
	ElectionNotNeeded       Code = "ELECTION_NOT_NEEDED"
	InvalidUpdateVersion    Code = "INVALID_UPDATE_VERSION"
	NotEnoughReplicas       Code = "NOT_ENOUGH_REPLICAS"
	RequestTimedOut         Code = "REQUEST_TIMED_OUT"
	OffsetNotAvailable      Code = "OFFSET_NOT_AVAILABLE"
	UnsupportedVersion      Code = "UNSUPPORTED_VERSION"
)

// ReadPath says how a node is to answer a question about leadership.
type ReadPath string

// The read paths. Which of them a system has, and what each promises, is the
// system's to say.
const (
	ReadBroker ReadPath = "broker" // the broker's own cache
	ReadLeader ReadPath = "leader" // the controller or log leader, unchecked
	ReadQuorum ReadPath = "quorum" // confirmed by a majority before answering
	ReadRole   ReadPath = "role"   // what a broker goes by when it serves the partition
)

// OfBroker tells whether it is a broker that answers, from what it has itself.
func (p ReadPath) OfBroker() bool { return p == ReadBroker || p == ReadRole }

// MetadataRequest asks who leads a partition. Over the quorum and leader paths
// it is sent to a controller.
type MetadataRequest struct {
	Partition Partition
	Path      ReadPath
}

// MetadataResponse says what the node that answers believes.
type MetadataResponse struct {
	Error       Code
	Leader      int32
	LeaderEpoch int32
	ISR         []int32
	// Offset is the metadata offset up to which the node has applied the
	// log; NoOffset in systems without one.
	Offset int64
	// Controller is who the node believes to be the active controller, or
	// whom to ask instead where Error is NotController; empty if unknown.
	Controller string
}

// ClusterRequest asks a node for all that it believes of the cluster, as far as
// it would say so over the broker path.
type ClusterRequest struct {
	// Topics are those to tell of; nil stands for all.
	Topics []string
}

// Wants reports whether a topic is asked about.
func (r *ClusterRequest) Wants(topic string) bool {
	return r.Topics == nil || slices.Contains(r.Topics, topic)
}

// ClusterResponse says what the node that answers believes. With an Error there is
// nothing to say of brokers and partitions.
type ClusterResponse struct {
	Error Code
	// Brokers are those that are live, by number.
	Brokers []int32
	// Partitions are in the order of their topics' names and their indexes.
	Partitions []Belief
	// Offset and Controller are as in a MetadataResponse.
	Offset     int64
	Controller string
}

// Belief is what a node believes of one partition.
type Belief struct {
	Partition   Partition
	Error       Code
	Leader      int32
	LeaderEpoch int32
	Replicas    []int32
	ISR         []int32
}

// ElectLeadersRequest asks the active controller to make Target the leader of a
// partition; Target must be in sync. NoLeader for a target stands for the preferred
// leader, the first of the partition's replicas.
type ElectLeadersRequest struct {
	Partition Partition
	Target    int32
}

// AlterReassignmentRequest asks the active controller to move a partition to
// other brokers; the first becomes its leader once it is in sync.
type AlterReassignmentRequest struct {
	Partition Partition
	Replicas  []int32
}

// AdminResponse answers both of the above. With an empty Error the change is
// committed, and the rest says as what.
type AdminResponse struct {
	Error       Code
	Leader      int32
	LeaderEpoch int32
	// Version is the system's order token of the change: the version of the
	// partition's state in the store, or the offset of the record.
	Version    int64
	Controller string
}

// ProduceRequest appends a value to a partition on the broker that is believed
// to lead it. AcksAll waits for every in-sync replica, otherwise the leader's
// own append is enough.
type ProduceRequest struct {
	Partition Partition
	Value     int64
	AcksAll   bool
	// LeaderEpoch is the epoch the client believes in; -1 asks for no check.
	LeaderEpoch int32
}

// ProduceResponse says where the value went.
type ProduceResponse struct {
	Error       Code
	Offset      int64
	LeaderEpoch int32
}

// LatestOffset in a FetchRequest stands for the last offset below the high
// watermark, as if ListOffsets had been asked for it first. A leader whose high
// watermark has not come to where its own epoch begins does not know it and
// answers OffsetNotAvailable (KIP-207).
const LatestOffset int64 = -1

// FetchRequest reads a partition from an offset, up to the high watermark.
type FetchRequest struct {
	Partition   Partition
	Offset      int64
	LeaderEpoch int32
}

// FetchResponse carries the values from the offset on, and where the answering
// leader's log stands.
type FetchResponse struct {
	Error         Code
	Values        []int64
	HighWatermark int64
	LeaderEpoch   int32
}
