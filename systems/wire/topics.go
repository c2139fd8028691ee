package wire

import (
	"crypto/sha256"
	"errors"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// The metadata log of a kraft cluster is a topic of one partition to Kafka's
// requests.
const metadataTopic = "__cluster_metadata"

var metadataTopicID = [16]byte{15: 1}

// topicID gives the id of a topic: that of Kafka for the metadata log, for others
// one that follows from the name, marked as a name-based UUID.
func topicID(topic string) (id [16]byte) {
	if topic == metadataTopic {
		return metadataTopicID
	}
	h := sha256.Sum256([]byte(topic))
	copy(id[:], h[:])
	id[6] = id[6]&0x0f | 0x80
	id[8] = id[8]&0x3f | 0x80
	return id
}

// taggedTopic gives the name of a topic in a request that identifies it by id.
func taggedTopic(id [16]byte, t *kmsg.Tags) (string, error) {
	if id == metadataTopicID {
		return metadataTopic, nil
	}
	name := string(field(t, tagTopic))
	if name == "" || topicID(name) != id {
		return "", errors.New("topic id without the topic's name: expected both, or a version that has the name")
	}
	return name, nil
}
