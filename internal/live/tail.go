package live

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/stalemate-io/stalemate/systems/tcp"
)

// tail reads a node's trace while it is written.
type tail struct {
	path string
	at   int64 // what was read of it
}

// read gives the lines that were added since the last time. A line that is being
// written is left for the next.
func (t *tail) read() ([]tcp.Entry, error) {
	f, err := os.Open(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.NewSectionReader(f, t.at, 1<<62))
	if err != nil {
		return nil, err
	}
	var entries []tcp.Entry
	for {
		end := bytes.IndexByte(text, '\n') + 1
		if end == 0 {
			return entries, nil
		}
		var e tcp.Entry
		if err := json.Unmarshal(text[:end], &e); err != nil {
			return entries, fmt.Errorf("%s: the line at byte %d: %w", t.path, t.at, err)
		}
		entries = append(entries, e)
		text, t.at = text[end:], t.at+int64(end)
	}
}
