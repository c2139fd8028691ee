package main

import (
	"errors"
	"io/fs"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/internal/live"
	"github.com/stalemate-io/stalemate/internal/toys"
	"github.com/stalemate-io/stalemate/systems/processes"
)

// addCauses adds to a run's anomalies the causes that only the traces of its nodes
// tell, where it has such nodes. Without them the verdict is as good; it says then
// why it names none.
func addCauses(run *histories.Run, v *checker.Verdict) {
	found := len(v.Anomalies)
	for _, path := range v.Paths {
		found += len(path.Anomalies)
	}
	if found == 0 {
		return
	}
	b, err := live.ReadBeginning(run)
	if errors.Is(err, fs.ErrNotExist) || err == nil && b.Toy == nil {
		return
	}
	if err == nil {
		truth, trace, failed := live.Truth(processes.Remains{Settings: *b.Toy, Dir: run.Path(live.NodesDir)}, b.Start)
		if err = failed; err == nil {
			toys.Explain(b.Toy.System, v, live.Notes(trace, b.Start.Mono), truth)
		}
	}
	if err != nil {
		v.Warnings = append(v.Warnings, "the causes of anomalies are unknown: "+err.Error())
	}
}
