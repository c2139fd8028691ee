package zookeeper

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"
)

// Write is one change of a znode's data, as the servers' transaction logs tell
// it.
type Write struct {
	// Zxid is the order of writes; those of one multi share it.
	Zxid int64
	// Time is when the ensemble's leader proposed it, by the leader's clock, to
	// the millisecond. It was committed later than that.
	Time time.Time
	// Session is that of the client who asked for it.
	Session int64
	Path    string
	Data    []byte
	// Version is the znode's from then on, 0 where the write created it.
	Version int32
	// Deleted tells that the znode went; there is no data and no version.
	Deleted bool
	// Uncertain tells that only a minority has it in its logs, so that it may
	// never have been committed.
	Uncertain bool
}

// Writes reads from the transaction logs of all servers, in order of their
// zxids, what was written to the znodes whose paths wanted says yes to. dataDirs
// are the servers' data folders. The servers must have been stopped: then nothing
// can be added any more, and what is in no log never took effect.
//
// What is in the logs of a majority was committed. What only a minority has may
// have been committed later, to servers that took it over with a snapshot and so
// never logged it, or may never have been; such a write is Uncertain, unless
// another was committed under its path and version, when it is left out.
//
// Two servers that logged different things under one zxid are an error, as is a
// log that is damaged anywhere but at the end of a file.
func Writes(dataDirs []string, wanted func(path string) bool) ([]Write, error) {
	merged := map[int64]*loggedTxn{}
	for _, dir := range dataDirs {
		err := readServerLog(dir, func(t txn) error {
			writes := t.writes(wanted)
			if len(writes) == 0 {
				return nil
			}
			m := merged[t.Zxid]
			if m == nil {
				m = &loggedTxn{writes: writes, first: dir}
				merged[t.Zxid] = m
			} else if !slices.EqualFunc(m.writes, writes, sameWrite) {
				return fmt.Errorf("the servers of %s and %s logged different writes under zxid %#x", m.first, dir, t.Zxid)
			}
			if m.last != dir {
				m.servers, m.last = m.servers+1, dir
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return settled(merged, len(dataDirs)), nil
}

// loggedTxn is one transaction as the logs that have it tell it. The first and
// the last folder it was met in are kept, for errors and since a log may hold it
// twice.
type loggedTxn struct {
	writes      []Write
	servers     int
	first, last string
}

// settled puts the writes in order and says which are uncertain.
func settled(merged map[int64]*loggedTxn, servers int) []Write {
	type version struct {
		path string
		n    int32
	}
	committed := map[version]bool{}
	var all []Write
	for _, zxid := range slices.Sorted(maps.Keys(merged)) {
		m := merged[zxid]
		for _, w := range m.writes {
			if w.Uncertain = m.servers <= servers/2; !w.Uncertain {
				committed[version{w.Path, w.Version}] = true
			}
			all = append(all, w)
		}
	}
	return slices.DeleteFunc(all, func(w Write) bool {
		return w.Uncertain && !w.Deleted && committed[version{w.Path, w.Version}]
	})
}

// writes gives what a transaction wrote to the znodes that are wanted.
func (t *txn) writes(wanted func(path string) bool) (out []Write) {
	for _, c := range t.Changes {
		if wanted(c.Path) {
			out = append(out, Write{
				Zxid: t.Zxid, Time: t.Time, Session: t.Session, Path: c.Path, Data: c.Data, Version: c.Version, Deleted: c.Kind == znodeDeleted,
			})
		}
	}
	return out
}

func sameWrite(a, b Write) bool {
	return a.Path == b.Path && bytes.Equal(a.Data, b.Data) && a.Version == b.Version && a.Deleted == b.Deleted
}

// DataDirs lists the folders in which the servers of an ensemble have left their
// data, however it ended; dir is the one it was launched with.
func DataDirs(dir string) ([]string, error) {
	dirs, err := filepath.Glob(filepath.Join(dir, "zk*", "data"))
	if err == nil && len(dirs) == 0 {
		err = fmt.Errorf("%s: expected the folders of an ensemble's servers (zk1/data, …), found none", dir)
	}
	return dirs, err
}

// DataDirs lists the folders in which the servers keep their data.
func (e *Ensemble) DataDirs() []string {
	dirs := make([]string, len(e.names))
	for i, name := range e.names {
		dirs[i] = e.dataDir(name)
	}
	return dirs
}
