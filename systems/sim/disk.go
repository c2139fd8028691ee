package sim

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
)

// disk is what a host keeps over the crashes of its node. It holds the content
// twice: as the node sees it and as it is known to be safe, with the writes
// that lie between the two in order.
type disk struct {
	host   *host
	seen   content
	safe   content
	unsafe []write
	synced int           // how many writes were ever made safe
	busy   time.Duration // until when the last Sync takes
	slow   time.Duration // added to every Sync
	rand   *rand.Rand
}

type content struct {
	logs  map[string][][]byte
	files map[string][]byte
}

// write is one change to a disk.
type write struct {
	kind    writeKind
	name    string
	records [][]byte // of an append
	data    []byte   // of a file
	keep    int      // of a truncation
}

type writeKind uint8

const (
	appendLog writeKind = iota
	truncateLog
	replaceFile
)

func (c *content) apply(w write) {
	switch w.kind {
	case appendLog:
		if c.logs == nil {
			c.logs = map[string][][]byte{}
		}
		c.logs[w.name] = append(c.logs[w.name], w.records...)
	case truncateLog:
		// Limit the capacity, so that appending again leaves alone what
		// was given out before.
		if l := c.logs[w.name]; w.keep < len(l) {
			c.logs[w.name] = l[:w.keep:w.keep]
		}
	case replaceFile:
		if c.files == nil {
			c.files = map[string][]byte{}
		}
		c.files[w.name] = w.data
	}
}

func (c *content) clone() content {
	var d content
	if c.logs != nil {
		d.logs = make(map[string][][]byte, len(c.logs))
		for name, l := range c.logs {
			d.logs[name] = l[:len(l):len(l)]
		}
	}
	if c.files != nil {
		d.files = make(map[string][]byte, len(c.files))
		for name, f := range c.files {
			d.files[name] = f
		}
	}
	return d
}

func (d *disk) write(w write) {
	d.seen.apply(w)
	d.unsafe = append(d.unsafe, w)
}

func (d *disk) random() *rand.Rand {
	if d.rand == nil {
		d.rand = d.host.world.stream("disk "+string(d.host.id), 0)
	}
	return d.rand
}

// sync makes what is written by now safe and then calls done. Syncs of one disk
// follow one another.
func (d *disk) sync(done func()) {
	h, w := d.host, d.host.world
	upTo := d.synced + len(d.unsafe)
	d.busy = max(d.busy, w.now) + w.config.Sync.draw(d.random()) + d.slow
	life := h.life
	w.at(d.busy, func() {
		if h.life != life {
			return
		}
		// The disk works on while the process is paused.
		d.makeSafe(upTo)
		it := w.agenda.take()
		it.kind, it.host, it.boot, it.run = callback, h, life, done
		h.accept(it)
	})
}

func (d *disk) makeSafe(upTo int) {
	n := upTo - d.synced
	if n <= 0 {
		return
	}
	for _, w := range d.unsafe[:n] {
		d.safe.apply(w)
	}
	d.unsafe = slices.Delete(d.unsafe, 0, n)
	d.synced = upTo
}

// crash keeps a prefix of the writes that no Sync had made safe: any of them may
// have reached the disk by itself, but none before an earlier one.
func (d *disk) crash() {
	if n := len(d.unsafe); n > 0 {
		d.makeSafe(d.synced + d.random().IntN(n+1))
		d.synced += len(d.unsafe)
		d.unsafe = nil
		d.seen = d.safe.clone()
	}
	d.busy = 0
}

// diskView is a disk as one life of a node sees it.
type diskView struct{ env *env }

func (v diskView) write(w write) {
	if v.env.effect() {
		v.env.host.disk.write(w)
	}
}

func (v diskView) Append(log string, records ...[]byte) {
	v.write(write{kind: appendLog, name: log, records: slices.Clone(records)})
}

func (v diskView) Truncate(log string, n int) {
	v.write(write{kind: truncateLog, name: log, keep: max(0, n)})
}

func (v diskView) Records(log string) [][]byte {
	l := v.env.host.disk.seen.logs[log]
	return l[:len(l):len(l)]
}

func (v diskView) Write(file string, data []byte) {
	v.write(write{kind: replaceFile, name: file, data: slices.Clone(data)})
}

func (v diskView) Read(file string) []byte { return v.env.host.disk.seen.files[file] }

func (v diskView) Sync(done func()) {
	if !v.env.effect() {
		return
	}
	if v.env.host.pauses > 0 && v.env.interrupted(func() { v.env.host.disk.sync(done) }) {
		return
	}
	v.env.host.disk.sync(done)
}

var _ node.Disk = diskView{}
