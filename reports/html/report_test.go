package html

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
)

// carried unpacks what a page carries.
func carried(t *testing.T, page string) (header map[string]any, body []byte) {
	t.Helper()
	m := regexp.MustCompile(`<div id="data" hidden>([A-Za-z0-9+/=]*)</div>`).FindStringSubmatch(page)
	if m == nil {
		t.Fatal("the page carries no data")
	}
	packed, err := base64.StdEncoding.DecodeString(m[1])
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	size := binary.LittleEndian.Uint32(all)
	if err := json.Unmarshal(all[8:8+size], &header); err != nil {
		t.Fatal(err)
	}
	return header, all[8+size:]
}

// columnOf gives a column of 32-bit integers.
func columnOf(t *testing.T, header map[string]any, body []byte, name string) []int32 {
	t.Helper()
	for _, c := range header["columns"].([]any) {
		c := c.(map[string]any)
		if c["name"] != name {
			continue
		}
		out := make([]int32, int(c["length"].(float64)))
		if err := binary.Read(bytes.NewReader(body[int(c["offset"].(float64)):]), binary.LittleEndian, out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	t.Fatalf("no column %s", name)
	return nil
}

func TestPageAsksNothingOfTheNetwork(t *testing.T) {
	page := render(t, testInput(t, "hostile", hostileHistory(t)), MaxDrawn)
	for _, forbidden := range []string{`src="`, `href="h`, "@import", "url(h", "fetch(", "XMLHttpRequest", "WebSocket"} {
		// Of what the history says, quotes and brackets are escaped, so that its
		// texts cannot be meant.
		if strings.Contains(page, forbidden) {
			t.Errorf("the page holds %q", forbidden)
		}
	}
	if !strings.Contains(page, `default-src 'none'`) {
		t.Error("the page's policy does not forbid what comes from elsewhere")
	}
}

func TestValuesAreNoMarkup(t *testing.T) {
	in := testInput(t, hostile[0], hostileHistory(t))
	in.Info = &histories.RunInfo{
		Name: hostile[0], System: hostile[1], Settings: map[string]string{hostile[2]: hostile[3]},
		Versions: map[string]string{hostile[4]: hostile[0]}, Command: []string{"stalemate", "run", hostile[0]}, Error: hostile[2],
	}
	page := render(t, in, MaxDrawn)
	for _, markup := range []string{"<script>window", "<img", "<svg onload", "onerror=\""} {
		if strings.Contains(page, markup) {
			t.Errorf("the page holds %q as markup", markup)
		}
	}
	if n := strings.Count(page, "<script"); n != 1 {
		t.Errorf("the page has %d scripts, expected its own alone", n)
	}
	if !strings.Contains(page, "&lt;script&gt;window.hacked=1") {
		t.Error("the page does not show the key")
	}
}

func TestPolicyNamesTheScriptThatThePageHas(t *testing.T) {
	page := render(t, testInput(t, "x", hostileHistory(t)), MaxDrawn)
	scripts := scriptHashes([]byte(page))
	if len(scripts) != 1 || !strings.Contains(page, scripts[0]) {
		t.Errorf("the policy does not name the script's hash %v", scripts)
	}
}

func TestThinningHidesNoAnomalyAndNoChange(t *testing.T) {
	h := longHistory(t, 12_000)
	in := testInput(t, "long", h)
	const limit = 5_000
	header, body := carried(t, render(t, in, limit))
	index := columnOf(t, header, body, "index")
	if len(index) > limit || len(index) < limit*9/10 {
		t.Errorf("%d operations are carried, expected about %d", len(index), limit)
	}
	have := make(map[int32]bool, len(index))
	for _, i := range index {
		have[i] = true
	}
	line, err := checker.NewTimeline(h, in.Options)
	if err != nil {
		t.Fatal(err)
	}
	for i := range h.Operations {
		if op := &h.Operations[i]; !have[op.Invoked] && (op.F != histories.Read || line.Broken[int32(i)] != "") {
			t.Fatalf("event %d is left out", op.Invoked)
		}
	}
	for _, a := range in.Verdict.Anomalies {
		for _, w := range a.Witness {
			if !have[int32(w.Index)] {
				t.Errorf("event %d of the witness of a %s is left out", w.Index, a.Kind)
			}
		}
	}
	// The runs that a lane shows are the same with and without thinning.
	all, _ := carried(t, render(t, in, len(h.Operations)))
	if all["total"] != header["total"] || !slices.IsSorted(index) {
		t.Error("the thinned page tells another total, or is out of order")
	}
}

func TestThinningKeepsEveryRun(t *testing.T) {
	h := longHistory(t, 6_000)
	line, err := checker.NewTimeline(h, checker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	type step struct {
		lane   lane
		result histories.Datum
		stale  bool
	}
	runs := func(ops []int32) (out []step) {
		last := make(map[lane]step)
		for _, i := range ops {
			op := &h.Operations[i]
			if op.F != histories.Read || op.Outcome != histories.Happened {
				continue
			}
			s := step{laneOf(op), op.Result, line.Seen[i].Missed >= 0}
			if last[s.lane] != s {
				out = append(out, s)
				last[s.lane] = s
			}
		}
		return out
	}
	whole := runs(thin(h, line, nil, len(h.Operations)))
	if thinned := runs(thin(h, line, nil, 10)); !slices.Equal(whole, thinned) {
		t.Errorf("%d runs of %d are left", len(thinned), len(whole))
	}
}

func TestReplayIsTheCommandWithItsSeed(t *testing.T) {
	for name, c := range map[string]struct {
		command []string
		want    string
	}{
		"a drawn seed is added":    {[]string{"/usr/bin/stalemate", "run", "zookeeper"}, "stalemate run zookeeper --seed 7"},
		"a given one stays":        {[]string{"stalemate", "run", "push", "--seed=3"}, "stalemate run push --seed=3"},
		"words are quoted":         {[]string{"stalemate", "run", "a b", "it's", "--seed", "1"}, `stalemate run 'a b' 'it'\''s' --seed 1`},
		"no command is no command": {nil, ""},
	} {
		if got := replay(&histories.RunInfo{Command: c.command, Seed: 7}); got != c.want {
			t.Errorf("%s: got %q, expected %q", name, got, c.want)
		}
	}
}

func TestHistoryWithoutTimesIsDrawnByPosition(t *testing.T) {
	h, err := histories.ReadHistory(strings.NewReader(`{:process 0 :type :invoke :f :write :value 1}
{:process 0 :type :ok :f :write :value 1}
{:process 1 :type :invoke :f :read :value nil}
{:process 1 :type :ok :f :read :value 1}`), histories.ReadOptions{Format: histories.EDN})
	if err != nil {
		t.Fatal(err)
	}
	page := render(t, testInput(t, "edn", h), MaxDrawn)
	header, _ := carried(t, page)
	if header["timed"] != false || !strings.Contains(page, "no times") {
		t.Error("the page does not say that the history has no times")
	}
}
