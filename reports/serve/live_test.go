package serve

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stalemate-io/stalemate/histories"
)

// stream reads the events of a live view.
type stream struct {
	t     *testing.T
	lines *bufio.Scanner
}

func (s *site) watch(path string) *stream {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.URL+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = answer.Body.Close() }) // only read
	if kind := answer.Header.Get("Content-Type"); answer.StatusCode != http.StatusOK || kind != "text/event-stream" {
		s.t.Fatal(answer.StatusCode, kind)
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	return &stream{s.t, lines}
}

// next gives the next event.
func (s *stream) next() (name, data string) {
	s.t.Helper()
	for s.lines.Scan() {
		field, value, _ := strings.Cut(s.lines.Text(), ": ")
		switch field {
		case "event":
			name = value
		case "data":
			return name, value
		}
	}
	s.t.Fatal("the stream has ended: ", s.lines.Err())
	return "", ""
}

// told is what a test reads of a tally.
type told struct {
	Events  int          `json:"events"`
	Ended   bool         `json:"ended"`
	Kinds   []*kindTally `json:"kinds"`
	Outcome string       `json:"outcome"`
	Time    int64        `json:"time_ms"`
}

// until reads on until so many events are counted.
func (s *stream) until(events int) told {
	s.t.Helper()
	for {
		name, data := s.next()
		var x told
		if name != "tally" {
			s.t.Fatalf("%s %s before %d events were counted", name, data, events)
		}
		if err := json.Unmarshal([]byte(data), &x); err != nil {
			s.t.Fatal(err)
		}
		if x.Events > events {
			s.t.Fatalf("%d events are counted of %d", x.Events, events)
		}
		if x.Events == events {
			return x
		}
	}
}

func TestARunIsWatchedAsItGoes(t *testing.T) {
	store := t.TempDir()
	run := aRun(t, store, "first", "push", 1, 2, false)
	history, err := os.OpenFile(run.Path(histories.HistoryFile), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := history.Close(); err != nil {
			t.Error(err)
		}
	}()
	write := func(text string) {
		if _, err := history.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	s := serveStore(t, store)
	if _, body, _ := s.get(first); !strings.Contains(body, `src="/live.js"`) || strings.Contains(body, "Open the report") {
		t.Errorf("the page of a run that goes on does not show it live:\n%s", body)
	}
	view := s.watch(first + "live")
	if x := view.until(2); x.Outcome != "running" || x.Kinds[0].F != "write" || x.Kinds[0].OK != 1 {
		t.Error("at first", x)
	}
	// A line counts when its end is there, wherever it was cut.
	write(lines[2] + "\n" + lines[3][:20])
	if x := view.until(3); x.Kinds[0].Pending != 1 || x.Kinds[0].OK != 0 {
		t.Errorf("of a read that is pending %+v", x.Kinds[0])
	}
	write(lines[3][20:] + "\n")
	if x := view.until(4); x.Kinds[0].Pending != 0 || x.Kinds[0].OK != 1 || x.Kinds[0].Stale != 0 {
		t.Errorf("of a fresh read %+v", x.Kinds[0])
	}
	write(strings.Join(lines[4:], "\n") + "\n")
	if x := view.until(8); x.Kinds[0].Stale != 1 || x.Time != 1107 || !x.Ended {
		t.Errorf("at the end %+v of %+v", x.Kinds[0], x)
	}
	finish(t, run)
	for {
		name, data := view.next()
		if name == "over" {
			if data != `"finished"` {
				t.Error("the run is over:", data)
			}
			break
		}
	}
	for view.lines.Scan() {
		if text := view.lines.Text(); text != "" {
			t.Error("more follows the end:", text)
		}
	}
}

func TestARunOfProcessesIsWatchedByWhatItsClientsSaw(t *testing.T) {
	store := t.TempDir()
	run := aRun(t, store, "first", "push", 1, 9, false)
	if err := os.Rename(run.Path(histories.HistoryFile), run.Path("clients.jsonl")); err != nil {
		t.Fatal(err)
	}
	s := serveStore(t, store)
	view := s.watch(first + "live")
	view.until(8)
	// The history takes its place, and is counted from its start.
	if err := run.WriteFile(histories.HistoryFile, []byte(strings.Join(lines[:4], "\n")+"\n")); err != nil {
		t.Fatal(err)
	}
	for {
		var x told
		_, data := view.next()
		if err := json.Unmarshal([]byte(data), &x); err != nil {
			t.Fatal(err)
		}
		if x.Events == 4 {
			break
		}
	}
}

func TestTallyOfNothingHasLists(t *testing.T) {
	text, err := json.Marshal(newTally().snapshot())
	if err != nil || strings.Contains(string(text), "null") {
		t.Errorf("%s %v", text, err)
	}
}

func TestTally(t *testing.T) {
	for _, x := range []struct {
		rule  string
		lines []string
		want  func(s snapshot) bool
	}{
		{"a read is stale if a newer version was known when it was invoked", lines, func(s snapshot) bool {
			return s.Kinds[0].Stale == 1 && s.Nodes[0].Name == "n2" && s.Nodes[0].Stale == 1 && s.Nodes[0].Behind == 1 && s.Nodes[0].Reads == 2
		}},
		{"a read that overlaps the newer write is not", []string{lines[0], lines[1], lines[6], lines[4], lines[5], lines[7]}, func(s snapshot) bool {
			return s.Kinds[0].OK == 1 && s.Kinds[0].Stale == 0
		}},
		{"a fault is in force from its start to its stop", []string{
			`{"time":1000000000,"process":"nemesis","type":"info","f":"start-pause-node"}`, `{"time":1100000000,"process":"nemesis","type":"info","f":"start-pause-node"}`,
			`{"time":2000000000,"process":"nemesis","type":"info","f":"stop-pause-node"}`, `{"time":2100000000,"process":"nemesis","type":"info","f":"stop-pause-node"}`,
			`{"time":3000000000,"process":"nemesis","type":"info","f":"start-pause-node"}`,
		}, func(s snapshot) bool {
			return len(s.Faults) == 2 && s.Faults[0].From == 1 && *s.Faults[0].To == 2.1 && s.Faults[1].From == 3 && s.Faults[1].To == nil
		}},
		{"failures and unknown outcomes are counted apart, with the last error", []string{
			lines[0], `{"time":1,"process":0,"type":"fail","f":"write","error":"refused"}`, lines[0], `{"time":1,"process":0,"type":"info","f":"write","error":["timeout",5]}`,
		}, func(s snapshot) bool {
			return s.Kinds[0].Fail == 1 && s.Kinds[0].Info == 1 && s.Kinds[0].Pending == 0 && s.Error == "[timeout 5]" && s.Seconds[0].Other == 2
		}},
		{"what is no event is passed over and counted", []string{"{", "", "[]", lines[0]}, func(s snapshot) bool { return s.Bad == 2 && s.Events == 1 }},
		{"completions count in their second, and seconds without any are there", lines, func(s snapshot) bool {
			return len(s.Seconds) == 2 && s.Seconds[0].OK == 2 && s.Seconds[1].OK == 2 && s.Seconds[1].Stale == 1
		}},
		{"after a long silence only the last seconds are kept", append([]string{`{"time":900000000000000,"process":9,"type":"invoke","f":"read"}`, `{"time":900000000000000,"process":9,"type":"ok","f":"read"}`}, lines...), func(s snapshot) bool {
			return len(s.Seconds) <= lastSeconds && s.Seconds[0].At == 900000
		}},
	} {
		t.Run(x.rule, func(t *testing.T) {
			tally := newTally()
			for _, line := range x.lines {
				tally.add([]byte(line))
			}
			if s := tally.snapshot(); !x.want(s) {
				text, err := json.Marshal(s)
				t.Errorf("%s %v", text, err)
			}
		})
	}
}
