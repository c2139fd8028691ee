package zookeeper

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stalemate-io/stalemate/histories"
)

// Log reads from the transaction logs of all servers what was written to the
// registers of a run whose znodes lie under root (Registers.Root). dataDirs are
// the servers' data folders. The servers must have been stopped: then nothing
// can be added any more, and what is in no log never took effect.
//
// What is in the logs of a majority was committed. What only a minority has may
// have been committed later, to servers that took it over with a snapshot and
// so never logged it, or may never have been; such a write is Uncertain, unless
// another was committed under its version.
//
// Two servers that logged different things under one zxid are an error, as is a
// log that is damaged anywhere but at the end of a file.
func Log(dataDirs []string, root string) (*histories.Log, error) {
	merged := map[int64]*loggedTxn{}
	for _, dir := range dataDirs {
		err := readServerLog(dir, func(t txn) error {
			writes, err := registerWrites(t, root)
			if err != nil || len(writes) == 0 {
				return err
			}
			m := merged[t.Zxid]
			if m == nil {
				m = &loggedTxn{writes: writes, first: dir}
				merged[t.Zxid] = m
			} else if !slices.Equal(m.writes, writes) {
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
	log := &histories.Log{Complete: true}
	committed := map[version]bool{}
	for _, zxid := range sortedKeys(merged) {
		m := merged[zxid]
		for _, w := range m.writes {
			w.Uncertain = m.servers <= len(dataDirs)/2
			log.Writes = append(log.Writes, w)
			if !w.Uncertain {
				committed[version{w.Key, w.Version}] = true
			}
		}
	}
	log.Writes = slices.DeleteFunc(log.Writes, func(w histories.LogWrite) bool {
		return w.Uncertain && committed[version{w.Key, w.Version}]
	})
	return log, nil
}

// version is a version of a register.
type version struct {
	key histories.Value
	n   histories.Version
}

// loggedTxn is one transaction as the logs that have it tell it. The first and
// the last folder it was met in are kept, for errors and since a log may hold it
// twice.
type loggedTxn struct {
	writes      []histories.LogWrite
	servers     int
	first, last string
}

// registerWrites gives what a transaction wrote to registers under root.
func registerWrites(t txn, root string) (out []histories.LogWrite, err error) {
	for _, c := range t.Changes {
		key, ok := strings.CutPrefix(c.Path, root+"/")
		if !ok || strings.HasPrefix(key, noopPrefix) {
			continue
		}
		if c.Kind == znodeDeleted {
			return nil, fmt.Errorf("zxid %#x: register %s was deleted, so that its versions do not tell its writes apart", t.Zxid, key)
		}
		n, err := strconv.ParseInt(string(c.Data), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("zxid %#x: register %s: expected a number, found %q", t.Zxid, key, c.Data)
		}
		out = append(out, histories.LogWrite{
			Order: t.Zxid, Key: histories.String(key), Value: histories.Int(n), Version: histories.At(int64(c.Version)),
		})
	}
	return out, nil
}

// DataDirs lists the folders in which the servers keep their data.
func (e *Ensemble) DataDirs() []string {
	dirs := make([]string, len(e.names))
	for i, name := range e.names {
		dirs[i] = e.dataDir(name)
	}
	return dirs
}
