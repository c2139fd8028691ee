package tcp

import (
	"path/filepath"
	"slices"

	"github.com/stalemate-io/stalemate/systems/node"
)

// disk is a node.Disk in memory and, where there is a journal, in a file. All
// logs and files of a node share the one journal: their changes become durable in
// the order in which they were made, so that a crash keeps a prefix of them
// across all names, and one fsync serves them all. Its methods are called by the
// node's loop alone.
type disk struct {
	content
	journal *journal // nil for a disk that dies with the process
	post    func(func())
	// written is how large the journal is at most, and limit the size from
	// which on it is written anew.
	written, limit int64
}

// compactFrom is the size from which on a journal is written anew once it is
// twice as large as what it holds.
const compactFrom = 8 << 20

var _ node.Disk = (*disk)(nil)

// newDisk makes a disk of what is in a journal.
func newDisk(j *journal, c content, post func(func())) *disk {
	d := &disk{content: c, journal: j, post: post}
	if j != nil {
		d.written = j.size
		d.limit = max(compactFrom, 2*c.size())
	}
	return d
}

func (d *disk) write(w change) {
	d.apply(w)
	if d.journal == nil {
		return
	}
	d.written += int64(w.size())
	if d.written < d.limit {
		d.journal.write(w)
		return
	}
	d.written = d.size()
	d.limit = max(compactFrom, 2*d.written)
	d.journal.compact(d.clone())
}

// Append adds records to the end of a log.
func (d *disk) Append(log string, records ...[]byte) {
	for _, r := range records {
		d.write(change{kind: appendRecord, name: log, data: r})
	}
}

// Truncate keeps the first n records of a log.
func (d *disk) Truncate(log string, n int) {
	if n = max(0, n); n < len(d.logs[log]) {
		d.write(change{kind: truncateLog, name: log, keep: n})
	}
}

// Records gives a log's records, oldest first.
func (d *disk) Records(log string) [][]byte {
	l := d.logs[log]
	return l[:len(l):len(l)]
}

// Write replaces a file.
func (d *disk) Write(file string, data []byte) {
	d.write(change{kind: replaceFile, name: file, data: slices.Clone(data)})
}

// Read gives a file's content, nil where there is none.
func (d *disk) Read(file string) []byte { return d.files[file] }

// Sync calls done once everything written so far is durable.
func (d *disk) Sync(done func()) {
	if d.journal == nil {
		d.post(done)
		return
	}
	d.journal.sync(func() { d.post(done) })
}

// ReadDisk gives what is on the disk of a node that does not run. What is done to
// the disk that it returns happens in memory only.
func ReadDisk(dir string) (node.Disk, error) {
	c, _, _, err := readJournal(filepath.Join(dir, journalName))
	if err != nil {
		return nil, err
	}
	return newDisk(nil, c, func(f func()) { f() }), nil
}
