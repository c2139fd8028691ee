package kafkalogs

import (
	"encoding/json"
	"strings"
)

// znodes follows what ZooKeeper's shell prints: a path that was asked for, the
// JSON that is there, and the stat below it.
type znodes struct{ path string }

const partitionsPath = "/brokers/topics/"

// asked notes the path that a line names, alone or behind a get.
func (z *znodes) asked(text string) bool {
	_, after, ok := strings.Cut(text, partitionsPath)
	if !ok || strings.HasPrefix(text, "{") {
		return false
	}
	path := strings.Fields(after)
	if len(path) == 0 {
		return false
	}
	parts := strings.Split(strings.TrimRight(path[0], ":"), "/")
	if len(parts) != 4 || parts[1] != "partitions" || parts[3] != "state" {
		return false
	}
	z.path = partition(parts[0] + "-" + parts[2])
	return z.path != ""
}

// state makes a fact of a partition state's JSON, which belongs to the path
// named last, on the line or before.
func (z *znodes) state(text string, f *Fact) bool {
	i := strings.IndexByte(text, '{')
	if i < 0 || !strings.Contains(text, `"leader_epoch"`) {
		return false
	}
	if i > 0 {
		z.asked(text[:i])
	}
	var s struct {
		Leader          *int32  `json:"leader"`
		LeaderEpoch     *int32  `json:"leader_epoch"`
		ControllerEpoch int32   `json:"controller_epoch"`
		ISR             []int32 `json:"isr"`
	}
	if json.NewDecoder(strings.NewReader(text[i:])).Decode(&s) != nil || s.Leader == nil || s.LeaderEpoch == nil || z.path == "" {
		return false
	}
	f.Kind, f.Partition = Decided, z.path
	f.State = State{*s.Leader, *s.LeaderEpoch, s.ControllerEpoch, Unknown, s.ISR}
	f.ControllerEpoch = s.ControllerEpoch
	z.path = ""
	return true
}
