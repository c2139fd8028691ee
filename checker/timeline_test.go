package checker

import (
	"strings"
	"testing"

	"github.com/stalemate-io/stalemate/histories"
)

// laggingHistory has one read that is stale by 7 ms and one version through n2,
// and a read through n1 that goes back.
const laggingHistory = `{"index":0,"time":0,"process":0,"type":"invoke","f":"write","key":"k","value":"<a>"}
{"index":1,"time":1000000,"process":0,"type":"ok","f":"write","key":"k","value":"<a>","version":1}
{"index":2,"time":2000000,"process":0,"type":"invoke","f":"write","key":"k","value":"b"}
{"index":3,"time":3000000,"process":0,"type":"ok","f":"write","key":"k","value":"b","version":2}
{"index":4,"time":4000000,"process":"nemesis","type":"info","f":"start-pause-node","value":["n2"]}
{"index":5,"time":10000000,"process":1,"type":"invoke","f":"read","key":"k","value":null,"node":"n2"}
{"index":6,"time":11000000,"process":1,"type":"ok","f":"read","key":"k","value":"<a>","version":1,"node":"n2"}
{"index":7,"time":12000000,"process":"nemesis","type":"info","f":"stop-pause-node","value":["n2"]}
{"index":8,"time":13000000,"process":2,"type":"invoke","f":"read","key":"k","value":null,"node":"n1"}
{"index":9,"time":14000000,"process":2,"type":"ok","f":"read","key":"k","value":"b","version":2,"node":"n1"}
{"index":10,"time":15000000,"process":2,"type":"invoke","f":"read","key":"k","value":null,"node":"n1"}
{"index":11,"time":16000000,"process":2,"type":"ok","f":"read","key":"k","value":"<a>","version":1,"node":"n1"}
`

func readLagging(t *testing.T) *histories.History {
	t.Helper()
	h, err := histories.ReadHistory(strings.NewReader(laggingHistory), histories.ReadOptions{Format: histories.JSONL})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestTimelineAgreesWithTheVerdict(t *testing.T) {
	h := readLagging(t)
	v, err := Check(h, Options{})
	if err != nil {
		t.Fatal(err)
	}
	line, err := NewTimeline(h, Options{})
	if err != nil {
		t.Fatal(err)
	}
	stale := 0
	for i := range line.Seen {
		if line.Seen[i].Missed != NoPlace {
			stale++
		}
	}
	if stale != v.StaleReads || stale != 2 {
		t.Errorf("the timeline has %d stale reads, the verdict %d; expected 2", stale, v.StaleReads)
	}
	if got := line.Seen[2]; got.Place != 1 || got.Missed != 1 || got.Lag != 7_000_000 || got.Behind != 1 {
		t.Errorf("the read through n2: %+v; expected state 1, 7 ms and one version behind the write 1", got)
	}
	if got := line.Broken[4]; got != kindRegress || len(line.Broken) != 1 {
		t.Errorf("broken: %v; expected the last read alone, as a regress", line.Broken)
	}
	if got := len(line.Orders[h.Operations[0].Key].States); got != 3 {
		t.Errorf("%d states, expected the initial one and two written ones", got)
	}
	if len(line.Faults) != 1 || line.Faults[0].From != 4_000_000 || line.Faults[0].To != 12_000_000 {
		t.Errorf("faults: %+v", line.Faults)
	}
}

func TestVisualizeShowsValuesAsText(t *testing.T) {
	h := readLagging(t)
	page, err := Visualize(h, Options{}, []int32{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	data := string(page[strings.LastIndex(string(page), "const data ="):])
	for _, want := range []string{"write of ‹a› to k", "write of b to k", "read of k that returned ‹a›"} {
		if !strings.Contains(data, want) {
			t.Errorf("the drawing does not show %q", want)
		}
	}
	if strings.Contains(data, `\u003c`) {
		t.Error("the drawing holds what its page would take for markup")
	}
}

func TestVisualizeRefusesWhatIsTooMuchToDraw(t *testing.T) {
	h := &histories.History{Keys: []histories.Value{histories.Nil}, Nodes: []string{""}, Paths: []string{""}, Functions: []string{"read", "write"}}
	var all []int32
	for i := range int32(maxVisualized + 1) {
		h.Operations = append(h.Operations, histories.Operation{F: histories.Write, Invoked: 2 * i, Completed: 2*i + 1, Outcome: histories.Happened, Argument: h.Data.Pack(histories.Int(int64(i)))})
		all = append(all, i)
	}
	if _, err := Visualize(h, Options{}, all); err != ErrTooLarge {
		t.Errorf("got %v, expected ErrTooLarge", err)
	}
}
