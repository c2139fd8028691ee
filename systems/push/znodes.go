package push

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/stalemate-io/stalemate/systems/protocol"
)

// The paths of Kafka's nodes in ZooKeeper.
const (
	controllerPath      = "/controller"
	controllerEpochPath = "/controller_epoch"
	brokersPath         = "/brokers"
	brokerIDsPath       = "/brokers/ids"
	topicsPath          = "/brokers/topics"
	isrChangesPath      = "/isr_change_notification"
	isrChangePrefix     = isrChangesPath + "/isr_change_"
)

// topLevelPaths are created by whoever comes first, parents before children.
var topLevelPaths = []string{brokersPath, brokerIDsPath, topicsPath, isrChangesPath}

func brokerPath(id int32) string     { return brokerIDsPath + "/" + strconv.Itoa(int(id)) }
func topicPath(topic string) string  { return topicsPath + "/" + topic }
func partsPath(topic string) string  { return topicPath(topic) + "/partitions" }
func statePathOf(dir string) string  { return dir + "/state" }
func partDir(topic, i string) string { return partsPath(topic) + "/" + i }
func itoa(n int32) string            { return strconv.Itoa(int(n)) }
func partitionDir(p protocol.Partition) string {
	return partDir(p.Topic, itoa(p.Index))
}

// StatePath is where the state of a partition lies in the store:
// /brokers/topics/T/partitions/P/state.
func StatePath(p protocol.Partition) string { return statePathOf(partitionDir(p)) }

// IsStatePath tells whether a node of the store holds the state of a partition.
func IsStatePath(path string) bool {
	_, ok := parseStatePath(path)
	return ok
}

// parseStatePath is the inverse of StatePath.
func parseStatePath(path string) (protocol.Partition, bool) {
	rest, ok := strings.CutPrefix(path, topicsPath+"/")
	if !ok {
		return protocol.Partition{}, false
	}
	parts := strings.Split(rest, "/")
	if len(parts) != 4 || parts[1] != "partitions" || parts[3] != "state" {
		return protocol.Partition{}, false
	}
	i, err := strconv.ParseInt(parts[2], 10, 32)
	if err != nil || i < 0 {
		return protocol.Partition{}, false
	}
	return protocol.Partition{Topic: parts[0], Index: int32(i)}, true
}

// badPayload says which node holds what nobody can read.
func badPayload(path string, data []byte, err error) error {
	return fmt.Errorf("store node %s holds %q, not the JSON Kafka keeps there: %w", path, data, err)
}

// State is the payload of a partition's state node. Its order token, the
// partition epoch, is the version of the node and not part of the payload.
type State struct {
	Leader          int32   `json:"leader"`
	LeaderEpoch     int32   `json:"leader_epoch"`
	ControllerEpoch int32   `json:"controller_epoch"`
	ISR             []int32 `json:"isr"`
}

// Encode gives the JSON of Kafka's partition state, always the same bytes for
// the same state.
func (s State) Encode() []byte {
	b := make([]byte, 0, 96)
	b = append(b, `{"controller_epoch":`...)
	b = strconv.AppendInt(b, int64(s.ControllerEpoch), 10)
	b = append(b, `,"leader":`...)
	b = strconv.AppendInt(b, int64(s.Leader), 10)
	b = append(b, `,"version":1,"leader_epoch":`...)
	b = strconv.AppendInt(b, int64(s.LeaderEpoch), 10)
	b = append(b, `,"isr":[`...)
	for i, r := range s.ISR {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(r), 10)
	}
	return append(b, `]}`...)
}

// DecodeState reads what Encode or Kafka wrote at path.
func DecodeState(path string, data []byte) (State, error) {
	if s, ok := decodeOwnState(data); ok {
		return s, nil
	}
	var s State
	if err := json.Unmarshal(data, &s); err != nil {
		return State{}, badPayload(path, data, err)
	}
	return s, nil
}

// decodeOwnState reads exactly what Encode writes, without reflection: states
// are what a controller reads most.
func decodeOwnState(data []byte) (s State, ok bool) {
	rest := string(data)
	integer := func(prefix string) int32 {
		if rest, ok = strings.CutPrefix(rest, prefix); !ok {
			return 0
		}
		n := 0
		for n < len(rest) && (rest[n] == '-' || rest[n] >= '0' && rest[n] <= '9') {
			n++
		}
		v, err := strconv.ParseInt(rest[:n], 10, 32)
		rest, ok = rest[n:], err == nil
		return int32(v)
	}
	if s.ControllerEpoch = integer(`{"controller_epoch":`); !ok {
		return s, false
	}
	if s.Leader = integer(`,"leader":`); !ok {
		return s, false
	}
	if s.LeaderEpoch = integer(`,"version":1,"leader_epoch":`); !ok {
		return s, false
	}
	separator := `,"isr":[`
	for rest != separator+"]}" && rest != "]}" {
		r := integer(separator)
		if !ok {
			return s, false
		}
		s.ISR = append(s.ISR, r)
		separator = ","
	}
	return s, true
}

// topicNode is the payload of /brokers/topics/T. Partitions and the replicas
// being added and removed are listed by partition index.
type topicNode struct {
	Version          int                `json:"version"`
	Partitions       map[string][]int32 `json:"partitions"`
	AddingReplicas   map[string][]int32 `json:"adding_replicas"`
	RemovingReplicas map[string][]int32 `json:"removing_replicas"`
}

// encode sorts by partition, as encoding/json does with maps.
func (t topicNode) encode() []byte {
	t.Version = 3
	if t.AddingReplicas == nil {
		t.AddingReplicas = map[string][]int32{}
	}
	if t.RemovingReplicas == nil {
		t.RemovingReplicas = map[string][]int32{}
	}
	b, _ := json.Marshal(t) // maps of slices of integers always marshal
	return b
}

func decodeTopic(path string, data []byte) (topicNode, error) {
	var t topicNode
	if err := json.Unmarshal(data, &t); err != nil {
		return t, badPayload(path, data, err)
	}
	for p, replicas := range t.Partitions {
		if _, err := strconv.ParseUint(p, 10, 31); err != nil {
			return t, badPayload(path, data, err)
		}
		if len(minus(replicas, t.RemovingReplicas[p])) == 0 {
			return t, badPayload(path, data, fmt.Errorf("partition %s has no replicas, or none that stays", p))
		}
	}
	return t, nil
}

// brokerNode is the payload of /brokers/ids/N. The timestamp tells apart two
// registrations of one broker whose payload is else the same.
type brokerNode struct {
	Version   int      `json:"version"`
	Host      string   `json:"host"`
	Port      int      `json:"port"`
	Endpoints []string `json:"endpoints"`
	JMXPort   int      `json:"jmx_port"`
	Timestamp string   `json:"timestamp"`
}

func (n brokerNode) encode() []byte {
	b, _ := json.Marshal(n) // strings and integers always marshal
	return b
}

// controllerNode is the payload of /controller.
type controllerNode struct {
	Version   int    `json:"version"`
	BrokerID  int32  `json:"brokerid"`
	Timestamp string `json:"timestamp"`
	KRaft     int    `json:"kraftControllerEpoch"`
}

func (n controllerNode) encode() []byte {
	n.Version, n.KRaft = 2, -1
	b, _ := json.Marshal(n) // strings and integers always marshal
	return b
}

func decodeController(data []byte) (controllerNode, error) {
	var n controllerNode
	if err := json.Unmarshal(data, &n); err != nil {
		return n, badPayload(controllerPath, data, err)
	}
	return n, nil
}

func decodeEpoch(data []byte) (int32, error) {
	n, err := strconv.ParseInt(string(data), 10, 32)
	if err != nil {
		return 0, badPayload(controllerEpochPath, data, err)
	}
	return int32(n), nil
}

// isrChangeNode is the payload of a notification about in-sync sets that
// leaders changed themselves.
type isrChangeNode struct {
	Version    int                  `json:"version"`
	Partitions []isrChangePartition `json:"partitions"`
}

type isrChangePartition struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
}

func (n isrChangeNode) encode() []byte {
	n.Version = 1
	b, _ := json.Marshal(n) // strings and integers always marshal
	return b
}

func decodeISRChange(path string, data []byte) (isrChangeNode, error) {
	var n isrChangeNode
	if err := json.Unmarshal(data, &n); err != nil {
		return n, badPayload(path, data, err)
	}
	return n, nil
}
