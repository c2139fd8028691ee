package live

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems/kafka"
	"github.com/stalemate-io/stalemate/systems/processes"
	"github.com/stalemate-io/stalemate/systems/tcp"
	"github.com/stalemate-io/stalemate/systems/zookeeper"
	"github.com/stalemate-io/stalemate/workloads/leadership"
)

// BeginningFile is the file of a run's folder that says when its history began and
// on what, ClientsFile what the clients saw, as they saw it, and NodesDir the folder
// of what the system left: all that is needed to complete the history of a run that
// was killed.
const (
	BeginningFile = "beginning.json"
	ClientsFile   = "clients.jsonl"
	NodesDir      = "nodes"
)

// Moment is one moment by the clock of the machine's processes, and by that on the
// wall.
type Moment struct {
	Mono time.Duration `json:"mono"` // tcp.Now, in nanoseconds
	Wall time.Time     `json:"wall"`
}

// Now is this moment.
func Now() Moment { return Moment{tcp.Now(), time.Now().Round(0)} }

// At gives what tcp.Now was at a time of the wall clock.
func (m Moment) At(t time.Time) time.Duration { return m.Mono + t.Sub(m.Wall) }

// Beginning says of a history when it began and what system it is about: a toy, a
// real Kafka, or one that somebody else runs, of which no more is known than what
// clients see.
type Beginning struct {
	Start  Moment              `json:"start"`
	Toy    *processes.Settings `json:"toy,omitempty"`
	Kafka  *kafka.Options      `json:"kafka,omitempty"`
	Remote bool                `json:"remote,omitempty"`
}

// one says whether there is exactly one system.
func (b *Beginning) one() bool {
	n := 0
	for _, there := range []bool{b.Toy != nil, b.Kafka != nil, b.Remote} {
		if there {
			n++
		}
	}
	return n == 1
}

// Keep puts the beginning into the folder of its run.
func (b Beginning) Keep(run *histories.Run) error {
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	return run.WriteFile(BeginningFile, append(text, '\n'))
}

// ReadBeginning reads it from there.
func ReadBeginning(run *histories.Run) (b Beginning, err error) {
	text, err := os.ReadFile(run.Path(BeginningFile))
	if err != nil {
		return b, err
	}
	err = json.Unmarshal(text, &b)
	if err == nil && !b.one() {
		err = errors.New("expected one of toy, kafka and remote")
	}
	if err != nil {
		return b, &histories.InputError{File: run.Path(BeginningFile), Message: "expected the JSON of a beginning: " + err.Error()}
	}
	return b, nil
}

// Truth gives what a toy system has committed, with times since a start, and the
// trace of its nodes, from what it left. No node may run any more.
func Truth(r processes.Remains, start Moment) ([]leadership.Change, []tcp.Entry, error) {
	trace, err := r.Trace()
	if err != nil {
		return nil, nil, err
	}
	if r.Settings.System == "kraft" {
		// What nobody was seen to know was committed by the end at the latest.
		end := start.Mono
		if n := len(trace); n > 0 {
			end = max(end, trace[n-1].Time)
		}
		changes, err := r.KraftTruth(trace, end)
		return FromKraft(changes, start.Mono), trace, err
	}
	dirs, err := zookeeper.DataDirs(storeIn(r.Dir))
	if err != nil {
		return nil, trace, err
	}
	changes, err := processes.PushTruth(dirs, trace, start.At)
	return FromPush(changes, start.Mono), trace, err
}

// storeIn is the folder of the ensemble that a system in dir has.
func storeIn(dir string) string { return filepath.Join(dir, "store") }

// FromKafka gives the changes of a real Kafka as the workload's truth, with times
// since a start.
func FromKafka(changes []kafka.Change, start Moment) []leadership.Change {
	truth := make([]leadership.Change, len(changes))
	for i, c := range changes {
		truth[i] = leadership.Change{
			Partition: c.Partition, Leader: c.Leader, Epoch: c.LeaderEpoch, Order: c.Order, At: max(0, c.Committed.Sub(start.Wall)),
		}
	}
	return truth
}
