package toys

import (
	"slices"
	"time"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/workloads/leadership"
)

// OffsetsBehind gives, by read path, the most records of the metadata log that an
// answer was behind: from the newest change of a leader that was committed when
// the question was put, back to where the node that answered had come. Paths whose
// answers carry no offset are left out.
func OffsetsBehind(events []histories.Event, truth []leadership.Change) map[string]int64 {
	worst := map[string]int64{}
	asked := map[int]int64{} // when, by process
	for i := range events {
		e := &events[i]
		if !e.Process.IsClient() || e.F != "read" {
			continue
		}
		if e.Type == histories.Invoke {
			asked[e.Process.Client] = e.Time
			continue
		}
		at, ok := offsetOf(e)
		if !ok {
			continue
		}
		worst[e.Path] = max(worst[e.Path], newest(truth, time.Duration(asked[e.Process.Client]))-at)
	}
	return worst
}

// offsetOf is the offset that an answer carries: that of the last record applied.
func offsetOf(e *histories.Event) (int64, bool) {
	for _, f := range e.Extra {
		if f.Name == "offset" {
			return f.Value.AsInt()
		}
	}
	return 0, false
}

// newest is the offset of the newest change committed at a time, -1 before the
// first.
func newest(truth []leadership.Change, at time.Duration) int64 {
	i, _ := slices.BinarySearchFunc(truth, at, func(c leadership.Change, at time.Duration) int {
		if c.At <= at {
			return -1
		}
		return 1
	})
	if i == 0 {
		return -1
	}
	return truth[i-1].Order
}

// addOffsets puts the offsets that were behind into the rows of a survey.
func (r *Result) addOffsets(s Survey, all []finding) {
	for _, f := range all {
		for i := range r.Rows {
			row := &r.Rows[i]
			if row.Family != s.Families[f.family].Name || row.System != s.Systems[f.system] {
				continue
			}
			row.AddOffsets(f.offsets)
		}
	}
}

// AddOffsets adds what OffsetsBehind gives of one run.
func (r *Row) AddOffsets(behind map[string]int64) {
	n, ok := behind[r.Path]
	if !ok {
		return
	}
	if r.OffsetsBehind == nil {
		r.OffsetsBehind = new(int64)
	}
	*r.OffsetsBehind = max(*r.OffsetsBehind, n)
}
