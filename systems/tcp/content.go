package tcp

// content is what a disk holds: logs and small files by name.
type content struct {
	logs  map[string][][]byte
	files map[string][]byte
}

func newContent() content {
	return content{logs: map[string][][]byte{}, files: map[string][]byte{}}
}

// change is one change to a content, and one record of the journal.
type change struct {
	kind changeKind
	name string
	data []byte // the record appended, or the content of a file
	keep int    // how many records a truncation keeps
}

type changeKind byte

const (
	appendRecord changeKind = iota + 1
	truncateLog
	replaceFile
)

func (c *content) apply(w change) {
	switch w.kind {
	case appendRecord:
		c.logs[w.name] = append(c.logs[w.name], w.data)
	case truncateLog:
		// With the capacity limited, appending again leaves alone what was
		// given out before.
		if l := c.logs[w.name]; w.keep == 0 {
			delete(c.logs, w.name)
		} else if w.keep < len(l) {
			c.logs[w.name] = l[:w.keep:w.keep]
		}
	case replaceFile:
		c.files[w.name] = w.data
	}
}

// clone gives a content that later changes of this one do not touch.
func (c *content) clone() content {
	d := newContent()
	for name, l := range c.logs {
		d.logs[name] = l[:len(l):len(l)]
	}
	for name, f := range c.files {
		d.files[name] = f
	}
	return d
}

// changes calls f with changes that make up the content, log by log.
func (c *content) changes(f func(change)) {
	for name, l := range c.logs {
		for _, r := range l {
			f(change{kind: appendRecord, name: name, data: r})
		}
	}
	for name, data := range c.files {
		f(change{kind: replaceFile, name: name, data: data})
	}
}

// size is the number of bytes that a journal of the content alone has.
func (c *content) size() int64 {
	n := int64(0)
	c.changes(func(w change) { n += int64(w.size()) })
	return n
}
