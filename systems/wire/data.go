package wire

import (
	"errors"
	"fmt"
	"math"

	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// produce appends one value. A batch of several, or for several partitions, is
// split by Several.
var produce = translation[protocol.ProduceRequest, protocol.ProduceResponse, *kmsg.ProduceRequest, *kmsg.ProduceResponse]{
	request: func(_ *Cluster, m *protocol.ProduceRequest, q *kmsg.ProduceRequest) error {
		q.Acks = 1
		if m.AcksAll {
			q.Acks = -1
		}
		p := kmsg.NewProduceRequestTopicPartition()
		p.Partition = m.Partition.Index
		p.Records = appendValues(nil, 0, -1, []int64{m.Value})
		setInt(&p.UnknownTags, tagLeaderEpoch, int64(m.LeaderEpoch))
		t := kmsg.NewProduceRequestTopic()
		t.Topic = m.Partition.Topic
		t.Partitions = append(t.Partitions, p)
		q.Topics = append(q.Topics, t)
		return nil
	},
	parse: func(_ *Cluster, q *kmsg.ProduceRequest) (*protocol.ProduceRequest, error) {
		parts, err := produced(q)
		if len(parts) != 1 || err != nil {
			return nil, err
		}
		return parts[0], nil
	},
	response: func(_ *Cluster, q *kmsg.ProduceRequest, a *protocol.ProduceResponse, r *kmsg.ProduceResponse) error {
		return answerProduced(q, []*protocol.ProduceResponse{a}, r)
	},
	outcome: func(_ *Cluster, _ *protocol.ProduceRequest, r *kmsg.ProduceResponse) (*protocol.ProduceResponse, error) {
		if len(r.Topics) != 1 || len(r.Topics[0].Partitions) != 1 {
			return nil, errOnePartition
		}
		p := &r.Topics[0].Partitions[0]
		return &protocol.ProduceResponse{
			Error: codeOf(p.ErrorCode), Offset: p.BaseOffset, LeaderEpoch: p.CurrentLeader.LeaderEpoch,
		}, nil
	},
}

// produced splits a request into one for each value.
func produced(q *kmsg.ProduceRequest) ([]*protocol.ProduceRequest, error) {
	var parts []*protocol.ProduceRequest
	for i := range q.Topics {
		t := &q.Topics[i]
		for j := range t.Partitions {
			p := &t.Partitions[j]
			name := nameOfPartition(t.Topic, p.Partition)
			epoch, err := int32Field(&p.UnknownTags, tagLeaderEpoch, -1)
			if err != nil {
				return nil, err
			}
			values, err := valuesOf(p.Records)
			if err != nil {
				return nil, &badPart{name, err}
			}
			if len(values) == 0 {
				return nil, &badPart{name, errors.New("no record")}
			}
			for _, v := range values {
				parts = append(parts, &protocol.ProduceRequest{Partition: name, Value: v, AcksAll: q.Acks < 0, LeaderEpoch: epoch})
			}
		}
	}
	return parts, nil
}

// badPart is what is wrong with the records for a partition.
type badPart struct {
	partition protocol.Partition
	err       error
}

func (e *badPart) Error() string { return fmt.Sprintf("records for %s: %v", e.partition, e.err) }

// valuesOf gives the numbers in a sequence of batches.
func valuesOf(p []byte) ([]int64, error) {
	batches, err := parseBatches(p)
	if err != nil {
		return nil, err
	}
	var out []int64
	for _, b := range batches {
		for _, value := range b.values {
			v, err := numberOf(value)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
	}
	return out, nil
}

// answerProduced answers partition by partition with the answer on its first value;
// the first error on any of them counts.
func answerProduced(q *kmsg.ProduceRequest, answers []*protocol.ProduceResponse, r *kmsg.ProduceResponse) error {
	for i := range q.Topics {
		t := kmsg.NewProduceResponseTopic()
		t.Topic = q.Topics[i].Topic
		for j := range q.Topics[i].Partitions {
			values, err := valuesOf(q.Topics[i].Partitions[j].Records)
			if err != nil || len(values) > len(answers) || len(values) == 0 {
				return fmt.Errorf("%d answers to %d values of a partition", len(answers), len(values))
			}
			first := answers[0]
			for _, a := range answers[:len(values)] {
				if first.Error == protocol.None && a.Error != protocol.None {
					first = a
				}
			}
			p := kmsg.NewProduceResponseTopicPartition()
			p.Partition, p.ErrorCode, p.BaseOffset = q.Topics[i].Partitions[j].Partition, code(first.Error), first.Offset
			p.CurrentLeader.LeaderEpoch = first.LeaderEpoch
			t.Partitions, answers = append(t.Partitions, p), answers[len(values):]
		}
		r.Topics = append(r.Topics, t)
	}
	return nil
}

// fetch reads one partition as a consumer.
var fetch = translation[protocol.FetchRequest, protocol.FetchResponse, *kmsg.FetchRequest, *kmsg.FetchResponse]{
	request: func(_ *Cluster, m *protocol.FetchRequest, q *kmsg.FetchRequest) error {
		p := kmsg.NewFetchRequestTopicPartition()
		p.Partition, p.CurrentLeaderEpoch, p.FetchOffset = m.Partition.Index, m.LeaderEpoch, m.Offset
		p.PartitionMaxBytes = math.MaxInt32
		t := kmsg.NewFetchRequestTopic()
		t.Topic = m.Partition.Topic
		t.Partitions = append(t.Partitions, p)
		q.Topics = append(q.Topics, t)
		return nil
	},
	parse: func(_ *Cluster, q *kmsg.FetchRequest) (*protocol.FetchRequest, error) {
		if q.MaxWaitMillis > 0 {
			return nil, nil
		}
		parts, err := fetches(q)
		if len(parts) != 1 || err != nil {
			return nil, err
		}
		return parts[0], nil
	},
	response: func(_ *Cluster, q *kmsg.FetchRequest, a *protocol.FetchResponse, r *kmsg.FetchResponse) error {
		return answerFetches(q, []*protocol.FetchResponse{a}, r)
	},
	outcome: func(_ *Cluster, _ *protocol.FetchRequest, r *kmsg.FetchResponse) (*protocol.FetchResponse, error) {
		if r.ErrorCode != 0 {
			return &protocol.FetchResponse{Error: codeOf(r.ErrorCode), HighWatermark: -1, LeaderEpoch: -1}, nil
		}
		if len(r.Topics) != 1 || len(r.Topics[0].Partitions) != 1 {
			return nil, errOnePartition
		}
		p := &r.Topics[0].Partitions[0]
		values, err := valuesOf(p.RecordBatches)
		return &protocol.FetchResponse{
			Error: codeOf(p.ErrorCode), Values: values, HighWatermark: p.HighWatermark, LeaderEpoch: p.CurrentLeader.LeaderEpoch,
		}, err
	},
}

// fetches splits a consumer's request into one for each partition.
func fetches(q *kmsg.FetchRequest) ([]*protocol.FetchRequest, error) {
	var parts []*protocol.FetchRequest
	err := eachFetch(q, func(name protocol.Partition, p *kmsg.FetchRequestTopicPartition) {
		parts = append(parts, &protocol.FetchRequest{Partition: name, Offset: p.FetchOffset, LeaderEpoch: p.CurrentLeaderEpoch})
	})
	return parts, err
}

func answerFetches(q *kmsg.FetchRequest, answers []*protocol.FetchResponse, r *kmsg.FetchResponse) error {
	return eachFetch(q, func(name protocol.Partition, f *kmsg.FetchRequestTopicPartition) {
		a := answers[0]
		answers = answers[1:]
		p := addFetched(r, name, a.Error, a.HighWatermark)
		p.CurrentLeader.LeaderEpoch = a.LeaderEpoch
		p.RecordBatches = appendValues([]byte{}, f.FetchOffset, a.LeaderEpoch, a.Values)
	})
}

// Timestamps of ListOffsets that stand for an end of the log.
const (
	latestOffset   = -1
	earliestOffset = -2
)

// offsetQuestions turns a question about the ends of logs into fetches from where
// there is nothing: the answer tells the high watermark.
func offsetQuestions(q *kmsg.ListOffsetsRequest) []*protocol.FetchRequest {
	var parts []*protocol.FetchRequest
	for i := range q.Topics {
		for j := range q.Topics[i].Partitions {
			p := &q.Topics[i].Partitions[j]
			parts = append(parts, &protocol.FetchRequest{
				Partition: nameOfPartition(q.Topics[i].Topic, p.Partition), Offset: math.MaxInt64 / 2, LeaderEpoch: p.CurrentLeaderEpoch,
			})
		}
	}
	return parts
}

func answerOffsetQuestions(q *kmsg.ListOffsetsRequest, answers []*protocol.FetchResponse, r *kmsg.ListOffsetsResponse) {
	for i := range q.Topics {
		t := kmsg.NewListOffsetsResponseTopic()
		t.Topic = q.Topics[i].Topic
		for j := range q.Topics[i].Partitions {
			asked, a := &q.Topics[i].Partitions[j], answers[0]
			answers = answers[1:]
			p := kmsg.NewListOffsetsResponseTopicPartition()
			p.Partition, p.ErrorCode, p.LeaderEpoch = asked.Partition, code(a.Error), a.LeaderEpoch
			switch {
			case a.Error != protocol.None:
			case asked.Timestamp == earliestOffset:
				p.Offset = 0
			case asked.Timestamp == latestOffset:
				p.Offset = a.HighWatermark
			default:
				// Records have no times, so none is as late as that.
				p.Offset = -1
			}
			t.Partitions = append(t.Partitions, p)
		}
		r.Topics = append(r.Topics, t)
	}
}
