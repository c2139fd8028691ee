package tcp

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
)

// Entry is a line of a node's trace: something that happened in it, by Now.
type Entry struct {
	Time    time.Duration `json:"time"` // nanoseconds
	Node    node.ID       `json:"node"`
	What    string        `json:"what"`
	Key     string        `json:"key,omitempty"`
	Peer    node.ID       `json:"peer,omitempty"`
	Leader  int32         `json:"leader"`
	Epoch   int32         `json:"epoch"`
	Version int64         `json:"version"`
	ID      uint64        `json:"id,omitempty"`
	Why     string        `json:"why,omitempty"`
}

// Trace gives the entry as the node made it.
func (e *Entry) Trace() node.Trace {
	return node.Trace{What: e.What, Key: e.Key, Peer: e.Peer, Leader: e.Leader, Epoch: e.Epoch, Version: e.Version, ID: e.ID, Why: e.Why}
}

// tracer writes a node's trace, each line with one write, so that all that
// happened before a node was killed is there.
type tracer struct {
	self node.ID
	to   io.Writer // nil where nobody listens
	fail func(error)
}

func (t *tracer) write(e node.Trace) {
	if t.to == nil {
		return
	}
	line, err := json.Marshal(Entry{
		Time: Now(), Node: t.self, What: e.What, Key: e.Key, Peer: e.Peer,
		Leader: e.Leader, Epoch: e.Epoch, Version: e.Version, ID: e.ID, Why: e.Why,
	})
	if err == nil {
		_, err = t.to.Write(append(line, '\n'))
	}
	if err != nil {
		t.to = nil
		t.fail(fmt.Errorf("trace: %w", err))
	}
}

// ReadTrace reads a node's trace. A last line that a crash cut off is left out;
// so is a file that is not there.
func ReadTrace(path string) ([]Entry, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var entries []Entry
	r := bufio.NewReader(f)
	for number := 1; ; number++ {
		line, err := r.ReadBytes('\n')
		if err == io.EOF {
			return entries, nil
		}
		if err != nil {
			return entries, err
		}
		var e Entry
		if err := json.Unmarshal(line, &e); err != nil {
			return entries, fmt.Errorf("%s:%d: %w", path, number, err)
		}
		entries = append(entries, e)
	}
}
