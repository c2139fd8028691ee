package serve

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stalemate-io/stalemate/histories"
)

func TestTheListOfRuns(t *testing.T) {
	store := t.TempDir()
	aRun(t, store, "first", "push", 1, 9, true)
	aRun(t, store, "second", "kraft", 2, 7, true)
	broken := aRun(t, store, "broken", "push", 0, 9, true)
	aRun(t, store, "third", "push", 3, 4, false)
	if err := broken.WriteFile(histories.RunFile, []byte(`{"version":99}`)); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(store, "notes", "of somebody"), 0o777); err != nil {
		t.Fatal(err)
	}
	s := serveStore(t, store)

	t.Run("newest first, each run once, with its verdict and a way to it", func(t *testing.T) {
		status, body, _ := s.get("/")
		if status != http.StatusOK {
			t.Fatal(status, body)
		}
		inOrder(t, body, "1–4 of 4", "third", ">linearizable<", ">second<", ">ordered lag<", ">first<", "1 / 2", "100", "unreadable", "expected version 1 to 1, found 99")
		if n := strings.Count(body, "<tr>"); n != 5 {
			t.Errorf("%d rows, expected the head and four runs", n)
		}
		if strings.Contains(body, "somebody") {
			t.Error("a folder that is no run's is listed")
		}
	})
	t.Run("a run without an end that was written to a moment ago is running", func(t *testing.T) {
		_, body, _ := s.get("/?system=push&verdict=not+judged")
		inOrder(t, body, "running", "third", ">watch<")
	})
	for _, x := range []struct{ rule, query, with, without string }{
		{"the system filters", "system=kraft", ">second<", ">first<"},
		{"the verdict filters", "verdict=ordered-lag", ">first<", ">second<"},
		{"both filter together", "system=kraft&verdict=ordered-lag", "No run passes the filter", ">second<"},
	} {
		t.Run(x.rule, func(t *testing.T) {
			_, body, _ := s.get("/?" + x.query)
			if !strings.Contains(body, x.with) || strings.Contains(body, x.without) {
				t.Errorf("expected %s and no %s in\n%s", x.with, x.without, body)
			}
		})
	}
	t.Run("a run that is judged meanwhile is listed with its verdict", func(t *testing.T) {
		run, err := histories.OpenRun(filepath.Join(store, "third", "latest"))
		if err != nil {
			t.Fatal(err)
		}
		finish(t, run)
		_, body, _ := s.get("/")
		inOrder(t, body, ">linearizable<", ">third<", ">report<")
	})
	t.Run("a run that was killed, and checked later, is not running", func(t *testing.T) {
		store := t.TempDir()
		run := aRun(t, store, "killed", "push", 1, 7, true)
		info := run.Info
		info.Outcome = histories.Running
		if err := run.SetInfo(info); err != nil {
			t.Fatal(err)
		}
		s := serveStore(t, store)
		for _, page := range []string{"/", "/run/killed/20261202T120100.000Z/"} {
			if _, body, _ := s.get(page); strings.Contains(body, `class="class running"`) || !strings.Contains(body, "report") {
				t.Errorf("%s: %s", page, body)
			}
		}
	})
	t.Run("an empty store says what to do", func(t *testing.T) {
		_, body, _ := serveStore(t, t.TempDir()).get("/")
		inOrder(t, body, "no runs here yet", "stalemate run")
	})
	t.Run("latest leads to the newest", func(t *testing.T) {
		if status, _, h := s.get("/latest"); status != http.StatusSeeOther || h.Get("Location") != "/run/third/20261202T120300.000Z/" {
			t.Error(status, h)
		}
	})
}

func TestLongListsHavePages(t *testing.T) {
	store := t.TempDir()
	for i := range runsOnPage + 1 {
		if _, err := histories.CreateRun(store, histories.RunInfo{Name: "many", System: "push", Seed: int64(i)}); err != nil {
			t.Fatal(err)
		}
	}
	s := serveStore(t, store)
	_, body, _ := s.get("/?system=push")
	inOrder(t, body, "1–100 of 101", "seed 100", "/?from=100&amp;system=push")
	_, body, _ = s.get("/?from=100&system=push")
	inOrder(t, body, "101–101 of 101", "seed 0", "/?from=0&amp;system=push")
	if status, _, _ := s.get("/?from=-1"); status != http.StatusBadRequest {
		t.Error("a negative place in the list is answered with", status)
	}
}

const first = "/run/first/20261202T120100.000Z/"

func TestARunsPage(t *testing.T) {
	store := t.TempDir()
	run := aRun(t, store, "first", "push", 1, 9, true)
	s := serveStore(t, store)

	t.Run("it tells the verdict, what decided the run, and lists its files", func(t *testing.T) {
		_, body, _ := s.get(first)
		inOrder(t, body, "ordered lag", "kept", "1 of those stale", "report.html", "Read paths", "1 / 2", "stalemate run push", "push faults", "history.jsonl", "verdict.json")
	})
	t.Run("a file is sent as text, and never as a page", func(t *testing.T) {
		status, body, h := s.get(first + "files/history.jsonl")
		if status != http.StatusOK || body != strings.Join(lines, "\n")+"\n" || h.Get("Content-Type") != "text/plain; charset=utf-8" || !strings.HasPrefix(h.Get("Content-Security-Policy"), "sandbox;") {
			t.Error(status, body, h)
		}
	})
	t.Run("a file that is no text is sent to be kept", func(t *testing.T) {
		if err := run.WriteFile("log.1", []byte("a\x00b")); err != nil {
			t.Fatal(err)
		}
		if _, _, h := s.get(first + "files/log.1"); h.Get("Content-Type") != "application/octet-stream" || !strings.Contains(h.Get("Content-Disposition"), "log.1") {
			t.Error(h)
		}
	})
	t.Run("a report that is missing is made, and kept nowhere", func(t *testing.T) {
		status, body, _ := s.get(first + "report.html")
		if status != http.StatusOK || !strings.Contains(body, "made of first/20261202T120100.000Z") || !strings.Contains(body, lines[7]) {
			t.Error(status, body)
		}
		if _, err := os.Stat(run.Path("report.html")); !os.IsNotExist(err) {
			t.Error("the report was written into the store:", err)
		}
	})
	t.Run("a report that is there is sent, shut into a sandbox", func(t *testing.T) {
		if err := run.WriteFile("report.html", []byte("<!doctype html>the run's own")); err != nil {
			t.Fatal(err)
		}
		_, body, h := s.get(first + "report.html")
		if body != "<!doctype html>the run's own" || h.Get("Content-Type") != "text/html; charset=utf-8" {
			t.Error(body, h)
		}
		if p := h.Get("Content-Security-Policy"); !strings.HasPrefix(p, "sandbox allow-scripts; default-src 'none'") || strings.Contains(p, "allow-same-origin") {
			t.Error("its policy is", p)
		}
	})
}

func TestTwoRunsSideBySide(t *testing.T) {
	store := t.TempDir()
	aRun(t, store, "first", "push", 1, 9, true)
	aRun(t, store, "second", "kraft", 2, 7, true)
	s := serveStore(t, store)
	// Whatever the order in which they are ticked, the older one is on the left.
	_, body, _ := s.get("/compare?run=second/20261202T120200.000Z&run=first/20261202T120100.000Z")
	inOrder(t, body, "on the left is ordered lag, the one on the right linearizable, which is better", ">first<", "1 of 2 reads stale, by up to 100 ms and 1 version.",
		">second<", "0 of 1 reads stale", "all reads", "left", "1 / 2", "right", "0 / 1", "Settings that differ", "faults", "push faults", "kraft faults", "seed", "others are the same")
	for _, query := range []string{"", "?run=first/20261202T120100.000Z", "?run=a&run=b&run=c"} {
		if status, body, _ := s.get("/compare" + query); status != http.StatusBadRequest || !strings.Contains(body, "tick two") {
			t.Errorf("compare%s: %d %s", query, status, body)
		}
	}
}

func TestWhatRunsSayIsNoMarkup(t *testing.T) {
	const hostile = `<script>window.hacked=1</script>"'><img src=x>`
	store := t.TempDir()
	run := aRun(t, store, "first", "push", 1, 9, true)
	info := run.Info
	info.System, info.Deployment, info.Error, info.Command = hostile, hostile, hostile, []string{hostile, hostile}
	info.Settings = map[string]string{hostile: hostile}
	if err := run.SetInfo(info); err != nil {
		t.Fatal(err)
	}
	if err := run.WriteFile("<b>&.log", []byte(hostile)); err != nil {
		t.Fatal(err)
	}
	aRun(t, store, `"><script>`, "push", 2, 9, true)
	s := serveStore(t, store)
	for _, page := range []string{"/", first, "/compare?run=first/20261202T120100.000Z&run=%22%3E%3Cscript%3E/20261202T120200.000Z", "/?system=%3Cscript%3E", "/nothing%3Cscript%3E"} {
		_, body, h := s.get(page)
		if strings.Contains(body, "<script>") || strings.Contains(body, "<img") || strings.Contains(body, "<b>&") {
			t.Errorf("%s: markup of a run's making in\n%s", page, body)
		}
		if !strings.HasPrefix(h.Get("Content-Security-Policy"), "default-src 'none'; style-src 'self'; script-src 'self'") {
			t.Errorf("%s: its policy is %s", page, h.Get("Content-Security-Policy"))
		}
	}
	_, body, _ := s.get(first)
	inOrder(t, body, `files/%3Cb%3E&amp;.log"`)
	if status, body, h := s.get(first + "files/%3Cb%3E&.log"); status != http.StatusOK || body != hostile || !strings.HasPrefix(h.Get("Content-Type"), "text/plain") {
		t.Error(status, body, h)
	}
}

func TestNothingIsWritten(t *testing.T) {
	store := t.TempDir()
	aRun(t, store, "first", "push", 1, 9, true)
	unjudged := aRun(t, store, "second", "push", 2, 9, false)
	if err := unjudged.End(histories.Interrupted, nil); err != nil {
		t.Fatal(err)
	}
	s := serveStore(t, store)
	before := contents(t, store)
	const second = "/run/second/20261202T120200.000Z/"
	for _, page := range []string{"/", "/latest", first, second, first + "report.html", second + "report.html", first + "files/run.json", "/style.css", "/live.js"} {
		if status, body, _ := s.get(page); status >= 400 {
			t.Errorf("%s: %d %s", page, status, body)
		}
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodOptions} {
			if status, _, _ := s.do(method, page, ""); status != http.StatusMethodNotAllowed {
				t.Errorf("%s %s is answered with %d", method, page, status)
			}
		}
	}
	if d := cmp.Diff(before, contents(t, store)); d != "" {
		t.Errorf("the store has changed (-before +after):\n%s", d)
	}
}

func TestAsWhomItMayBeAsked(t *testing.T) {
	s, err := New(Options{Store: t.TempDir(), Hosts: []string{"lab.example"}})
	if err != nil {
		t.Fatal(err)
	}
	beyond, err := New(Options{Store: t.TempDir(), AnyAddress: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		host         string
		mine, beyond bool
	}{
		{"127.0.0.1:8080", true, true},
		{"127.0.0.1", true, true},
		{"[::1]:8080", true, true},
		{"localhost:8080", true, true},
		{"LocalHost.:8080", true, true},
		{"lab.example:8080", true, false},
		{"192.168.1.4:8080", false, true},
		{"evil.example:8080", false, false},
		{"localhost.evil.example", false, false},
		{"127.0.0.1.evil.example:8080", false, false},
		{"", false, false},
	} {
		if s.mine(x.host) != x.mine || beyond.mine(x.host) != x.beyond {
			t.Errorf("%q: %v on loopback, %v beyond; expected %v and %v", x.host, s.mine(x.host), beyond.mine(x.host), x.mine, x.beyond)
		}
	}
	for _, s := range []*Server{s, beyond} {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}

	store := t.TempDir()
	aRun(t, store, "first", "push", 1, 9, true)
	if status, body, _ := serveStore(t, store).do(http.MethodGet, first, "evil.example"); status != http.StatusMisdirectedRequest || strings.Contains(body, "push") {
		t.Error("a foreign name is answered with", status, body)
	}
}

func TestAStoreHasToBeThere(t *testing.T) {
	if _, err := New(Options{Store: filepath.Join(t.TempDir(), "none")}); err == nil || !strings.Contains(err.Error(), "stalemate run") {
		t.Error("expected an error that says what to do, found", err)
	}
}
