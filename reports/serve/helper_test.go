package serve

import (
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
)

// The lines of a history of one register that n2 answers late. Its first six
// events have no stale read, the last two are one.
var lines = []string{
	`{"index":0,"time":1000000,"process":0,"type":"invoke","f":"write","key":"r1","value":"a"}`,
	`{"index":1,"time":2000000,"process":0,"type":"ok","f":"write","key":"r1","value":"a","node":"n1","version":1}`,
	`{"index":2,"time":3000000,"process":1,"type":"invoke","f":"read","key":"r1","path":"get"}`,
	`{"index":3,"time":4000000,"process":1,"type":"ok","f":"read","key":"r1","value":"a","node":"n2","path":"get","version":1}`,
	`{"index":4,"time":1005000000,"process":0,"type":"invoke","f":"write","key":"r1","value":"b"}`,
	`{"index":5,"time":1006000000,"process":0,"type":"ok","f":"write","key":"r1","value":"b","node":"n1","version":2}`,
	`{"index":6,"time":1106000000,"process":1,"type":"invoke","f":"read","key":"r1","path":"get"}`,
	`{"index":7,"time":1107000000,"process":1,"type":"ok","f":"read","key":"r1","value":"a","node":"n2","path":"get","version":1}`,
	`{"end":true,"events":8}`,
}

// aRun makes a run of a system that started so many minutes after noon, with the
// history above up to some line. It is judged where judge says so.
func aRun(t *testing.T, store, name, system string, minute, upTo int, judge bool) *histories.Run {
	t.Helper()
	run, err := histories.CreateRun(store, histories.RunInfo{
		Name: name, System: system, Deployment: "sim", Seed: int64(minute), Model: "versioned-register", Promises: map[string]string{"get": "ordered-lag"},
		Settings: map[string]string{"time": "2s", "faults": system + " faults"}, Command: []string{"/usr/bin/stalemate", "run", system},
		Started: time.Date(2026, 12, 2, 12, minute, 0, 0, time.UTC),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := run.WriteFile(histories.HistoryFile, []byte(strings.Join(lines[:upTo], "\n")+"\n")); err != nil {
		t.Fatal(err)
	}
	if judge {
		finish(t, run)
	}
	return run
}

// finish ends a run and judges it.
func finish(t *testing.T, run *histories.Run) {
	t.Helper()
	if err := run.End(histories.Finished, nil); err != nil {
		t.Fatal(err)
	}
	h, err := run.History()
	if err != nil {
		t.Fatal(err)
	}
	v, err := checker.Check(h, checker.Options{Model: "versioned-register", Promise: checker.OrderedLag})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := run.WriteFile(histories.VerdictFile, text); err != nil {
		t.Fatal(err)
	}
}

// made is the report of the tests: it names the run and the length of its history.
func made(_ context.Context, name string, files fs.FS) ([]byte, error) {
	text, err := fs.ReadFile(files, histories.HistoryFile)
	return []byte("<!doctype html><title>made of " + name + "</title>" + string(text)), err
}

// site is a server of a store that a test asks.
type site struct {
	t *testing.T
	*httptest.Server
	store string
}

func serveStore(t *testing.T, store string) *site {
	t.Helper()
	s, err := New(Options{Store: store, Report: made, Every: 5 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	t.Cleanup(func() {
		server.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &site{t, server, store}
}

// get asks for a path as it stands, which a client would tidy up otherwise.
func (s *site) get(path string) (int, string, http.Header) {
	s.t.Helper()
	return s.do(http.MethodGet, path, "")
}

func (s *site) do(method, path, host string) (int, string, http.Header) {
	s.t.Helper()
	u, err := url.Parse(s.URL)
	if err != nil {
		s.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.URL, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	raw, query, _ := strings.Cut(path, "?")
	request.URL = &url.URL{Scheme: "http", Host: u.Host, Opaque: raw, RawQuery: query}
	if host != "" {
		request.Host = host
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := answer.Body.Close(); err != nil {
		s.t.Fatal(err)
	}
	return answer.StatusCode, string(body), answer.Header
}

// inOrder fails unless the texts occur in this order.
func inOrder(t *testing.T, text string, want ...string) {
	t.Helper()
	at := 0
	for _, w := range want {
		n := strings.Index(text[at:], w)
		if n < 0 {
			t.Fatalf("%q is not there after %q in\n%s", w, text[:at], text)
		}
		at += n + len(w)
	}
}

// contents maps each file of a folder to what it holds and when that changed.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := ""
		if info.Mode().IsRegular() {
			read, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = string(read)
		}
		all[path] = info.Mode().String() + info.ModTime().String() + text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
