package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems/kafka"
	"github.com/stalemate-io/stalemate/systems/processes"
	"github.com/stalemate-io/stalemate/workloads/leadership"
)

// CreateClients makes the file of what the clients of a run see. While it is open
// the run is taken to go on.
func CreateClients(run *histories.Run) (*os.File, error) {
	f, err := os.OpenFile(run.Path(ClientsFile), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	if _, err := lock(f); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", f.Name(), err), f.Close())
	}
	return f, nil
}

// CompleteRun writes a run's history of what its clients saw and what its system
// committed. Either the whole of it is there afterwards, or none.
func CompleteRun(run *histories.Run, truth []leadership.Change) (events []histories.Event, err error) {
	saw, err := os.Open(run.Path(ClientsFile))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, saw.Close()) }()
	err = run.WriteWith(histories.HistoryFile, func(w io.Writer) error {
		events, err = Complete(saw, truth, w)
		return err
	})
	return events, err
}

// ErrStillRunning is a run that another process has not ended yet.
var ErrStillRunning = errors.New("the run is still going on: its history is complete when it ends")

// Finish completes the history of a run that ended before it did so itself: one
// that was killed, or whose end failed. What the system committed is read from what
// its nodes left in the run's folder. It is false where there is nothing to
// complete: the run has its history, or never had clients.
func Finish(ctx context.Context, run *histories.Run) (bool, error) {
	if _, err := os.Stat(run.Path(histories.HistoryFile)); !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	saw, err := os.Open(run.Path(ClientsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer saw.Close()
	ended, err := lock(saw)
	if err == nil && !ended {
		err = ErrStillRunning
	}
	if err != nil {
		return false, err
	}
	truth, err := leftTruth(ctx, run)
	if err == nil {
		_, err = CompleteRun(run, truth)
	}
	if err != nil {
		return false, fmt.Errorf("%s: the run ended before its history was complete, and what it left does not complete it (%s is what clients saw): %w", run.Dir, ClientsFile, err)
	}
	return true, nil
}

// Observed gives the changes that the clients of a run saw, see
// leadership.Observed.
func Observed(run *histories.Run) (changes []leadership.Change, err error) {
	saw, err := os.Open(run.Path(ClientsFile))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, saw.Close()) }()
	events, _, err := readClients(saw)
	return leadership.Observed(events), err
}

// leftTruth reads what the system of a run committed from what it left.
func leftTruth(ctx context.Context, run *histories.Run) ([]leadership.Change, error) {
	b, err := ReadBeginning(run)
	if err != nil {
		return nil, err
	}
	if b.Remote {
		return Observed(run)
	}
	if b.Toy != nil {
		truth, _, err := Truth(processes.Remains{Settings: *b.Toy, Dir: run.Path(NodesDir)}, b.Start)
		return truth, err
	}
	in, err := kafka.Find(ctx, b.Kafka.Mode, b.Kafka.Home, b.Kafka.Java)
	if err != nil {
		return nil, err
	}
	left := kafka.Remains{Options: *b.Kafka, Installation: in}
	left.Options.Dir = run.Path(NodesDir) // the folder may have been moved
	changes, err := left.Truth(ctx)
	return FromKafka(changes, b.Start), err
}
