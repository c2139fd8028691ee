package zookeeper

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/stalemate-io/stalemate/histories"
)

// Log reads from the transaction logs of all servers what was written to the
// registers of a run whose znodes lie under root (Registers.Root), as Writes
// does.
func Log(dataDirs []string, root string) (*histories.Log, error) {
	writes, err := Writes(dataDirs, func(path string) bool {
		key, ok := strings.CutPrefix(path, root+"/")
		return ok && !strings.HasPrefix(key, noopPrefix)
	})
	if err != nil {
		return nil, err
	}
	log := &histories.Log{Complete: true}
	for _, w := range writes {
		key := strings.TrimPrefix(w.Path, root+"/")
		if w.Deleted {
			return nil, fmt.Errorf("zxid %#x: register %s was deleted, so that its versions do not tell its writes apart", w.Zxid, key)
		}
		n, err := strconv.ParseInt(string(w.Data), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("zxid %#x: register %s: expected a number, found %q", w.Zxid, key, w.Data)
		}
		log.Writes = append(log.Writes, histories.LogWrite{
			Order: w.Zxid, Key: histories.String(key), Value: histories.Int(n), Version: histories.At(int64(w.Version)), Uncertain: w.Uncertain,
		})
	}
	return log, nil
}
