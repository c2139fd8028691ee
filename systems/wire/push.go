package wire

import (
	"errors"
	"fmt"

	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/push"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// pushExchanges are those between the nodes of a push cluster.
var pushExchanges = []exchange{
	leaderAndISR.at(4, 4),
	updateMetadata.at(6, 6),
	stopReplica.at(5, 3),
	pushAlterPartition.at(56, 3),
	controlledShutdown.at(7, 3),
	pushReplicaFetch.at(1, 18),
}

// nameOfPartition puts together what topics and their partitions say apart.
func nameOfPartition(topic string, index int32) protocol.Partition {
	return protocol.Partition{Topic: topic, Index: index}
}

// startsTopic reports whether partition i begins a new topic entry. Partitions keep
// their order on the wire, so a topic has as many entries as it has runs.
func startsTopic(i int, before func(int) protocol.Partition, p protocol.Partition) bool {
	return i == 0 || before(i-1).Topic != p.Topic
}

var leaderAndISR = translation[push.LeaderAndISRRequest, push.LeaderAndISRResponse, *kmsg.LeaderAndISRRequest, *kmsg.LeaderAndISRResponse]{
	request: func(c *Cluster, m *push.LeaderAndISRRequest, q *kmsg.LeaderAndISRRequest) error {
		q.ControllerID, q.ControllerEpoch, q.BrokerEpoch = m.Controller, m.ControllerEpoch, m.BrokerEpoch
		setInt(&q.UnknownTags, tagPush, int64(m.ID))
		for i := range m.Partitions {
			s := &m.Partitions[i]
			if startsTopic(i, func(j int) protocol.Partition { return m.Partitions[j].Partition }, s.Partition) {
				t := kmsg.NewLeaderAndISRRequestTopicState()
				t.Topic = s.Partition.Topic
				q.TopicStates = append(q.TopicStates, t)
			}
			p := kmsg.NewLeaderAndISRRequestTopicPartition()
			p.Partition, p.ControllerEpoch, p.Leader, p.LeaderEpoch = s.Partition.Index, s.ControllerEpoch, s.Leader, s.LeaderEpoch
			p.ISR, p.ZKVersion, p.Replicas, p.AddingReplicas, p.RemovingReplicas, p.IsNew =
				s.ISR, s.Version, s.Replicas, s.Adding, s.Removing, s.IsNew
			t := &q.TopicStates[len(q.TopicStates)-1]
			t.PartitionStates = append(t.PartitionStates, p)
		}
		for _, b := range m.LiveLeaders {
			l := kmsg.NewLeaderAndISRRequestLiveLeader()
			l.BrokerID = b
			l.Host, l.Port = c.address(push.BrokerID(b))
			q.LiveLeaders = append(q.LiveLeaders, l)
		}
		return nil
	},
	parse: func(_ *Cluster, q *kmsg.LeaderAndISRRequest) (*push.LeaderAndISRRequest, error) {
		id, err := intField(&q.UnknownTags, tagPush, 0)
		m := &push.LeaderAndISRRequest{Header: push.Header{
			Controller: q.ControllerID, ControllerEpoch: q.ControllerEpoch, BrokerEpoch: q.BrokerEpoch, ID: uint64(id),
		}}
		for i := range q.TopicStates {
			t := &q.TopicStates[i]
			for j := range t.PartitionStates {
				p := &t.PartitionStates[j]
				m.Partitions = append(m.Partitions, push.PartitionState{
					Partition: nameOfPartition(t.Topic, p.Partition), ControllerEpoch: p.ControllerEpoch,
					Leader: p.Leader, LeaderEpoch: p.LeaderEpoch, ISR: p.ISR, Version: p.ZKVersion,
					Replicas: p.Replicas, Adding: p.AddingReplicas, Removing: p.RemovingReplicas, IsNew: p.IsNew,
				})
			}
		}
		for i := range q.LiveLeaders {
			m.LiveLeaders = append(m.LiveLeaders, q.LiveLeaders[i].BrokerID)
		}
		return m, err
	},
	response: func(_ *Cluster, q *kmsg.LeaderAndISRRequest, a *push.LeaderAndISRResponse, r *kmsg.LeaderAndISRResponse) error {
		r.ErrorCode = code(a.Error)
		n := 0
		for i := range q.TopicStates {
			t := &q.TopicStates[i]
			for j := range t.PartitionStates {
				if n < len(a.Partitions) {
					p := kmsg.NewLeaderAndISRResponseTopicPartition()
					p.Topic, p.Partition, p.ErrorCode = t.Topic, t.PartitionStates[j].Partition, code(a.Partitions[n])
					r.Partitions = append(r.Partitions, p)
				}
				n++
			}
		}
		return everyPartition(len(a.Partitions), n)
	},
	outcome: func(_ *Cluster, _ *push.LeaderAndISRRequest, r *kmsg.LeaderAndISRResponse) (*push.LeaderAndISRResponse, error) {
		a := &push.LeaderAndISRResponse{Error: codeOf(r.ErrorCode)}
		for i := range r.Partitions {
			a.Partitions = append(a.Partitions, codeOf(r.Partitions[i].ErrorCode))
		}
		return a, nil
	},
}

// everyPartition fails for an answer on more partitions than were asked about. An
// answer that is an error as a whole may have none.
func everyPartition(answered, asked int) error {
	if answered > asked {
		return fmt.Errorf("answer on %d partitions: expected %d, as many as were asked about", answered, asked)
	}
	return nil
}

var updateMetadata = translation[push.UpdateMetadataRequest, push.UpdateMetadataResponse, *kmsg.UpdateMetadataRequest, *kmsg.UpdateMetadataResponse]{
	request: func(c *Cluster, m *push.UpdateMetadataRequest, q *kmsg.UpdateMetadataRequest) error {
		q.ControllerID, q.ControllerEpoch, q.BrokerEpoch = m.Controller, m.ControllerEpoch, m.BrokerEpoch
		setInt(&q.UnknownTags, tagPush, int64(m.ID))
		for i := range m.Partitions {
			s := &m.Partitions[i]
			if startsTopic(i, func(j int) protocol.Partition { return m.Partitions[j].Partition }, s.Partition) {
				t := kmsg.NewUpdateMetadataRequestTopicState()
				t.Topic = s.Partition.Topic
				q.TopicStates = append(q.TopicStates, t)
			}
			p := kmsg.NewUpdateMetadataRequestTopicPartition()
			p.Partition, p.ControllerEpoch, p.Leader, p.LeaderEpoch = s.Partition.Index, s.ControllerEpoch, s.Leader, s.LeaderEpoch
			p.ISR, p.ZKVersion, p.Replicas = s.ISR, s.Version, s.Replicas
			t := &q.TopicStates[len(q.TopicStates)-1]
			t.PartitionStates = append(t.PartitionStates, p)
		}
		for _, b := range m.LiveBrokers {
			l := kmsg.NewUpdateMetadataRequestLiveBroker()
			l.ID = b
			e := kmsg.NewUpdateMetadataRequestLiveBrokerEndpoint()
			e.ListenerName = listener
			e.Host, e.Port = c.address(push.BrokerID(b))
			l.Endpoints = append(l.Endpoints, e)
			q.LiveBrokers = append(q.LiveBrokers, l)
		}
		return nil
	},
	parse: func(_ *Cluster, q *kmsg.UpdateMetadataRequest) (*push.UpdateMetadataRequest, error) {
		id, err := intField(&q.UnknownTags, tagPush, 0)
		m := &push.UpdateMetadataRequest{Header: push.Header{
			Controller: q.ControllerID, ControllerEpoch: q.ControllerEpoch, BrokerEpoch: q.BrokerEpoch, ID: uint64(id),
		}}
		for i := range q.TopicStates {
			t := &q.TopicStates[i]
			for j := range t.PartitionStates {
				p := &t.PartitionStates[j]
				m.Partitions = append(m.Partitions, push.PartitionState{
					Partition: nameOfPartition(t.Topic, p.Partition), ControllerEpoch: p.ControllerEpoch,
					Leader: p.Leader, LeaderEpoch: p.LeaderEpoch, ISR: p.ISR, Version: p.ZKVersion, Replicas: p.Replicas,
				})
			}
		}
		for i := range q.LiveBrokers {
			m.LiveBrokers = append(m.LiveBrokers, q.LiveBrokers[i].ID)
		}
		return m, err
	},
	response: func(_ *Cluster, _ *kmsg.UpdateMetadataRequest, a *push.UpdateMetadataResponse, r *kmsg.UpdateMetadataResponse) error {
		r.ErrorCode = code(a.Error)
		return nil
	},
	outcome: func(_ *Cluster, _ *push.UpdateMetadataRequest, r *kmsg.UpdateMetadataResponse) (*push.UpdateMetadataResponse, error) {
		return &push.UpdateMetadataResponse{Error: codeOf(r.ErrorCode)}, nil
	},
}

// listener is the name of the one listener that nodes have.
const listener = "PLAINTEXT"

var stopReplica = translation[push.StopReplicaRequest, push.StopReplicaResponse, *kmsg.StopReplicaRequest, *kmsg.StopReplicaResponse]{
	request: func(_ *Cluster, m *push.StopReplicaRequest, q *kmsg.StopReplicaRequest) error {
		q.ControllerID, q.ControllerEpoch, q.BrokerEpoch = m.Controller, m.ControllerEpoch, m.BrokerEpoch
		setInt(&q.UnknownTags, tagPush, int64(m.ID))
		for i := range m.Partitions {
			s := &m.Partitions[i]
			if startsTopic(i, func(j int) protocol.Partition { return m.Partitions[j].Partition }, s.Partition) {
				t := kmsg.NewStopReplicaRequestTopic()
				t.Topic = s.Partition.Topic
				q.Topics = append(q.Topics, t)
			}
			p := kmsg.NewStopReplicaRequestTopicPartitionState()
			p.Partition, p.LeaderEpoch, p.Delete = s.Partition.Index, s.LeaderEpoch, s.Delete
			t := &q.Topics[len(q.Topics)-1]
			t.PartitionStates = append(t.PartitionStates, p)
		}
		return nil
	},
	parse: func(_ *Cluster, q *kmsg.StopReplicaRequest) (*push.StopReplicaRequest, error) {
		id, err := intField(&q.UnknownTags, tagPush, 0)
		m := &push.StopReplicaRequest{Header: push.Header{
			Controller: q.ControllerID, ControllerEpoch: q.ControllerEpoch, BrokerEpoch: q.BrokerEpoch, ID: uint64(id),
		}}
		for i := range q.Topics {
			t := &q.Topics[i]
			for j := range t.PartitionStates {
				p := &t.PartitionStates[j]
				m.Partitions = append(m.Partitions, push.StopReplicaPartition{
					Partition: nameOfPartition(t.Topic, p.Partition), LeaderEpoch: p.LeaderEpoch, Delete: p.Delete,
				})
			}
		}
		return m, err
	},
	response: func(_ *Cluster, q *kmsg.StopReplicaRequest, a *push.StopReplicaResponse, r *kmsg.StopReplicaResponse) error {
		r.ErrorCode = code(a.Error)
		n := 0
		for i := range q.Topics {
			t := &q.Topics[i]
			for j := range t.PartitionStates {
				if n < len(a.Partitions) {
					p := kmsg.NewStopReplicaResponsePartition()
					p.Topic, p.Partition, p.ErrorCode = t.Topic, t.PartitionStates[j].Partition, code(a.Partitions[n])
					r.Partitions = append(r.Partitions, p)
				}
				n++
			}
		}
		return everyPartition(len(a.Partitions), n)
	},
	outcome: func(_ *Cluster, _ *push.StopReplicaRequest, r *kmsg.StopReplicaResponse) (*push.StopReplicaResponse, error) {
		a := &push.StopReplicaResponse{Error: codeOf(r.ErrorCode)}
		for i := range r.Partitions {
			a.Partitions = append(a.Partitions, codeOf(r.Partitions[i].ErrorCode))
		}
		return a, nil
	},
}

var pushAlterPartition = translation[push.AlterPartitionRequest, push.AlterPartitionResponse, *kmsg.AlterPartitionRequest, *kmsg.AlterPartitionResponse]{
	request: func(_ *Cluster, m *push.AlterPartitionRequest, q *kmsg.AlterPartitionRequest) error {
		q.BrokerID, q.BrokerEpoch = m.Broker, m.BrokerEpoch
		for i := range m.Partitions {
			s := &m.Partitions[i]
			if startsTopic(i, func(j int) protocol.Partition { return m.Partitions[j].Partition }, s.Partition) {
				q.Topics = append(q.Topics, alterPartitionTopic(s.Partition.Topic))
			}
			p := kmsg.NewAlterPartitionRequestTopicPartition()
			p.Partition, p.LeaderEpoch, p.PartitionEpoch = s.Partition.Index, s.LeaderEpoch, s.Version
			for _, b := range s.ISR {
				r := kmsg.NewAlterPartitionRequestTopicPartitionNewEpochISR()
				r.BrokerID = b
				p.NewEpochISR = append(p.NewEpochISR, r)
			}
			t := &q.Topics[len(q.Topics)-1]
			t.Partitions = append(t.Partitions, p)
		}
		return nil
	},
	parse: func(_ *Cluster, q *kmsg.AlterPartitionRequest) (*push.AlterPartitionRequest, error) {
		m := &push.AlterPartitionRequest{Broker: q.BrokerID, BrokerEpoch: q.BrokerEpoch}
		for i := range q.Topics {
			t := &q.Topics[i]
			topic, err := taggedTopic(t.TopicID, &t.UnknownTags)
			if err != nil {
				return nil, err
			}
			for j := range t.Partitions {
				p := &t.Partitions[j]
				s := push.AlterPartition{
					Partition: nameOfPartition(topic, p.Partition), LeaderEpoch: p.LeaderEpoch, Version: p.PartitionEpoch,
				}
				for _, r := range p.NewEpochISR {
					s.ISR = append(s.ISR, r.BrokerID)
				}
				m.Partitions = append(m.Partitions, s)
			}
		}
		return m, nil
	},
	response: func(_ *Cluster, q *kmsg.AlterPartitionRequest, a *push.AlterPartitionResponse, r *kmsg.AlterPartitionResponse) error {
		r.ErrorCode = code(a.Error)
		n := 0
		for i := range q.Topics {
			t := kmsg.NewAlterPartitionResponseTopic()
			t.TopidID = q.Topics[i].TopicID
			for j := range q.Topics[i].Partitions {
				if n < len(a.Partitions) {
					s := &a.Partitions[n]
					p := kmsg.NewAlterPartitionResponseTopicPartition()
					p.Partition, p.ErrorCode = q.Topics[i].Partitions[j].Partition, code(s.Error)
					p.LeaderID, p.LeaderEpoch, p.ISR, p.PartitionEpoch = s.Leader, s.LeaderEpoch, s.ISR, s.Version
					t.Partitions = append(t.Partitions, p)
				}
				n++
			}
			r.Topics = append(r.Topics, t)
		}
		return everyPartition(len(a.Partitions), n)
	},
	outcome: func(_ *Cluster, _ *push.AlterPartitionRequest, r *kmsg.AlterPartitionResponse) (*push.AlterPartitionResponse, error) {
		a := &push.AlterPartitionResponse{Error: codeOf(r.ErrorCode)}
		for i := range r.Topics {
			for j := range r.Topics[i].Partitions {
				p := &r.Topics[i].Partitions[j]
				a.Partitions = append(a.Partitions, push.AlterPartitionResult{
					Error: codeOf(p.ErrorCode), Leader: p.LeaderID, LeaderEpoch: p.LeaderEpoch, ISR: p.ISR, Version: p.PartitionEpoch,
				})
			}
		}
		return a, nil
	},
}

func alterPartitionTopic(name string) kmsg.AlterPartitionRequestTopic {
	t := kmsg.NewAlterPartitionRequestTopic()
	t.TopicID = topicID(name)
	setString(&t.UnknownTags, tagTopic, name)
	return t
}

var controlledShutdown = translation[push.ControlledShutdownRequest, push.ControlledShutdownResponse, *kmsg.ControlledShutdownRequest, *kmsg.ControlledShutdownResponse]{
	request: func(_ *Cluster, m *push.ControlledShutdownRequest, q *kmsg.ControlledShutdownRequest) error {
		q.BrokerID, q.BrokerEpoch = m.Broker, m.BrokerEpoch
		return nil
	},
	parse: func(_ *Cluster, q *kmsg.ControlledShutdownRequest) (*push.ControlledShutdownRequest, error) {
		return &push.ControlledShutdownRequest{Broker: q.BrokerID, BrokerEpoch: q.BrokerEpoch}, nil
	},
	response: func(_ *Cluster, _ *kmsg.ControlledShutdownRequest, a *push.ControlledShutdownResponse, r *kmsg.ControlledShutdownResponse) error {
		r.ErrorCode = code(a.Error)
		for _, left := range a.Remaining {
			p := kmsg.NewControlledShutdownResponsePartitionsRemaining()
			p.Topic, p.Partition = left.Topic, left.Index
			r.PartitionsRemaining = append(r.PartitionsRemaining, p)
		}
		return nil
	},
	outcome: func(_ *Cluster, _ *push.ControlledShutdownRequest, r *kmsg.ControlledShutdownResponse) (*push.ControlledShutdownResponse, error) {
		a := &push.ControlledShutdownResponse{Error: codeOf(r.ErrorCode)}
		for i := range r.PartitionsRemaining {
			p := &r.PartitionsRemaining[i]
			a.Remaining = append(a.Remaining, nameOfPartition(p.Topic, p.Partition))
		}
		return a, nil
	},
}

var pushReplicaFetch = translation[push.ReplicaFetchRequest, push.ReplicaFetchResponse, *kmsg.FetchRequest, *kmsg.FetchResponse]{
	request: func(_ *Cluster, m *push.ReplicaFetchRequest, q *kmsg.FetchRequest) error {
		q.ReplicaState.ID, q.ReplicaState.Epoch = m.Replica, m.BrokerEpoch
		for _, f := range m.Partitions {
			addFetch(q, f.Partition, f.LeaderEpoch, f.Offset, f.LastFetchedEpoch)
		}
		return nil
	},
	parse: func(_ *Cluster, q *kmsg.FetchRequest) (*push.ReplicaFetchRequest, error) {
		if !fetchesAsReplica(q) {
			return nil, nil
		}
		m := &push.ReplicaFetchRequest{Replica: q.ReplicaState.ID, BrokerEpoch: q.ReplicaState.Epoch}
		err := eachFetch(q, func(name protocol.Partition, p *kmsg.FetchRequestTopicPartition) {
			m.Partitions = append(m.Partitions, push.ReplicaFetch{
				Partition: name, Offset: p.FetchOffset, LeaderEpoch: p.CurrentLeaderEpoch, LastFetchedEpoch: p.LastFetchedEpoch,
			})
		})
		return m, err
	},
	response: func(_ *Cluster, q *kmsg.FetchRequest, a *push.ReplicaFetchResponse, r *kmsg.FetchResponse) error {
		for i := range a.Partitions {
			s := &a.Partitions[i]
			p := addFetched(r, s.Partition, s.Error, s.HighWatermark)
			if s.Diverging {
				p.DivergingEpoch.Epoch, p.DivergingEpoch.EndOffset = s.DivergingEpoch, s.DivergingEnd
			}
			if len(s.Records) == 0 {
				continue
			}
			base, ok := fetchedFrom(q, s.Partition)
			if !ok {
				return fmt.Errorf("records of %s, which was not asked for", s.Partition)
			}
			p.RecordBatches = appendRecords(nil, base, s.Records)
		}
		return nil
	},
	outcome: func(_ *Cluster, _ *push.ReplicaFetchRequest, r *kmsg.FetchResponse) (*push.ReplicaFetchResponse, error) {
		a := &push.ReplicaFetchResponse{}
		err := eachFetched(r, func(name protocol.Partition, p *kmsg.FetchResponseTopicPartition) error {
			s := push.ReplicaFetchResult{Partition: name, Error: codeOf(p.ErrorCode), HighWatermark: p.HighWatermark}
			if p.DivergingEpoch.EndOffset >= 0 {
				s.Diverging, s.DivergingEpoch, s.DivergingEnd = true, p.DivergingEpoch.Epoch, p.DivergingEpoch.EndOffset
			}
			batches, err := parseBatches(p.RecordBatches)
			for _, b := range batches {
				for _, value := range b.values {
					v, wrong := numberOf(value)
					err = errors.Join(err, wrong)
					s.Records = append(s.Records, push.Record{Epoch: b.epoch, Value: v})
				}
			}
			a.Partitions = append(a.Partitions, s)
			return err
		})
		return a, err
	},
}

// appendRecords adds records as one batch for each run of a leader epoch.
func appendRecords(to []byte, base int64, records []push.Record) []byte {
	for len(records) > 0 {
		epoch := records[0].Epoch
		n := 1
		for n < len(records) && records[n].Epoch == epoch {
			n++
		}
		values := make([]int64, n)
		for i := range values {
			values[i] = records[i].Value
		}
		to = appendValues(to, base, epoch, values)
		base, records = base+int64(n), records[n:]
	}
	return to
}
