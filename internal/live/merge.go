package live

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems/kraft"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/sim"
	"github.com/stalemate-io/stalemate/systems/tcp"
	"github.com/stalemate-io/stalemate/workloads/leadership"
)

// FromKraft gives the changes of a metadata log as the workload's truth, with
// times since a start. What was committed before then was so at the start.
func FromKraft(changes []kraft.Change, start time.Duration) []leadership.Change {
	truth := make([]leadership.Change, len(changes))
	for i, c := range changes {
		truth[i] = leadership.Change{
			Partition: c.Partition, Leader: c.Leader, Epoch: c.LeaderEpoch, Order: c.Offset, At: max(0, c.Committed-start),
		}
	}
	return truth
}

// Complete reads what clients saw, merges what the system committed into it, and
// writes the whole history. One that ends before its time, because what the clients
// saw does, is written without what ends a history.
func Complete(saw io.Reader, truth []leadership.Change, history io.Writer) ([]histories.Event, error) {
	events, summary, err := readClients(saw)
	if err != nil {
		return nil, err
	}
	events = leadership.Merge(events, truth)
	w, err := histories.NewWriter(history, histories.JSONL)
	if err != nil {
		return nil, err
	}
	for i := range events {
		if err := w.Write(&events[i]); err != nil {
			return nil, errors.Join(err, w.Close())
		}
	}
	if !summary.Whole {
		return events, w.Leave()
	}
	return events, w.Close()
}

// readClients reads what clients saw.
func readClients(saw io.Reader) (events []histories.Event, summary histories.Summary, err error) {
	summary, err = histories.ReadEvents(saw, histories.ReadOptions{Format: histories.JSONL}, func(e *histories.Event) error {
		events = append(events, *e)
		return nil
	})
	if err != nil {
		err = fmt.Errorf("what clients saw: %w", err)
	}
	return events, summary, err
}

// Notes gives a trace in the form in which causes are looked for, with times since
// a start.
func Notes(trace []tcp.Entry, start time.Duration) []sim.Entry {
	notes := make([]sim.Entry, len(trace))
	for i, e := range trace {
		notes[i] = sim.Entry{Kind: sim.Noted, At: e.Time - start, Node: node.ID(e.Node), Trace: e.Trace()}
	}
	return notes
}
