package wire

import (
	"fmt"

	"github.com/stalemate-io/stalemate/systems/kraft/raft"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// raftExchanges are those of the metadata log.
var raftExchanges = []exchange{
	vote.at(52, 2),
	beginQuorumEpoch.at(53, 1),
	endQuorumEpoch.at(54, 1),
	raftFetch.at(1, 18),
	fetchSnapshot.at(59, 0),
	describeQuorum.at(keyDescribeQuorum, 1),
}

// metadataPartition is the one partition of the metadata log.
var metadataPartition = protocol.Partition{Topic: metadataTopic}

// onlyMetadata gives the one partition that a request or an answer is about. It
// fails if that is not the metadata log's.
func onlyMetadata[T, P any](topics []T, open func(*T) (name string, partitions []P)) (*P, error) {
	topic, partitions := "", []P(nil)
	if len(topics) > 0 {
		topic, partitions = open(&topics[0])
	}
	if len(topics) != 1 || len(partitions) != 1 || topic != metadataTopic {
		return nil, fmt.Errorf("%d topics, the first %q of %d partitions: expected one, %s, of one", len(topics), topic, len(partitions), metadataTopic)
	}
	return &partitions[0], nil
}

// standing reads the leader and the epoch that answers give.
func standing(leader, epoch int32) (raft.Standing, error) {
	id, err := nodeOf(leader)
	return raft.Standing{Epoch: epoch, Leader: id}, err
}

var vote = translation[raft.VoteRequest, raft.VoteResponse, *kmsg.VoteRequest, *kmsg.VoteResponse]{
	request: func(c *Cluster, m *raft.VoteRequest, q *kmsg.VoteRequest) (err error) {
		q.ClusterID = &c.ID
		p := kmsg.NewVoteRequestTopicPartition()
		p.CandidateID, err = number(m.Candidate)
		p.CandidateEpoch, p.LastOffsetEpoch, p.LastOffset, p.PreVote = m.Epoch, m.LastEpoch, m.LastOffset, m.PreVote
		q.Topics = []kmsg.VoteRequestTopic{{Topic: metadataTopic, Partitions: []kmsg.VoteRequestTopicPartition{p}}}
		return err
	},
	parse: func(_ *Cluster, q *kmsg.VoteRequest) (*raft.VoteRequest, error) {
		p, err := onlyMetadata(q.Topics, func(t *kmsg.VoteRequestTopic) (string, []kmsg.VoteRequestTopicPartition) {
			return t.Topic, t.Partitions
		})
		if err != nil {
			return nil, err
		}
		candidate, err := nodeOf(p.CandidateID)
		return &raft.VoteRequest{
			Candidate: candidate, Epoch: p.CandidateEpoch, LastEpoch: p.LastOffsetEpoch, LastOffset: p.LastOffset, PreVote: p.PreVote,
		}, err
	},
	response: func(_ *Cluster, _ *kmsg.VoteRequest, a *raft.VoteResponse, r *kmsg.VoteResponse) (err error) {
		p := kmsg.NewVoteResponseTopicPartition()
		p.LeaderID, err = number(a.Leader)
		p.ErrorCode, p.LeaderEpoch, p.VoteGranted = code(a.Error), a.Epoch, a.Granted
		r.Topics = []kmsg.VoteResponseTopic{{Topic: metadataTopic, Partitions: []kmsg.VoteResponseTopicPartition{p}}}
		return err
	},
	outcome: func(_ *Cluster, _ *raft.VoteRequest, r *kmsg.VoteResponse) (*raft.VoteResponse, error) {
		if r.ErrorCode != 0 {
			return nil, refused("Vote", r.ErrorCode)
		}
		p, err := onlyMetadata(r.Topics, func(t *kmsg.VoteResponseTopic) (string, []kmsg.VoteResponseTopicPartition) {
			return t.Topic, t.Partitions
		})
		if err != nil {
			return nil, err
		}
		s, err := standing(p.LeaderID, p.LeaderEpoch)
		return &raft.VoteResponse{Error: codeOf(p.ErrorCode), Standing: s, Granted: p.VoteGranted}, err
	},
}

// refused says that an answer is an error as a whole.
func refused(what string, n int16) error {
	return fmt.Errorf("%s refused: %s: expected an answer on %s", what, codeOf(n), metadataTopic)
}

var beginQuorumEpoch = translation[raft.BeginQuorumEpochRequest, raft.BeginQuorumEpochResponse, *kmsg.BeginQuorumEpochRequest, *kmsg.BeginQuorumEpochResponse]{
	request: func(c *Cluster, m *raft.BeginQuorumEpochRequest, q *kmsg.BeginQuorumEpochRequest) (err error) {
		q.ClusterID = &c.ID
		p := kmsg.NewBeginQuorumEpochRequestTopicPartition()
		p.LeaderID, err = number(m.Leader)
		p.LeaderEpoch = m.Epoch
		q.Topics = []kmsg.BeginQuorumEpochRequestTopic{{Topic: metadataTopic, Partitions: []kmsg.BeginQuorumEpochRequestTopicPartition{p}}}
		return err
	},
	parse: func(_ *Cluster, q *kmsg.BeginQuorumEpochRequest) (*raft.BeginQuorumEpochRequest, error) {
		p, err := onlyMetadata(q.Topics, func(t *kmsg.BeginQuorumEpochRequestTopic) (string, []kmsg.BeginQuorumEpochRequestTopicPartition) {
			return t.Topic, t.Partitions
		})
		if err != nil {
			return nil, err
		}
		leader, err := nodeOf(p.LeaderID)
		return &raft.BeginQuorumEpochRequest{Leader: leader, Epoch: p.LeaderEpoch}, err
	},
	response: func(_ *Cluster, _ *kmsg.BeginQuorumEpochRequest, a *raft.BeginQuorumEpochResponse, r *kmsg.BeginQuorumEpochResponse) (err error) {
		p := kmsg.NewBeginQuorumEpochResponseTopicPartition()
		p.LeaderID, err = number(a.Leader)
		p.ErrorCode, p.LeaderEpoch = code(a.Error), a.Epoch
		r.Topics = []kmsg.BeginQuorumEpochResponseTopic{{Topic: metadataTopic, Partitions: []kmsg.BeginQuorumEpochResponseTopicPartition{p}}}
		return err
	},
	outcome: func(_ *Cluster, _ *raft.BeginQuorumEpochRequest, r *kmsg.BeginQuorumEpochResponse) (*raft.BeginQuorumEpochResponse, error) {
		if r.ErrorCode != 0 {
			return nil, refused("BeginQuorumEpoch", r.ErrorCode)
		}
		p, err := onlyMetadata(r.Topics, func(t *kmsg.BeginQuorumEpochResponseTopic) (string, []kmsg.BeginQuorumEpochResponseTopicPartition) {
			return t.Topic, t.Partitions
		})
		if err != nil {
			return nil, err
		}
		s, err := standing(p.LeaderID, p.LeaderEpoch)
		return &raft.BeginQuorumEpochResponse{Error: codeOf(p.ErrorCode), Standing: s}, err
	},
}

var endQuorumEpoch = translation[raft.EndQuorumEpochRequest, raft.EndQuorumEpochResponse, *kmsg.EndQuorumEpochRequest, *kmsg.EndQuorumEpochResponse]{
	request: func(c *Cluster, m *raft.EndQuorumEpochRequest, q *kmsg.EndQuorumEpochRequest) (err error) {
		q.ClusterID = &c.ID
		p := kmsg.NewEndQuorumEpochRequestTopicPartition()
		if p.LeaderID, err = number(m.Leader); err != nil {
			return err
		}
		p.LeaderEpoch = m.Epoch
		for _, id := range m.Preferred {
			v := kmsg.NewEndQuorumEpochRequestTopicPartitionPreferredCandidate()
			if v.CandidateID, err = number(id); err != nil {
				return err
			}
			p.PreferredCandidates = append(p.PreferredCandidates, v)
		}
		q.Topics = []kmsg.EndQuorumEpochRequestTopic{{Topic: metadataTopic, Partitions: []kmsg.EndQuorumEpochRequestTopicPartition{p}}}
		return nil
	},
	parse: func(_ *Cluster, q *kmsg.EndQuorumEpochRequest) (*raft.EndQuorumEpochRequest, error) {
		p, err := onlyMetadata(q.Topics, func(t *kmsg.EndQuorumEpochRequestTopic) (string, []kmsg.EndQuorumEpochRequestTopicPartition) {
			return t.Topic, t.Partitions
		})
		if err != nil {
			return nil, err
		}
		leader, err := nodeOf(p.LeaderID)
		if err != nil {
			return nil, err
		}
		m := &raft.EndQuorumEpochRequest{Leader: leader, Epoch: p.LeaderEpoch}
		for _, v := range p.PreferredCandidates {
			id, err := nodeOf(v.CandidateID)
			if err != nil {
				return nil, err
			}
			m.Preferred = append(m.Preferred, id)
		}
		return m, nil
	},
	response: func(_ *Cluster, _ *kmsg.EndQuorumEpochRequest, a *raft.EndQuorumEpochResponse, r *kmsg.EndQuorumEpochResponse) (err error) {
		p := kmsg.NewEndQuorumEpochResponseTopicPartition()
		p.LeaderID, err = number(a.Leader)
		p.ErrorCode, p.LeaderEpoch = code(a.Error), a.Epoch
		r.Topics = []kmsg.EndQuorumEpochResponseTopic{{Topic: metadataTopic, Partitions: []kmsg.EndQuorumEpochResponseTopicPartition{p}}}
		return err
	},
	outcome: func(_ *Cluster, _ *raft.EndQuorumEpochRequest, r *kmsg.EndQuorumEpochResponse) (*raft.EndQuorumEpochResponse, error) {
		if r.ErrorCode != 0 {
			return nil, refused("EndQuorumEpoch", r.ErrorCode)
		}
		p, err := onlyMetadata(r.Topics, func(t *kmsg.EndQuorumEpochResponseTopic) (string, []kmsg.EndQuorumEpochResponseTopicPartition) {
			return t.Topic, t.Partitions
		})
		if err != nil {
			return nil, err
		}
		s, err := standing(p.LeaderID, p.LeaderEpoch)
		return &raft.EndQuorumEpochResponse{Error: codeOf(p.ErrorCode), Standing: s}, err
	},
}

var raftFetch = translation[raft.FetchRequest, raft.FetchResponse, *kmsg.FetchRequest, *kmsg.FetchResponse]{
	request: func(c *Cluster, m *raft.FetchRequest, q *kmsg.FetchRequest) (err error) {
		q.ClusterID = &c.ID
		q.ReplicaState.ID, err = number(m.Replica)
		p := addFetch(q, metadataPartition, m.Epoch, m.Offset, m.LastEpoch)
		p.HighWatermark = m.HighWatermark
		return err
	},
	parse: func(_ *Cluster, q *kmsg.FetchRequest) (*raft.FetchRequest, error) {
		if !fetchesMetadata(q) {
			return nil, nil
		}
		p, err := onlyMetadata(q.Topics, func(t *kmsg.FetchRequestTopic) (string, []kmsg.FetchRequestTopicPartition) {
			return metadataTopic, t.Partitions // whose name may be an identifier
		})
		if err != nil {
			return nil, err
		}
		replica, err := nodeOf(q.ReplicaState.ID)
		return &raft.FetchRequest{
			Replica: replica, Epoch: p.CurrentLeaderEpoch, Offset: p.FetchOffset,
			LastEpoch: p.LastFetchedEpoch, HighWatermark: p.HighWatermark,
		}, err
	},
	response: func(_ *Cluster, _ *kmsg.FetchRequest, a *raft.FetchResponse, r *kmsg.FetchResponse) (err error) {
		p := addFetched(r, metadataPartition, a.Error, a.HighWatermark)
		p.CurrentLeader.LeaderID, err = number(a.Leader)
		p.CurrentLeader.LeaderEpoch = a.Epoch
		if a.Diverging != nil {
			p.DivergingEpoch.Epoch, p.DivergingEpoch.EndOffset = a.Diverging.Epoch, a.Diverging.End
		}
		if a.Snapshot != nil {
			p.SnapshotID.Epoch, p.SnapshotID.EndOffset = a.Snapshot.Epoch, a.Snapshot.End
		}
		p.RecordBatches = appendBatches(nil, a.Batches)
		return err
	},
	outcome: func(_ *Cluster, _ *raft.FetchRequest, r *kmsg.FetchResponse) (*raft.FetchResponse, error) {
		if r.ErrorCode != 0 {
			return nil, refused("Fetch", r.ErrorCode)
		}
		p, err := onlyMetadata(r.Topics, func(t *kmsg.FetchResponseTopic) (string, []kmsg.FetchResponseTopicPartition) {
			return metadataTopic, t.Partitions
		})
		if err != nil {
			return nil, err
		}
		s, err := standing(p.CurrentLeader.LeaderID, p.CurrentLeader.LeaderEpoch)
		if err != nil {
			return nil, err
		}
		a := &raft.FetchResponse{
			Error: codeOf(p.ErrorCode), Standing: s, HighWatermark: p.HighWatermark, Diverging: divergence(p),
		}
		if p.SnapshotID.EndOffset >= 0 {
			a.Snapshot = &raft.SnapshotID{End: p.SnapshotID.EndOffset, Epoch: p.SnapshotID.Epoch}
		}
		a.Batches, err = logBatches(p.RecordBatches)
		return a, err
	},
}

var fetchSnapshot = translation[raft.FetchSnapshotRequest, raft.FetchSnapshotResponse, *kmsg.FetchSnapshotRequest, *kmsg.FetchSnapshotResponse]{
	request: func(c *Cluster, m *raft.FetchSnapshotRequest, q *kmsg.FetchSnapshotRequest) (err error) {
		q.ClusterID = &c.ID
		q.ReplicaID, err = number(m.Replica)
		p := kmsg.NewFetchSnapshotRequestTopicPartition()
		p.CurrentLeaderEpoch, p.Position = m.Epoch, int64(m.Position)
		p.SnapshotID.EndOffset, p.SnapshotID.Epoch = m.ID.End, m.ID.Epoch
		q.Topics = []kmsg.FetchSnapshotRequestTopic{{Topic: metadataTopic, Partitions: []kmsg.FetchSnapshotRequestTopicPartition{p}}}
		return err
	},
	parse: func(_ *Cluster, q *kmsg.FetchSnapshotRequest) (*raft.FetchSnapshotRequest, error) {
		p, err := onlyMetadata(q.Topics, func(t *kmsg.FetchSnapshotRequestTopic) (string, []kmsg.FetchSnapshotRequestTopicPartition) {
			return t.Topic, t.Partitions
		})
		if err != nil {
			return nil, err
		}
		replica, err := nodeOf(q.ReplicaID)
		return &raft.FetchSnapshotRequest{
			Replica: replica, Epoch: p.CurrentLeaderEpoch,
			ID: raft.SnapshotID{End: p.SnapshotID.EndOffset, Epoch: p.SnapshotID.Epoch}, Position: int(p.Position),
		}, err
	},
	response: func(_ *Cluster, _ *kmsg.FetchSnapshotRequest, a *raft.FetchSnapshotResponse, r *kmsg.FetchSnapshotResponse) (err error) {
		p := kmsg.NewFetchSnapshotResponseTopicPartition()
		p.CurrentLeader.LeaderID, err = number(a.Leader)
		p.ErrorCode, p.CurrentLeader.LeaderEpoch = code(a.Error), a.Epoch
		p.SnapshotID.EndOffset, p.SnapshotID.Epoch = a.ID.End, a.ID.Epoch
		p.Size, p.Position, p.Bytes = int64(a.Size), int64(a.Position), a.Bytes
		r.Topics = []kmsg.FetchSnapshotResponseTopic{{Topic: metadataTopic, Partitions: []kmsg.FetchSnapshotResponseTopicPartition{p}}}
		return err
	},
	outcome: func(_ *Cluster, _ *raft.FetchSnapshotRequest, r *kmsg.FetchSnapshotResponse) (*raft.FetchSnapshotResponse, error) {
		if r.ErrorCode != 0 {
			return nil, refused("FetchSnapshot", r.ErrorCode)
		}
		p, err := onlyMetadata(r.Topics, func(t *kmsg.FetchSnapshotResponseTopic) (string, []kmsg.FetchSnapshotResponseTopicPartition) {
			return t.Topic, t.Partitions
		})
		if err != nil {
			return nil, err
		}
		s, err := standing(p.CurrentLeader.LeaderID, p.CurrentLeader.LeaderEpoch)
		return &raft.FetchSnapshotResponse{
			Error: codeOf(p.ErrorCode), Standing: s,
			ID:   raft.SnapshotID{End: p.SnapshotID.EndOffset, Epoch: p.SnapshotID.Epoch},
			Size: int(p.Size), Position: int(p.Position), Bytes: p.Bytes,
		}, err
	},
}

// describeQuorum is for clients (kafka-metadata-quorum). Only the leader of the
// metadata log answers it; others say who that is.
var describeQuorum = translation[raft.DescribeQuorumRequest, raft.DescribeQuorumResponse, *kmsg.DescribeQuorumRequest, *kmsg.DescribeQuorumResponse]{
	request: func(_ *Cluster, _ *raft.DescribeQuorumRequest, q *kmsg.DescribeQuorumRequest) error {
		q.Topics = []kmsg.DescribeQuorumRequestTopic{{Topic: metadataTopic, Partitions: []kmsg.DescribeQuorumRequestTopicPartition{kmsg.NewDescribeQuorumRequestTopicPartition()}}}
		return nil
	},
	parse: func(_ *Cluster, q *kmsg.DescribeQuorumRequest) (*raft.DescribeQuorumRequest, error) {
		_, err := onlyMetadata(q.Topics, func(t *kmsg.DescribeQuorumRequestTopic) (string, []kmsg.DescribeQuorumRequestTopicPartition) {
			return t.Topic, t.Partitions
		})
		return &raft.DescribeQuorumRequest{}, err
	},
	response: func(_ *Cluster, _ *kmsg.DescribeQuorumRequest, a *raft.DescribeQuorumResponse, r *kmsg.DescribeQuorumResponse) (err error) {
		p := kmsg.NewDescribeQuorumResponseTopicPartition()
		if p.LeaderID, err = number(a.Leader); err != nil {
			return err
		}
		p.ErrorCode, p.LeaderEpoch, p.HighWatermark = code(a.Error), a.Epoch, a.HighWatermark
		if p.CurrentVoters, err = replicaStates(a.Voters); err != nil {
			return err
		}
		p.Observers, err = replicaStates(a.Observers)
		r.Topics = []kmsg.DescribeQuorumResponseTopic{{Topic: metadataTopic, Partitions: []kmsg.DescribeQuorumResponseTopicPartition{p}}}
		return err
	},
	outcome: func(_ *Cluster, _ *raft.DescribeQuorumRequest, r *kmsg.DescribeQuorumResponse) (*raft.DescribeQuorumResponse, error) {
		if r.ErrorCode != 0 {
			return nil, refused("DescribeQuorum", r.ErrorCode)
		}
		p, err := onlyMetadata(r.Topics, func(t *kmsg.DescribeQuorumResponseTopic) (string, []kmsg.DescribeQuorumResponseTopicPartition) {
			return t.Topic, t.Partitions
		})
		if err != nil {
			return nil, err
		}
		s, err := standing(p.LeaderID, p.LeaderEpoch)
		if err != nil {
			return nil, err
		}
		a := &raft.DescribeQuorumResponse{Error: codeOf(p.ErrorCode), Standing: s, HighWatermark: p.HighWatermark}
		if a.Voters, err = positions(p.CurrentVoters); err != nil {
			return nil, err
		}
		a.Observers, err = positions(p.Observers)
		return a, err
	},
}

// replicaStates puts positions into Kafka's form. When a replica last fetched is not
// told: a node's clock is its own.
func replicaStates(positions []raft.Position) ([]kmsg.DescribeQuorumResponseTopicPartitionReplicaState, error) {
	var states []kmsg.DescribeQuorumResponseTopicPartitionReplicaState
	for _, p := range positions {
		n, err := number(p.Replica)
		if err != nil {
			return nil, err
		}
		s := kmsg.NewDescribeQuorumResponseTopicPartitionReplicaState()
		s.ReplicaID, s.LogEndOffset, s.LastFetchTimestamp, s.LastCaughtUpTimestamp = n, p.End, -1, -1
		states = append(states, s)
	}
	return states, nil
}

// positions is the inverse of replicaStates.
func positions(states []kmsg.DescribeQuorumResponseTopicPartitionReplicaState) ([]raft.Position, error) {
	var out []raft.Position
	for i := range states {
		id, err := nodeOf(states[i].ReplicaID)
		if err != nil {
			return nil, err
		}
		out = append(out, raft.Position{Replica: id, End: states[i].LogEndOffset})
	}
	return out, nil
}
