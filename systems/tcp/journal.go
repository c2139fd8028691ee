package tcp

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// journalName is the file in a node's folder that holds all of its disk.
const journalName = "journal"

// journal writes changes to a file in their order, on a goroutine of its own, so
// that whoever makes them never waits for the disk. All that was asked for since
// it last looked goes out in one write and, where somebody waits for it, one
// fsync (group commit).
type journal struct {
	dir  string
	file *os.File
	fail func(error)

	mu      sync.Mutex
	wake    sync.Cond
	changes []change
	synced  []func() // called once all changes before are durable
	rewrite *content // to be written in place of all there is
	closed  bool
	done    sync.WaitGroup

	// Owned by the goroutine.
	size, durable int64
	buffer        []byte
}

// openJournal reads the journal in a folder, cuts off its torn end and goes on
// writing after it. torn is how many bytes were cut off. fail is called, once,
// when the disk can no longer be written.
func openJournal(dir string, fail func(error)) (j *journal, c content, torn int, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, c, 0, fmt.Errorf("folder of the node's disk: %w", err)
	}
	path := filepath.Join(dir, journalName)
	c, whole, torn, err := readJournal(path)
	if err != nil {
		return nil, c, 0, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, c, 0, fmt.Errorf("journal: %w", err)
	}
	// What is read now, the node takes for durable.
	err = errors.Join(f.Truncate(int64(whole)), f.Sync(), syncDir(dir))
	if _, seek := f.Seek(int64(whole), 0); err != nil || seek != nil {
		return nil, c, 0, fmt.Errorf("journal %s: %w", path, errors.Join(err, seek, f.Close()))
	}
	j = &journal{dir: dir, file: f, fail: fail, size: int64(whole), durable: int64(whole)}
	j.wake.L = &j.mu
	j.done.Go(j.run)
	return j, c, torn, nil
}

func readJournal(path string) (c content, whole, torn int, err error) {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c, 0, 0, fmt.Errorf("journal: %w", err)
	}
	c, whole, err = replay(data)
	if err != nil {
		return c, 0, 0, fmt.Errorf("journal %s: %w", path, err)
	}
	return c, whole, len(data) - whole, nil
}

// syncDir makes the names in a folder durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// write queues a change.
func (j *journal) write(w change) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.changes = append(j.changes, w)
	j.wake.Signal()
}

// sync calls done, from another goroutine, once what was queued is durable.
func (j *journal) sync(done func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.synced = append(j.synced, done)
	j.wake.Signal()
}

// compact replaces the file by one that holds c, which is what all changes queued
// so far have led to.
func (j *journal) compact(c content) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.changes, j.rewrite = nil, &c
	j.wake.Signal()
}

// close makes everything durable and ends the goroutine.
func (j *journal) close() error {
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return nil
	}
	j.closed = true
	j.wake.Signal()
	j.mu.Unlock()
	j.done.Wait()
	return j.file.Close()
}

func (j *journal) run() {
	for {
		j.mu.Lock()
		for len(j.changes) == 0 && len(j.synced) == 0 && j.rewrite == nil && !j.closed {
			j.wake.Wait()
		}
		changes, synced, rewrite, closed := j.changes, j.synced, j.rewrite, j.closed
		j.changes, j.synced, j.rewrite = nil, nil, nil
		j.mu.Unlock()
		err := j.put(changes, rewrite, len(synced) > 0 || closed)
		if err != nil {
			// After a failed fsync the kernel may have dropped what it could
			// not write and report success the next time. The node stops.
			j.fail(fmt.Errorf("the node's disk in %s: %w", j.dir, err))
			return
		}
		for _, done := range synced {
			done()
		}
		if closed {
			return
		}
	}
}

func (j *journal) put(changes []change, rewrite *content, durable bool) error {
	if rewrite != nil {
		if err := j.replace(rewrite); err != nil {
			return err
		}
	}
	j.buffer = j.buffer[:0]
	for i := range changes {
		j.buffer = changes[i].appendTo(j.buffer, j.durable)
	}
	n, err := j.file.Write(j.buffer)
	j.size += int64(n)
	if err == nil && durable && j.durable < j.size {
		err = j.file.Sync()
		j.durable = j.size
	}
	return err
}

// replace writes a new journal next to the old one, and makes it the journal once
// it is durable.
func (j *journal) replace(c *content) (err error) {
	path := filepath.Join(j.dir, journalName)
	f, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	var buffer []byte
	c.changes(func(w change) { buffer = w.appendTo(buffer, 0) })
	_, err = f.Write(buffer)
	if err = errors.Join(err, f.Sync()); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := os.Rename(path+".new", path); err != nil {
		return errors.Join(err, f.Close())
	}
	err = errors.Join(j.file.Close(), syncDir(j.dir))
	j.file, j.size = f, int64(len(buffer))
	j.durable = j.size
	return err
}
