package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/pflag"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/internal/live"
	"github.com/stalemate-io/stalemate/internal/toys"
	"github.com/stalemate-io/stalemate/systems/processes"
)

// addCauses adds to a run's anomalies the causes that only the traces of its nodes
// tell, where it has such nodes. Without them the verdict is as good; it says then
// why it names none.
func addCauses(ctx context.Context, run *histories.Run, v *checker.Verdict) {
	found := len(v.Anomalies)
	for _, path := range v.Paths {
		found += len(path.Anomalies)
	}
	if found == 0 {
		return
	}
	var err error
	if run.Info.Deployment == "sim" {
		err = explainSimulated(ctx, run, v)
	} else {
		err = explainProcesses(run, v)
	}
	if err != nil {
		v.Warnings = append(v.Warnings, "the causes of anomalies are unknown: "+err.Error())
	}
}

// explainProcesses reads what the nodes of a run left, if they were toys.
func explainProcesses(run *histories.Run, v *checker.Verdict) error {
	b, err := live.ReadBeginning(run)
	if errors.Is(err, fs.ErrNotExist) || err == nil && b.Toy == nil {
		return nil
	}
	if err != nil {
		return err
	}
	truth, trace, err := live.Truth(processes.Remains{Settings: *b.Toy, Dir: run.Path(live.NodesDir)}, b.Start)
	if err == nil {
		toys.Explain(b.Toy.System, v, live.Notes(trace, b.Start.Mono), truth)
	}
	return err
}

// explainSimulated runs a simulated run again, by its settings and seed: no trace
// is kept of it, since that takes less time than to read one would. It tells
// nothing where clients do not see the same again, since the code of the system
// has changed.
func explainSimulated(ctx context.Context, run *histories.Run, v *checker.Verdict) error {
	f := simFlags{trial: toys.Trial{Config: toys.Config{System: run.Info.System}}}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.bind(flags)
	for name, value := range run.Info.Settings {
		if err := flags.Set(name, value); err != nil {
			return fmt.Errorf("%s: %w", run.Path(histories.RunFile), err)
		}
	}
	f.trial.Seed = uint64(run.Info.Seed)
	t, err := f.plan()
	if err != nil {
		return err
	}
	o, err := t.Run(ctx)
	if err != nil {
		return err
	}
	var again bytes.Buffer
	if err := writeEvents(&again, o.Events); err != nil {
		return err
	}
	recorded, err := os.ReadFile(run.Path(histories.HistoryFile))
	if err != nil {
		return err
	}
	if !bytes.Equal(again.Bytes(), recorded) {
		return errors.New("the simulator does not repeat the run to the byte: another version of stalemate made it")
	}
	t.Explain(v, o)
	return nil
}
