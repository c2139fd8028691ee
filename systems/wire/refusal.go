package wire

import (
	"errors"
	"reflect"

	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// refusal is the frame that tells the sender of a request what is wrong with it; nil
// where the response has no place for an error as a whole.
func refusal(id int32, q kmsg.Request, err error) []byte {
	a := newResponse(q)
	if p, ok := q.(*kmsg.ProduceRequest); ok {
		var bad *badPart
		if !errors.As(err, &bad) {
			return nil
		}
		refuseRecords(p, a.(*kmsg.ProduceResponse), bad)
		return appendResponse(nil, id, a)
	}
	n := int16(invalidRequest)
	if errors.Is(err, errNotServed) {
		n = code(protocol.UnsupportedVersion)
	}
	if !setError(a, n) {
		return nil
	}
	return appendResponse(nil, id, a)
}

// setError sets the error code of a response as a whole, if it has one.
func setError(a kmsg.Response, n int16) bool {
	f := reflect.ValueOf(a).Elem().FieldByName("ErrorCode")
	if !f.IsValid() || f.Kind() != reflect.Int16 {
		return false
	}
	f.SetInt(int64(n))
	return true
}

// refuseRecords answers a produce of records of which some cannot be read: nothing
// was appended anywhere.
func refuseRecords(q *kmsg.ProduceRequest, a *kmsg.ProduceResponse, bad *badPart) {
	message := bad.Error()
	for i := range q.Topics {
		t := kmsg.NewProduceResponseTopic()
		t.Topic = q.Topics[i].Topic
		for j := range q.Topics[i].Partitions {
			p := kmsg.NewProduceResponseTopicPartition()
			p.Partition, p.ErrorCode, p.BaseOffset, p.ErrorMessage = q.Topics[i].Partitions[j].Partition, invalidRecord, -1, &message
			t.Partitions = append(t.Partitions, p)
		}
		a.Topics = append(a.Topics, t)
	}
}
