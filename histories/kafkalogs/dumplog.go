package kafkalogs

import (
	"encoding/json"
	"strconv"
	"strings"
)

// metadataLog follows what kafka-dump-log prints of a metadata log or snapshot.
type metadataLog struct {
	topics map[string]string // name by id
	epoch  int32             // of the batch
	states map[string]State
}

// record is a record's JSON, as far as leadership goes (KIP-631).
type record struct {
	Type string `json:"type"`
	Data struct {
		Name           string  `json:"name"`
		TopicID        string  `json:"topicId"`
		PartitionID    *int32  `json:"partitionId"`
		Leader         *int32  `json:"leader"`
		LeaderEpoch    *int32  `json:"leaderEpoch"`
		PartitionEpoch *int32  `json:"partitionEpoch"`
		ISR            []int32 `json:"isr"`
	} `json:"data"`
}

// batch notes the epoch of the batch that a line begins.
func (m *metadataLog) batch(text string) bool {
	if !strings.HasPrefix(text, "baseOffset: ") {
		return false
	}
	m.epoch = Unknown
	if _, after, ok := strings.Cut(text, "partitionLeaderEpoch: "); ok {
		epoch, _, _ := strings.Cut(after, " ")
		m.epoch = number(epoch)
	}
	return true
}

// entry makes a fact of a record's line. known says that it is a record, told
// that it says something of leadership.
func (m *metadataLog) entry(text string, f *Fact) (known, told bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "| offset: ")
	if !ok {
		return false, false
	}
	number, rest, _ := strings.Cut(rest, " ")
	offset, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return false, false
	}
	if after, ok := strings.CutPrefix(rest, "CreateTime: "); ok {
		f.Time, _, _ = strings.Cut(after, " ")
	}
	_, payload, ok := strings.Cut(rest, " payload: ")
	var r record
	if !ok || json.Unmarshal([]byte(payload), &r) != nil || r.Type == "" {
		return true, false
	}
	switch d := r.Data; r.Type {
	case "TOPIC_RECORD":
		if m.topics == nil {
			m.topics, m.states = map[string]string{}, map[string]State{}
		}
		m.topics[d.TopicID] = d.Name
		return true, false
	case "PARTITION_RECORD", "PARTITION_CHANGE_RECORD":
		if d.PartitionID == nil {
			return true, false
		}
		topic, ok := m.topics[d.TopicID]
		if !ok {
			topic = d.TopicID // its record came before this file
		}
		f.Partition = topic + "-" + strconv.Itoa(int(*d.PartitionID))
		was, known := m.states[f.Partition]
		st := State{Leader: valueOr(d.Leader, NoLeader), LeaderEpoch: valueOr(d.LeaderEpoch, 0), PartitionEpoch: valueOr(d.PartitionEpoch, 0), ControllerEpoch: m.epoch, ISR: d.ISR}
		if r.Type == "PARTITION_CHANGE_RECORD" {
			if !known {
				return true, false // a change of something unseen
			}
			st = was
			st.ControllerEpoch = m.epoch
			st.PartitionEpoch++
			if d.ISR != nil {
				st.ISR = d.ISR
			}
			// A leader in the record, even the same one, is a new epoch.
			if d.Leader != nil {
				st.Leader = *d.Leader
				st.LeaderEpoch++
			}
		}
		if m.states == nil {
			m.topics, m.states = map[string]string{}, map[string]State{}
		}
		m.states[f.Partition] = st
		f.Kind, f.State, f.Offset, f.ControllerEpoch = Decided, st, offset, m.epoch
		return true, true
	}
	return true, false
}

func valueOr(p *int32, other int32) int32 {
	if p == nil {
		return other
	}
	return *p
}
