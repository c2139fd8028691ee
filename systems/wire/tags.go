package wire

import (
	"encoding/binary"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Tagged fields of our own (KIP-482): whoever does not know them skips them. See
// the table in the package's comment.
const (
	tagPush        = 10000 + iota // the id that joins the stages of a push
	tagPartition                  // the one partition asked about
	tagPath                       // the read path
	tagOffset                     // the metadata offset that the node has applied
	tagTarget                     // who is to lead
	tagLeader                     // who leads now
	tagLeaderEpoch                // in which leader epoch
	tagVersion                    // the order token of a change
	tagController                 // whom the node takes for the active controller
	tagTopic                      // the name of a topic that Kafka gives by its id
	tagError                      // why a node has nothing to tell
)

func setInt(t *kmsg.Tags, tag uint32, v int64) { t.Set(tag, binary.AppendVarint(nil, v)) }

func setString(t *kmsg.Tags, tag uint32, s string) { t.Set(tag, []byte(s)) }

// field gives a tagged field, nil where there is none.
func field(t *kmsg.Tags, tag uint32) (value []byte) {
	t.Each(func(k uint32, v []byte) {
		if k == tag {
			value = v
		}
	})
	return value
}

// intField gives a tagged number, and otherwise where there is none.
func intField(t *kmsg.Tags, tag uint32, otherwise int64) (int64, error) {
	b := field(t, tag)
	if b == nil {
		return otherwise, nil
	}
	v, n := binary.Varint(b)
	if n != len(b) {
		return 0, fmt.Errorf("tagged field %d of %d bytes: expected one varint", tag, len(b))
	}
	return v, nil
}

// int32Field is intField for numbers of 32 bits.
func int32Field(t *kmsg.Tags, tag uint32, otherwise int32) (int32, error) {
	v, err := intField(t, tag, int64(otherwise))
	if err == nil && v != int64(int32(v)) {
		err = fmt.Errorf("tagged field %d is %d: expected a number of 32 bits", tag, v)
	}
	return int32(v), err
}
