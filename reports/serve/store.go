package serve

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
)

// store reads the runs of a folder. It keeps what it has read of a run until a
// file of it changes.
type store struct {
	root *os.Root

	mu    sync.Mutex
	known map[string]*entry
}

// entry is a run as the list shows it.
type entry struct {
	ID      string // name/start, its path in the store
	Info    histories.RunInfo
	Verdict *summary // nil where the run has no verdict yet
	// Err says why the folder cannot be read as a run.
	Err string
	// Busy is set while the run goes on: it has no end, and its history grew a
	// moment ago.
	Busy bool

	stamp string // changes with run.json and verdict.json
}

// summary is what the list shows of a verdict.
type summary struct {
	Class             checker.Class
	Fate              fate
	Operations        int
	Reads, StaleReads int
	Measured          bool
	StalenessMS       float64
	VersionsBehind    float64
}

func newStore(root *os.Root) *store { return &store{root: root, known: map[string]*entry{}} }

// list gives all runs, newest first. Links are passed over: what they lead to is
// listed itself if it is in the store.
func (s *store) list() ([]*entry, error) {
	names, err := s.folders(".")
	if err != nil {
		return nil, err
	}
	var all []*entry
	for _, name := range names {
		starts, err := s.folders(name)
		if err != nil {
			return nil, err
		}
		for _, start := range starts {
			if e := s.entry(path.Join(name, start)); e != nil {
				all = append(all, e)
			}
		}
	}
	slices.SortFunc(all, func(a, b *entry) int {
		return cmp.Or(b.Info.Started.Compare(a.Info.Started), cmp.Compare(b.ID, a.ID))
	})
	return all, nil
}

func (s *store) folders(dir string) ([]string, error) {
	found, err := fs.ReadDir(s.root.FS(), dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // gone since it was listed
	}
	var names []string
	for _, d := range found {
		if d.IsDir() {
			names = append(names, d.Name())
		}
	}
	return names, err
}

// entry reads a run for the list; nil where the folder is none.
func (s *store) entry(id string) *entry {
	stamp := s.stamp(id, histories.RunFile) + s.stamp(id, histories.VerdictFile)
	s.mu.Lock()
	e := s.known[id]
	s.mu.Unlock()
	if e == nil || e.stamp != stamp {
		r, err := s.open(id)
		if errors.Is(err, errNotHere) {
			return nil
		}
		e = &entry{ID: id, stamp: stamp}
		if err != nil {
			e.Err = err.Error()
		} else {
			e.Info, e.Verdict = r.Info, summarize(r.Verdict)
		}
		s.mu.Lock()
		s.known[id] = e
		s.mu.Unlock()
	}
	if e.Err == "" && e.Verdict == nil && e.Info.Outcome == histories.Running {
		now := *e
		now.Busy = s.busy(id)
		return &now
	}
	return e
}

// stamp tells one content of a file from another.
func (s *store) stamp(id, file string) string {
	info, err := s.root.Stat(path.Join(id, file))
	if err != nil {
		return "-"
	}
	return fmt.Sprintf("%d@%d ", info.Size(), info.ModTime().UnixNano())
}

// quietAfter is how long the history of a run that goes on may not grow until the
// run is taken for dead.
const quietAfter = 30 * time.Second

// busy reports whether anything in a run's folder was written a moment ago.
func (s *store) busy(id string) bool {
	for _, file := range []string{histories.HistoryFile, clientsFile, histories.RunFile} {
		if info, err := s.root.Stat(path.Join(id, file)); err == nil && time.Since(info.ModTime()) < quietAfter {
			return true
		}
	}
	return false
}

func summarize(v *checker.Verdict) *summary {
	if v == nil {
		return nil
	}
	return &summary{
		Class: v.Verdict, Fate: fateOf(v), Operations: v.Operations, Reads: v.Reads, StaleReads: v.StaleReads,
		Measured: v.Measured, StalenessMS: v.StalenessMS.Max, VersionsBehind: v.VersionsBehind.Max,
	}
}

// run is a run with the whole of its verdict.
type run struct {
	ID      string
	Info    histories.RunInfo
	Verdict *checker.Verdict // nil where there is none yet
}

// open reads run.json and verdict.json. The error is errNotHere where the folder
// is no run's.
func (s *store) open(id string) (*run, error) {
	text, err := s.read(path.Join(id, histories.RunFile))
	if err != nil {
		return nil, err
	}
	r := &run{ID: id}
	if r.Info, err = histories.ParseRunInfo(text, path.Join(id, histories.RunFile)); err != nil {
		return nil, err
	}
	text, err = s.read(path.Join(id, histories.VerdictFile))
	if errors.Is(err, errNotHere) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	r.Verdict = &checker.Verdict{}
	if err := json.Unmarshal(text, r.Verdict); err != nil {
		return nil, fmt.Errorf("%s: expected the JSON of a verdict, found %w; `stalemate check` makes it anew", path.Join(id, histories.VerdictFile), err)
	}
	return r, nil
}

// maxRead is how much of run.json or verdict.json is read; both are far smaller.
const maxRead = 64 << 20

func (s *store) read(name string) (text []byte, err error) {
	f, err := s.file(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	text, err = io.ReadAll(io.LimitReader(f, maxRead+1))
	if err == nil && len(text) > maxRead {
		err = fmt.Errorf("%s: expected at most %d MB", name, maxRead>>20)
	}
	return text, err
}

// file opens a regular file inside the store. Everything else, and all that
// leads out of the store, is not here.
func (s *store) file(name string) (*os.File, error) {
	if !fs.ValidPath(name) {
		return nil, errNotHere
	}
	// Asked first, because opening a pipe would wait for whoever writes to it.
	if info, err := s.root.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil, errNotHere
	}
	f, err := s.root.Open(name)
	if err != nil {
		return nil, errNotHere
	}
	return f, nil
}

// files is a run's folder: regular files only, and none from outside the store.
type files struct {
	store *store
	dir   string
}

// Open opens a file by its path inside the folder.
func (f files) Open(name string) (fs.File, error) {
	file, err := f.store.file(path.Join(f.dir, name))
	if err != nil || !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return file, nil
}
