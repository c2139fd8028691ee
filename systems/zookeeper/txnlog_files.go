package zookeeper

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// txnLogFiles lists the log files of a server's data folder in the order in
// which they were written, which their names tell.
func txnLogFiles(dataDir string) ([]string, error) {
	dir := filepath.Join(dataDir, "version-2")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("transaction logs of a server: %w", err)
	}
	first := map[string]uint64{}
	var files []string
	for _, e := range entries {
		suffix, ok := strings.CutPrefix(e.Name(), "log.")
		if !ok {
			continue
		}
		zxid, err := strconv.ParseUint(suffix, 16, 64)
		if err != nil {
			continue // not a name that a server gives
		}
		path := filepath.Join(dir, e.Name())
		first[path] = zxid
		files = append(files, path)
	}
	slices.SortFunc(files, func(a, b string) int {
		if first[a] < first[b] {
			return -1
		}
		return 1
	})
	return files, nil
}

// readServerLog calls take with every transaction in a server's logs, in order.
// Like the server itself it goes on with the next file after one that was not
// written to its end.
func readServerLog(dataDir string, take func(txn) error) error {
	files, err := txnLogFiles(dataDir)
	if err != nil {
		return err
	}
	for _, path := range files {
		if err := readTxnLogFile(path, take); err != nil {
			return err
		}
	}
	return nil
}

func readTxnLogFile(path string, take func(txn) error) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := readTxnLog(f, take); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
