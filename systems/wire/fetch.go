package wire

import (
	"math"

	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Three kinds of message travel as Fetch: a consumer's, a follower's of a
// partition, and a voter's or observer's of the metadata log. Who fetches what
// tells them apart. Between nodes the version is one that has the replica's epoch
// and identifies topics by id; clients are served the last that has names.

// fetchesMetadata tells whether a request is for the metadata log.
func fetchesMetadata(q *kmsg.FetchRequest) bool {
	return len(q.Topics) == 1 && (q.Topics[0].TopicID == metadataTopicID || q.Topics[0].Topic == metadataTopic)
}

// fetchesAsReplica tells whether a request is a follower's.
func fetchesAsReplica(q *kmsg.FetchRequest) bool {
	return q.ReplicaState.ID >= 0 && !fetchesMetadata(q)
}

// addFetch adds a partition to a follower's request.
func addFetch(q *kmsg.FetchRequest, name protocol.Partition, epoch int32, offset int64, lastEpoch int32) *kmsg.FetchRequestTopicPartition {
	id := topicID(name.Topic)
	if n := len(q.Topics); n == 0 || q.Topics[n-1].TopicID != id {
		t := kmsg.NewFetchRequestTopic()
		t.TopicID = id
		if id != metadataTopicID {
			setString(&t.UnknownTags, tagTopic, name.Topic)
		}
		q.Topics = append(q.Topics, t)
	}
	t := &q.Topics[len(q.Topics)-1]
	p := kmsg.NewFetchRequestTopicPartition()
	p.Partition, p.CurrentLeaderEpoch, p.FetchOffset, p.LastFetchedEpoch = name.Index, epoch, offset, lastEpoch
	p.PartitionMaxBytes = math.MaxInt32
	t.Partitions = append(t.Partitions, p)
	return &t.Partitions[len(t.Partitions)-1]
}

// eachFetch calls f with the partitions of a request.
func eachFetch(q *kmsg.FetchRequest, f func(protocol.Partition, *kmsg.FetchRequestTopicPartition)) error {
	for i := range q.Topics {
		t := &q.Topics[i]
		topic := t.Topic
		if q.Version > lastNamedFetch {
			var err error
			if topic, err = taggedTopic(t.TopicID, &t.UnknownTags); err != nil {
				return err
			}
		}
		for j := range t.Partitions {
			p := &t.Partitions[j]
			f(protocol.Partition{Topic: topic, Index: p.Partition}, p)
		}
	}
	return nil
}

// lastNamedFetch is the last version of Fetch that gives topics by their names.
const lastNamedFetch = 12

// fetchedFrom gives the offset from which a request fetches a partition.
func fetchedFrom(q *kmsg.FetchRequest, name protocol.Partition) (offset int64, ok bool) {
	// A topic that has no name here is not the one that is looked for.
	_ = eachFetch(q, func(n protocol.Partition, p *kmsg.FetchRequestTopicPartition) {
		if n == name {
			offset, ok = p.FetchOffset, true
		}
	})
	return offset, ok
}

// addFetched adds a partition to a response.
func addFetched(r *kmsg.FetchResponse, name protocol.Partition, e protocol.Code, highWatermark int64) *kmsg.FetchResponseTopicPartition {
	id := topicID(name.Topic)
	if n := len(r.Topics); n == 0 || r.Topics[n-1].TopicID != id {
		t := kmsg.NewFetchResponseTopic()
		t.TopicID, t.Topic = id, name.Topic
		if id != metadataTopicID && r.Version > lastNamedFetch {
			setString(&t.UnknownTags, tagTopic, name.Topic)
		}
		r.Topics = append(r.Topics, t)
	}
	t := &r.Topics[len(r.Topics)-1]
	p := kmsg.NewFetchResponseTopicPartition()
	p.Partition, p.ErrorCode = name.Index, code(e)
	p.HighWatermark, p.LastStableOffset, p.LogStartOffset = highWatermark, highWatermark, 0
	t.Partitions = append(t.Partitions, p)
	return &t.Partitions[len(t.Partitions)-1]
}

// eachFetched calls f with the partitions of a response.
func eachFetched(r *kmsg.FetchResponse, f func(protocol.Partition, *kmsg.FetchResponseTopicPartition) error) error {
	for i := range r.Topics {
		t := &r.Topics[i]
		topic := t.Topic
		if r.Version > lastNamedFetch {
			var err error
			if topic, err = taggedTopic(t.TopicID, &t.UnknownTags); err != nil {
				return err
			}
		}
		for j := range t.Partitions {
			p := &t.Partitions[j]
			if err := f(protocol.Partition{Topic: topic, Index: p.Partition}, p); err != nil {
				return err
			}
		}
	}
	return nil
}
