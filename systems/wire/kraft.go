package wire

import (
	"encoding/binary"
	"fmt"

	"github.com/stalemate-io/stalemate/systems/kraft"
	"github.com/stalemate-io/stalemate/systems/kraft/epochlog"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// kraftExchanges are those between brokers and controllers of a kraft cluster,
// beside those of the metadata log.
var kraftExchanges = []exchange{
	brokerRegistration.at(62, 3),
	brokerHeartbeat.at(63, 1),
	kraftAlterPartition.at(56, 3),
	kraftReplicaFetch.at(1, 18),
}

var brokerRegistration = translation[kraft.BrokerRegistrationRequest, kraft.BrokerRegistrationResponse, *kmsg.BrokerRegistrationRequest, *kmsg.BrokerRegistrationResponse]{
	request: func(c *Cluster, m *kraft.BrokerRegistrationRequest, q *kmsg.BrokerRegistrationRequest) error {
		q.BrokerID, q.ClusterID = m.Broker, c.ID
		binary.BigEndian.PutUint64(q.IncarnationID[8:], m.Incarnation)
		l := kmsg.NewBrokerRegistrationRequestListener()
		host, port := c.address(kraft.BrokerNode(m.Broker))
		l.Name, l.Host, l.Port = listener, host, uint16(port)
		q.Listeners = append(q.Listeners, l)
		return nil
	},
	parse: func(_ *Cluster, q *kmsg.BrokerRegistrationRequest) (*kraft.BrokerRegistrationRequest, error) {
		return &kraft.BrokerRegistrationRequest{
			Broker: q.BrokerID, Incarnation: binary.BigEndian.Uint64(q.IncarnationID[8:]),
		}, nil
	},
	response: func(_ *Cluster, _ *kmsg.BrokerRegistrationRequest, a *kraft.BrokerRegistrationResponse, r *kmsg.BrokerRegistrationResponse) error {
		r.ErrorCode, r.BrokerEpoch = code(a.Error), a.Epoch
		return nil
	},
	outcome: func(_ *Cluster, _ *kraft.BrokerRegistrationRequest, r *kmsg.BrokerRegistrationResponse) (*kraft.BrokerRegistrationResponse, error) {
		return &kraft.BrokerRegistrationResponse{Error: codeOf(r.ErrorCode), Epoch: r.BrokerEpoch}, nil
	},
}

var brokerHeartbeat = translation[kraft.BrokerHeartbeatRequest, kraft.BrokerHeartbeatResponse, *kmsg.BrokerHeartbeatRequest, *kmsg.BrokerHeartbeatResponse]{
	request: func(_ *Cluster, m *kraft.BrokerHeartbeatRequest, q *kmsg.BrokerHeartbeatRequest) error {
		q.BrokerID, q.BrokerEpoch, q.WantFence = m.Broker, m.Epoch, m.WantFence
		// Kafka's is the offset of the last record that was applied.
		q.CurrentMetadataOffset = m.Applied - 1
		return nil
	},
	parse: func(_ *Cluster, q *kmsg.BrokerHeartbeatRequest) (*kraft.BrokerHeartbeatRequest, error) {
		return &kraft.BrokerHeartbeatRequest{
			Broker: q.BrokerID, Epoch: q.BrokerEpoch, Applied: q.CurrentMetadataOffset + 1, WantFence: q.WantFence,
		}, nil
	},
	response: func(_ *Cluster, _ *kmsg.BrokerHeartbeatRequest, a *kraft.BrokerHeartbeatResponse, r *kmsg.BrokerHeartbeatResponse) error {
		r.ErrorCode, r.IsCaughtUp, r.IsFenced = code(a.Error), a.CaughtUp, a.Fenced
		return nil
	},
	outcome: func(_ *Cluster, _ *kraft.BrokerHeartbeatRequest, r *kmsg.BrokerHeartbeatResponse) (*kraft.BrokerHeartbeatResponse, error) {
		return &kraft.BrokerHeartbeatResponse{Error: codeOf(r.ErrorCode), CaughtUp: r.IsCaughtUp, Fenced: r.IsFenced}, nil
	},
}

var kraftAlterPartition = translation[kraft.AlterPartitionRequest, kraft.AlterPartitionResponse, *kmsg.AlterPartitionRequest, *kmsg.AlterPartitionResponse]{
	request: func(_ *Cluster, m *kraft.AlterPartitionRequest, q *kmsg.AlterPartitionRequest) error {
		q.BrokerID, q.BrokerEpoch = m.Broker, m.BrokerEpoch
		p := kmsg.NewAlterPartitionRequestTopicPartition()
		p.Partition, p.LeaderEpoch, p.PartitionEpoch = m.Partition.Index, m.LeaderEpoch, m.PartitionEpoch
		for _, s := range m.ISR {
			r := kmsg.NewAlterPartitionRequestTopicPartitionNewEpochISR()
			r.BrokerID, r.BrokerEpoch = s.Broker, s.BrokerEpoch
			p.NewEpochISR = append(p.NewEpochISR, r)
		}
		t := alterPartitionTopic(m.Partition.Topic)
		t.Partitions = append(t.Partitions, p)
		q.Topics = append(q.Topics, t)
		return nil
	},
	parse: func(_ *Cluster, q *kmsg.AlterPartitionRequest) (*kraft.AlterPartitionRequest, error) {
		if len(q.Topics) != 1 || len(q.Topics[0].Partitions) != 1 {
			return nil, errOnePartition
		}
		t := &q.Topics[0]
		topic, err := taggedTopic(t.TopicID, &t.UnknownTags)
		if err != nil {
			return nil, err
		}
		p := &t.Partitions[0]
		m := &kraft.AlterPartitionRequest{
			Broker: q.BrokerID, BrokerEpoch: q.BrokerEpoch, Partition: nameOfPartition(topic, p.Partition),
			LeaderEpoch: p.LeaderEpoch, PartitionEpoch: p.PartitionEpoch,
		}
		for _, r := range p.NewEpochISR {
			m.ISR = append(m.ISR, kraft.InSync{Broker: r.BrokerID, BrokerEpoch: r.BrokerEpoch})
		}
		return m, nil
	},
	response: func(_ *Cluster, q *kmsg.AlterPartitionRequest, a *kraft.AlterPartitionResponse, r *kmsg.AlterPartitionResponse) error {
		t := kmsg.NewAlterPartitionResponseTopic()
		t.TopidID = q.Topics[0].TopicID
		p := kmsg.NewAlterPartitionResponseTopicPartition()
		p.Partition, p.ErrorCode = q.Topics[0].Partitions[0].Partition, code(a.Error)
		p.LeaderID, p.LeaderEpoch, p.PartitionEpoch, p.ISR = a.Leader, a.LeaderEpoch, a.PartitionEpoch, a.ISR
		t.Partitions = append(t.Partitions, p)
		r.Topics = append(r.Topics, t)
		return nil
	},
	outcome: func(_ *Cluster, _ *kraft.AlterPartitionRequest, r *kmsg.AlterPartitionResponse) (*kraft.AlterPartitionResponse, error) {
		if r.ErrorCode != 0 {
			return &kraft.AlterPartitionResponse{Error: codeOf(r.ErrorCode)}, nil
		}
		if len(r.Topics) != 1 || len(r.Topics[0].Partitions) != 1 {
			return nil, errOnePartition
		}
		p := &r.Topics[0].Partitions[0]
		return &kraft.AlterPartitionResponse{
			Error: codeOf(p.ErrorCode), Leader: p.LeaderID, LeaderEpoch: p.LeaderEpoch,
			PartitionEpoch: p.PartitionEpoch, ISR: p.ISR,
		}, nil
	},
}

var kraftReplicaFetch = translation[kraft.ReplicaFetchRequest, kraft.ReplicaFetchResponse, *kmsg.FetchRequest, *kmsg.FetchResponse]{
	request: func(_ *Cluster, m *kraft.ReplicaFetchRequest, q *kmsg.FetchRequest) error {
		q.ReplicaState.ID, q.ReplicaState.Epoch = m.Broker, m.BrokerEpoch
		for _, f := range m.Partitions {
			addFetch(q, f.Partition, f.LeaderEpoch, f.Offset, f.LastEpoch)
		}
		return nil
	},
	parse: func(_ *Cluster, q *kmsg.FetchRequest) (*kraft.ReplicaFetchRequest, error) {
		if !fetchesAsReplica(q) {
			return nil, nil
		}
		m := &kraft.ReplicaFetchRequest{Broker: q.ReplicaState.ID, BrokerEpoch: q.ReplicaState.Epoch}
		err := eachFetch(q, func(name protocol.Partition, p *kmsg.FetchRequestTopicPartition) {
			m.Partitions = append(m.Partitions, kraft.ReplicaPosition{
				Partition: name, LeaderEpoch: p.CurrentLeaderEpoch, Offset: p.FetchOffset, LastEpoch: p.LastFetchedEpoch,
			})
		})
		return m, err
	},
	response: func(_ *Cluster, _ *kmsg.FetchRequest, a *kraft.ReplicaFetchResponse, r *kmsg.FetchResponse) error {
		r.ErrorCode = code(a.Error)
		for i := range a.Partitions {
			s := &a.Partitions[i]
			p := addFetched(r, s.Partition, s.Error, s.HighWatermark)
			if s.Diverging != nil {
				p.DivergingEpoch.Epoch, p.DivergingEpoch.EndOffset = s.Diverging.Epoch, s.Diverging.End
			}
			p.RecordBatches = appendBatches(nil, s.Batches)
		}
		return nil
	},
	outcome: func(_ *Cluster, m *kraft.ReplicaFetchRequest, r *kmsg.FetchResponse) (*kraft.ReplicaFetchResponse, error) {
		a := &kraft.ReplicaFetchResponse{Error: codeOf(r.ErrorCode)}
		err := eachFetched(r, func(name protocol.Partition, p *kmsg.FetchResponseTopicPartition) error {
			asked := position(m, name)
			if asked == nil {
				return fmt.Errorf("answer on %s, which was not asked about", name)
			}
			batches, err := logBatches(p.RecordBatches)
			a.Partitions = append(a.Partitions, kraft.ReplicaData{
				Partition: name, LeaderEpoch: asked.LeaderEpoch, Offset: asked.Offset, Error: codeOf(p.ErrorCode),
				Diverging: divergence(p), Batches: batches, HighWatermark: p.HighWatermark,
			})
			return err
		})
		return a, err
	},
}

// position is where a request stands in a partition; the answer is about that.
func position(m *kraft.ReplicaFetchRequest, name protocol.Partition) *kraft.ReplicaPosition {
	for i := range m.Partitions {
		if m.Partitions[i].Partition == name {
			return &m.Partitions[i]
		}
	}
	return nil
}

// divergence gives what an answer says of where logs part, nil if nothing.
func divergence(p *kmsg.FetchResponseTopicPartition) *epochlog.EpochEnd {
	if p.DivergingEpoch.EndOffset < 0 {
		return nil
	}
	return &epochlog.EpochEnd{Epoch: p.DivergingEpoch.Epoch, End: p.DivergingEpoch.EndOffset}
}

// appendBatches adds batches of a log to a buffer.
func appendBatches(to []byte, batches []*epochlog.Batch) []byte {
	for _, b := range batches {
		w := batch{base: b.Base, epoch: b.Epoch, control: b.Control, values: b.Records}
		to = w.append(to)
	}
	return to
}

// logBatches is the inverse of appendBatches.
func logBatches(p []byte) ([]*epochlog.Batch, error) {
	batches, err := parseBatches(p)
	if err != nil {
		return nil, err
	}
	var out []*epochlog.Batch
	for _, b := range batches {
		out = append(out, &epochlog.Batch{Base: b.base, Epoch: b.epoch, Control: b.control, Records: b.values})
	}
	return out, nil
}
