package histories

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The files of a run's folder.
const (
	RunFile     = "run.json"
	HistoryFile = "history.jsonl"
	VerdictFile = "verdict.json"
)

// runTime is the name of a run's folder: its start in UTC, to the millisecond.
const runTime = "20060102T150405.000Z"

// Run is a run's folder, <store>/<name>/<start>, which holds run.json,
// history.jsonl, verdict.json, reports and the logs of the nodes. Beside the
// names stands <store>/latest, and beside the starts <store>/<name>/latest,
// links to the newest run.
type Run struct {
	Dir  string
	Info RunInfo
}

// CreateRun makes the folder of a new run in a store, which is made too where it
// is missing, writes run.json, and turns the links "latest" to it. Of info it
// fills Version, Outcome, and Started where that is zero.
func CreateRun(store string, info RunInfo) (*Run, error) {
	if info.Name == "" || info.Name == "latest" || info.Name != filepath.Base(info.Name) || strings.HasPrefix(info.Name, ".") {
		return nil, fmt.Errorf("expected a run's name that can be a folder's and is not %q, found %q", "latest", info.Name)
	}
	if info.Started.IsZero() {
		info.Started = time.Now()
	}
	info.Started = info.Started.UTC().Round(0)
	info.Outcome = Running
	parent := filepath.Join(store, info.Name)
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return nil, err
	}
	dir, err := makeRunDir(parent, info.Started)
	if err != nil {
		return nil, err
	}
	r := &Run{Dir: dir}
	if err := r.SetInfo(info); err != nil {
		return nil, err
	}
	base := filepath.Base(dir)
	if err := link(base, filepath.Join(parent, "latest")); err != nil {
		return nil, err
	}
	return r, link(filepath.Join(info.Name, base), filepath.Join(store, "latest"))
}

// makeRunDir makes the folder for a start; where two runs start within one
// millisecond the later one takes the next that is free.
func makeRunDir(parent string, start time.Time) (string, error) {
	for range 1000 {
		dir := filepath.Join(parent, start.Format(runTime))
		err := os.Mkdir(dir, 0o777)
		if !errors.Is(err, fs.ErrExist) {
			return dir, err
		}
		start = start.Add(time.Millisecond)
	}
	return "", fmt.Errorf("%s: expected a free name for the run's folder, found runs at every millisecond", parent)
}

// link turns a symbolic link to a target in one step, so that who looks sees the
// old one or the new one. What is there and is no link is left alone.
func link(target, path string) error {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink == 0 {
		return fmt.Errorf("%s: expected a link to the newest run, found something else; move it away", path)
	}
	next := fmt.Sprintf("%s.%d.tmp", path, os.Getpid())
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Symlink(target, next); err != nil {
		return err
	}
	return os.Rename(next, path)
}

// OpenRun opens the folder of a run, or what links to one (store/latest).
func OpenRun(path string) (*Run, error) {
	dir, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	info, err := readRunInfo(filepath.Join(dir, RunFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: expected the folder of a run, found no %s in it", path, RunFile)
	}
	if err != nil {
		return nil, err
	}
	return &Run{Dir: dir, Info: info}, nil
}

// Path gives the path of a file in the run's folder.
func (r *Run) Path(name string) string { return filepath.Join(r.Dir, name) }

// SetInfo writes run.json anew.
func (r *Run) SetInfo(info RunInfo) error {
	info.Version = RunVersion
	text, err := json.MarshalIndent(info, "", "  ")
	if err != nil {
		return err
	}
	if err := r.WriteFile(RunFile, append(text, '\n')); err != nil {
		return err
	}
	r.Info = info
	return nil
}

// End writes into run.json how the run ended, and when. Where failure is not nil
// the outcome is Broken.
func (r *Run) End(outcome RunOutcome, failure error) error {
	info := r.Info
	info.Ended = time.Now().UTC().Round(0)
	info.Outcome = outcome
	if failure != nil {
		info.Outcome, info.Error = Broken, failure.Error()
	}
	return r.SetInfo(info)
}

// CreateHistory makes the run's history file to record to. It refuses to write
// over one.
func (r *Run) CreateHistory() (*os.File, error) {
	return os.OpenFile(r.Path(HistoryFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

// History reads the run's history.
func (r *Run) History() (*History, error) {
	return ReadFile(r.Path(HistoryFile), ReadOptions{Format: JSONL})
}

// WriteFile writes a file of the run in one step: who looks sees the old content
// or the new, and after a crash one of the two is there whole.
func (r *Run) WriteFile(name string, content []byte) error {
	return r.WriteWith(name, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// WriteWith is WriteFile for content that is too large to have at once. Where
// write gives an error the old file stays.
func (r *Run) WriteWith(name string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(r.Dir, name+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	err = write(f)
	if err == nil {
		err = f.Chmod(0o666 &^ umask)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), r.Path(name))
}

// umask is what files are kept from by default; CreateTemp makes them private.
const umask = 0o022
