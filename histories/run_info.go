package histories

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// RunVersion is the version of run.json that this package writes. A reader
// refuses a later one.
const RunVersion = 1

// RunInfo is what run.json says: everything that decided how a run went and how
// its history is to be judged, so that the folder alone is enough to judge it
// again.
type RunInfo struct {
	// Version of this form; CreateRun and SetInfo fill it.
	Version int `json:"version"`
	// Name of the run, which is the folder it is in.
	Name string `json:"name"`
	// System is what was tested (zookeeper, kraft, push, …) and Deployment where
	// it ran (sim, local, docker, connect).
	System     string `json:"system"`
	Deployment string `json:"deployment"`
	// Settings are all settings by the name of their flag.
	Settings map[string]string `json:"settings,omitempty"`
	Seed     int64             `json:"seed"`
	// Versions of stalemate, of Go and of the system.
	Versions map[string]string `json:"versions,omitempty"`
	// Command is the command line.
	Command []string `json:"command,omitempty"`
	// Model names the checker's model of the data.
	Model string `json:"model,omitempty"`
	// Initial values, by key; a key that is not here starts as Nil.
	Initial []InitialValue `json:"initial,omitempty"`
	// Promises are the levels promised, by read path.
	Promises map[string]string `json:"promises,omitempty"`
	Started  time.Time         `json:"started"`
	// Ended is zero while the run goes on, and where it was killed.
	Ended   time.Time  `json:"ended,omitzero"`
	Outcome RunOutcome `json:"outcome"`
	// Error says why the run failed.
	Error string `json:"error,omitempty"`
}

// InitialValue is what a key held before the first operation.
type InitialValue struct {
	Key   Value `json:"key"`
	Value Value `json:"value"`
}

// RunOutcome says how far a run came; it does not judge the history.
type RunOutcome string

// The outcomes of runs.
const (
	Running     RunOutcome = "running" // also where the run was killed
	Finished    RunOutcome = "finished"
	Interrupted RunOutcome = "interrupted" // ended early, in order
	Broken      RunOutcome = "failed"      // see RunInfo.Error
)

func readRunInfo(path string) (RunInfo, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return RunInfo{}, err
	}
	return ParseRunInfo(text, path)
}

// ParseRunInfo parses the content of run.json; name is what errors call it, which
// are *InputError.
func ParseRunInfo(text []byte, name string) (RunInfo, error) {
	var info RunInfo
	if err := json.Unmarshal(text, &info); err != nil {
		return info, &InputError{File: name, Message: "expected the JSON of a run: " + err.Error()}
	}
	if info.Version < 1 || info.Version > RunVersion {
		return info, &InputError{File: name, Message: fmt.Sprintf("expected version 1 to %d, found %d; a later stalemate may read it", RunVersion, info.Version)}
	}
	return info, nil
}
