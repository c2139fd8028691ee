package wire

import (
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Real is the protocol of clients of Kafka's own brokers.
func Real(c Cluster) *Protocol { return newProtocol(c, clientVersions, realExchanges) }

// realExchanges are the questions for which the toys' answers have fields of their
// own, and Kafka's brokers none.
var realExchanges = []exchange{
	role.at(keyFetch, 16), // the first that tells the leader with an error (KIP-951)
	applied.at(keyApiVersions, 3),
	latest.at(keyListOffsets, 7),
}

// RoleRequest asks a broker whom it takes for a partition's leader where it serves
// the partition, past its metadata cache. The answer is a protocol.MetadataResponse.
type RoleRequest struct {
	Partition protocol.Partition
	TopicID   [16]byte
}

// role fetches in leader epoch 0. In any later one the broker refuses, and says with
// its refusal who leads in which epoch. In epoch 0 itself it does not: a follower
// serves consumers too (KIP-392), so that being served tells nothing.
var role = translation[RoleRequest, protocol.MetadataResponse, *kmsg.FetchRequest, *kmsg.FetchResponse]{
	request: func(_ *Cluster, m *RoleRequest, q *kmsg.FetchRequest) error {
		p := kmsg.NewFetchRequestTopicPartition()
		p.Partition, p.CurrentLeaderEpoch, p.PartitionMaxBytes = m.Partition.Index, 0, 1
		t := kmsg.NewFetchRequestTopic()
		t.TopicID, t.Partitions = m.TopicID, append(t.Partitions, p)
		q.Topics = append(q.Topics, t)
		return nil
	},
	outcome: func(_ *Cluster, _ *RoleRequest, r *kmsg.FetchResponse) (*protocol.MetadataResponse, error) {
		a := &protocol.MetadataResponse{Error: codeOf(r.ErrorCode), Leader: protocol.NoLeader, LeaderEpoch: -1, Offset: protocol.NoOffset}
		if r.ErrorCode != 0 {
			return a, nil
		}
		if len(r.Topics) != 1 || len(r.Topics[0].Partitions) != 1 {
			return nil, errOnePartition
		}
		p := &r.Topics[0].Partitions[0]
		switch a.Error = codeOf(p.ErrorCode); a.Error {
		case protocol.None:
			a.Error = protocol.UnknownLeaderEpoch
		case protocol.FencedLeaderEpoch:
			a.Error, a.Leader, a.LeaderEpoch = protocol.None, p.CurrentLeader.LeaderID, p.CurrentLeader.LeaderEpoch
		}
		return a, nil
	},
}

// AppliedRequest asks a broker how far it has applied the metadata log.
type AppliedRequest struct{}

// AppliedResponse is the offset of the last record that is in the broker's metadata
// cache; protocol.NoOffset where there is no log.
type AppliedResponse struct{ Offset int64 }

// applied asks for the epoch of the finalized features, which is that offset.
var applied = translation[AppliedRequest, AppliedResponse, *kmsg.ApiVersionsRequest, *kmsg.ApiVersionsResponse]{
	request: func(_ *Cluster, _ *AppliedRequest, q *kmsg.ApiVersionsRequest) error {
		q.ClientSoftwareName, q.ClientSoftwareVersion = "stalemate", "1"
		return nil
	},
	outcome: func(_ *Cluster, _ *AppliedRequest, r *kmsg.ApiVersionsResponse) (*AppliedResponse, error) {
		return &AppliedResponse{r.FinalizedFeaturesEpoch}, nil
	},
}

// LatestRequest asks the leader of a partition where its high watermark is.
type LatestRequest struct {
	Partition   protocol.Partition
	LeaderEpoch int32 // that the client believes in
}

// LatestResponse is the high watermark.
type LatestResponse struct {
	Error  protocol.Code
	Offset int64
}

var latest = translation[LatestRequest, LatestResponse, *kmsg.ListOffsetsRequest, *kmsg.ListOffsetsResponse]{
	request: func(_ *Cluster, m *LatestRequest, q *kmsg.ListOffsetsRequest) error {
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.CurrentLeaderEpoch, p.Timestamp = m.Partition.Index, m.LeaderEpoch, latestOffset
		t := kmsg.NewListOffsetsRequestTopic()
		t.Topic, t.Partitions = m.Partition.Topic, append(t.Partitions, p)
		q.ReplicaID, q.Topics = -1, append(q.Topics, t)
		return nil
	},
	outcome: func(_ *Cluster, _ *LatestRequest, r *kmsg.ListOffsetsResponse) (*LatestResponse, error) {
		if len(r.Topics) != 1 || len(r.Topics[0].Partitions) != 1 {
			return nil, errOnePartition
		}
		p := &r.Topics[0].Partitions[0]
		return &LatestResponse{codeOf(p.ErrorCode), p.Offset}, nil
	},
}
