package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"time"

	"github.com/stalemate-io/stalemate/histories"
)

// clientsFile is what clients of processes have seen so far; their history.jsonl
// is made of it, and of what the nodes committed, when the run is over.
const clientsFile = "clients.jsonl"

// heartbeat is how often a live view hears of a history that does not grow.
const heartbeat = time.Second

// live sends what a history says so far as server-sent events, until the run is
// over and judged or the reader goes.
func (s *Server) live(w http.ResponseWriter, r *http.Request) (err error) {
	x, err := s.opened(r)
	if err != nil {
		return err
	}
	select {
	case s.watching <- struct{}{}:
		defer func() { <-s.watching }()
	default:
		http.Error(w, fmt.Sprintf("%d live views are open; close one", maxWatching), http.StatusServiceUnavailable)
		return nil
	}
	f := &follower{store: s.store, id: x.ID, tally: newTally(), grew: time.Now()}
	defer func() { err = errors.Join(err, f.close()) }()
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	ticker := time.NewTicker(s.o.Every)
	defer ticker.Stop()
	var sent time.Time
	var before [3]any // what was sent last
	for {
		behind, err := f.read()
		if err != nil {
			return send(w, out, "trouble", err.Error())
		}
		done, outcome := f.over()
		if now := [3]any{f.name, f.at, outcome}; now != before || time.Since(sent) > heartbeat {
			shot := f.tally.snapshot()
			shot.Quiet, shot.Outcome = time.Since(f.grew).Seconds(), outcome
			if err := send(w, out, "tally", shot); err != nil {
				return nil // the reader is gone
			}
			before, sent = now, time.Now()
		}
		if done && !behind {
			return send(w, out, "over", outcome)
		}
		if behind {
			if r.Context().Err() != nil {
				return nil
			}
			continue
		}
		select {
		case <-ticker.C:
		case <-r.Context().Done():
			return nil
		}
	}
}

// send sends one event.
func send(w io.Writer, out *http.ResponseController, name string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, text); err != nil {
		return err
	}
	return out.Flush()
}

// follower reads a history as it grows.
type follower struct {
	store *store
	id    string
	tally *tally
	grew  time.Time

	name string // of the file that is followed
	file *os.File
	at   int64  // how far it was read
	rest []byte // of a line whose end is not there yet
}

const (
	// maxStep is how much is read before the reader hears of it.
	maxStep = 8 << 20
	// maxLine is how long a line may be.
	maxLine = 4 << 20
)

// read counts what was written since the last time. It reports whether there is
// more to read at once.
func (f *follower) read() (behind bool, err error) {
	if err := f.choose(); err != nil || f.file == nil {
		return false, err
	}
	chunk := make([]byte, 1<<18)
	for step := 0; step < maxStep; {
		n, err := f.file.ReadAt(chunk, f.at)
		if n > 0 {
			f.grew = time.Now()
		}
		f.at += int64(n)
		step += n
		f.lines(chunk[:n])
		if len(f.rest) > maxLine {
			return false, fmt.Errorf("%s: expected lines of at most %d MB", f.name, maxLine>>20)
		}
		if err == io.EOF {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

func (f *follower) lines(text []byte) {
	for {
		end := bytes.IndexByte(text, '\n')
		if end < 0 {
			f.rest = append(f.rest, text...)
			return
		}
		line := text[:end]
		if len(f.rest) > 0 {
			line = append(f.rest, line...)
		}
		f.tally.add(line)
		f.rest, text = f.rest[:0], text[end+1:]
	}
}

// choose opens the history, or until there is one what the clients have seen. A
// file that takes the other's place is counted from its start.
func (f *follower) choose() error {
	for _, name := range []string{histories.HistoryFile, clientsFile} {
		if name == f.name {
			return nil
		}
		file, err := f.store.file(path.Join(f.id, name))
		if errors.Is(err, errNotHere) {
			continue
		}
		if err != nil {
			return err
		}
		if err := f.close(); err != nil {
			return errors.Join(err, file.Close())
		}
		f.name, f.file, f.at, f.rest, f.tally = name, file, 0, nil, newTally()
		return nil
	}
	return nil
}

func (f *follower) close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}

// over reports whether nothing more is to come of the run, and how it ended: it
// has a verdict, be it that of a run which was killed, or it failed and will have
// none.
func (f *follower) over() (bool, string) {
	r, err := f.store.open(f.id)
	if err != nil {
		return false, "" // it may be in the middle of being written
	}
	return r.Verdict != nil || r.Info.Outcome == histories.Broken, string(r.Info.Outcome)
}
