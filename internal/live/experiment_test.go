package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/nemesis"
	"github.com/stalemate-io/stalemate/systems"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/tcp"
	"github.com/stalemate-io/stalemate/systems/wire"
	"github.com/stalemate-io/stalemate/workloads/leadership"
)

// fakeCluster is a cluster of names. Its clients are real ones, who find nobody.
type fakeCluster struct {
	mu     sync.Mutex
	did    []string
	died   error
	broken error // of Kill
}

func (c *fakeCluster) note(what, name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.did = append(c.did, what+" "+name)
	return nil
}

func (c *fakeCluster) Nodes() []string                             { return []string{"n1", "n2", "n3"} }
func (c *fakeCluster) Leader(context.Context) (string, error)      { return "n2", nil }
func (c *fakeCluster) Start(_ context.Context, name string) error  { return c.note("start", name) }
func (c *fakeCluster) Pause(_ context.Context, name string) error  { return c.note("pause", name) }
func (c *fakeCluster) Resume(_ context.Context, name string) error { return c.note("resume", name) }
func (c *fakeCluster) Links() systems.Links                        { return nil }
func (c *fakeCluster) Close() error                                { return nil }
func (c *fakeCluster) Died() error                                 { return c.died }
func (c *fakeCluster) Kill(_ context.Context, name string) error {
	return errors.Join(c.broken, c.note("kill", name))
}
func (c *fakeCluster) Client(id node.ID, boot node.New, seed uint64) (*tcp.Node, error) {
	return tcp.Start(tcp.Config{Self: id, New: boot, Protocol: wire.Kraft(wire.Cluster{}), Seed: seed})
}

// fakeWork is a workload of clients who each do one operation and then end, unless
// they hang.
type fakeWork struct {
	clients int
	outcome histories.Type
	hang    int           // so many never end their operation
	takes   time.Duration // an operation
	refuse  error
}

type worker struct{ start func() }

func (w worker) Start()                                          { w.start() }
func (worker) Receive(node.ID, node.Message, func(node.Message)) {}

func (o fakeWork) Begin(_ time.Duration, ended func(), record func() leadership.Recording) ([]leadership.Client, error) {
	return o.workers("x", o.hang, ended, record), o.refuse
}

func (o fakeWork) Finish(ended func(), record func() leadership.Recording) []leadership.Client {
	return o.workers("f", 0, ended, record)
}

func (o fakeWork) workers(letter string, hang int, ended func(), record func() leadership.Recording) (all []leadership.Client) {
	for i := range o.clients {
		r := record()
		boot := func(env node.Env) node.Machine {
			return worker{func() {
				r.Invoke(histories.Event{F: "read", Key: histories.String("t-0"), Path: letter})
				if i < hang {
					return
				}
				env.After(o.takes, func() {
					switch o.outcome {
					case histories.OK:
						r.OK(histories.Event{Value: histories.String("1@0")})
					case histories.Fail:
						r.Fail("no")
					default:
						r.Info("nobody knows")
					}
					ended()
				})
			}}
		}
		all = append(all, leadership.Client{ID: node.ID(fmt.Sprint(letter, i+1)), New: boot})
	}
	return all
}

// record does an experiment and gives its history.
func record(ctx context.Context, x *Experiment) (*histories.History, error) {
	var file bytes.Buffer
	_, err := x.Record(ctx, &file)
	if file.Len() == 0 {
		return nil, err
	}
	h, bad := histories.ReadHistory(&file, histories.ReadOptions{Format: histories.JSONL})
	return h, errors.Join(err, bad)
}

func TestExperimentRecordsClientsAndThenTheFinalReads(t *testing.T) {
	before := tcp.Now()
	var began Moment
	x := &Experiment{
		Cluster: &fakeCluster{}, Workload: fakeWork{clients: 3, outcome: histories.OK},
		Load: time.Second, Began: func(m Moment) error { began = m; return nil },
	}
	h, err := record(t.Context(), x)
	must(t, err)
	if began.Mono < before || began.Mono > tcp.Now() || began.Wall.IsZero() {
		t.Errorf("it began at %+v", began)
	}
	if !h.Whole || len(h.Operations) != 6 || x.Counts().OK != 6 {
		t.Errorf("%d operations, counted %+v, whole: %v", len(h.Operations), x.Counts(), h.Whole)
	}
	if len(h.Faults) != 1 || h.Faults[0].F != "final-reads" {
		t.Fatalf("faults: %v", h.Faults)
	}
	for _, op := range h.Operations {
		if final := h.Paths[op.Path] == "f"; final != (op.Call > h.Faults[0].Time) {
			t.Errorf("an operation of %q at %d, final reads from %d", h.Paths[op.Path], op.Call, h.Faults[0].Time)
		}
	}
}

func TestExperimentStrikesAndHeals(t *testing.T) {
	faults, err := nemesis.Parse("kill-leader", nemesis.Settings{})
	must(t, err)
	cluster := &fakeCluster{}
	x := &Experiment{
		Cluster: cluster, Workload: fakeWork{clients: 1, outcome: histories.OK, takes: 300 * time.Millisecond}, Load: time.Second,
		// It would last for much longer than the clients.
		Windows: []nemesis.Window{{Fault: faults[0], Start: 10 * time.Millisecond, End: time.Minute}},
	}
	h, err := record(t.Context(), x)
	must(t, err)
	if got := strings.Join(cluster.did, ", "); got != "kill n2, start n2" {
		t.Errorf("done to the cluster: %s", got)
	}
	var names []string
	for _, f := range h.Faults {
		names = append(names, f.F)
	}
	want := []string{"start-kill-leader", "start-kill-leader", "stop-kill-leader", "stop-kill-leader", "final-reads"}
	if !slices.Equal(names, want) {
		t.Errorf("noted %v, want %v", names, want)
	}
}

func TestExperimentsThatCannotBeJudged(t *testing.T) {
	lost, full := errors.New("n1 has died"), errors.New("no clients today")
	tests := []struct {
		rule    string
		cluster fakeCluster
		work    fakeWork
		began   error
		want    error
		text    string
	}{
		{"a node died by itself", fakeCluster{died: lost}, fakeWork{clients: 1, outcome: histories.OK}, nil, lost, ""},
		{"no operation succeeded", fakeCluster{}, fakeWork{clients: 2, outcome: histories.Fail}, nil, nil, "not one operation succeeded"},
		{"no outcome is known", fakeCluster{}, fakeWork{clients: 2, outcome: histories.Info}, nil, nil, "not one operation succeeded"},
		{"there are no clients", fakeCluster{}, fakeWork{refuse: full}, nil, full, ""},
		{"the beginning cannot be kept", fakeCluster{}, fakeWork{clients: 1, outcome: histories.OK}, full, full, ""},
	}
	for i := range tests {
		test := &tests[i]
		t.Run(test.rule, func(t *testing.T) {
			x := &Experiment{Cluster: &test.cluster, Workload: test.work, Load: time.Second}
			if test.began != nil {
				x.Began = func(Moment) error { return test.began }
			}
			var file bytes.Buffer
			_, err := x.Record(t.Context(), &file)
			if err == nil || test.want != nil && !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("got %v", err)
			}
			if recorded := file.Len() > 0; recorded == (test.began != nil) {
				t.Errorf("recorded: %s", file.String())
			}
		})
	}
}

func TestInterruptedExperimentLeavesOperationsOpenAndIsWhole(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	x := &Experiment{Cluster: &fakeCluster{}, Workload: fakeWork{clients: 3, outcome: histories.OK, hang: 1}, Load: time.Hour}
	go func() {
		for x.Counts().OK < 2 {
			time.Sleep(time.Millisecond)
		}
		interrupt()
	}()
	h, err := record(ctx, x)
	must(t, err)
	open := 0
	for _, op := range h.Operations {
		if op.Outcome == histories.Unknown {
			open++
		}
	}
	if !h.Whole || len(h.Operations) != 3 || open != 1 || len(h.Faults) != 0 {
		t.Errorf("%d operations, %d open, %d faults, whole: %v", len(h.Operations), open, len(h.Faults), h.Whole)
	}
}

// sawOf is a run whose clients saw some lines.
func sawOf(t *testing.T, lines ...string) *histories.Run {
	t.Helper()
	run, err := histories.CreateRun(t.TempDir(), histories.RunInfo{Name: "r"})
	must(t, err)
	must(t, run.WriteFile(ClientsFile, []byte(strings.Join(lines, ""))))
	return run
}

const (
	lineInvoke = `{"index":0,"time":5,"process":0,"type":"invoke","f":"read","key":"t-0","value":null}` + "\n"
	lineOK     = `{"index":1,"time":9,"process":0,"type":"ok","f":"read","key":"t-0","value":"1@0"}` + "\n"
	lineCut    = `{"index":2,"time":11,"process":1,"ty`
	lineEnd    = `{"end":true,"events":2}` + "\n"
)

func TestHistoryIsAsWholeAsWhatClientsSaw(t *testing.T) {
	truth := []leadership.Change{{Partition: protocol.Partition{Topic: "t"}, Leader: 1, Order: 1}}
	for rule, test := range map[string]struct {
		lines []string
		whole bool
	}{
		"it ends":                  {[]string{lineInvoke, lineOK, lineEnd}, true},
		"it was cut after a line":  {[]string{lineInvoke, lineOK}, false},
		"it was cut within a line": {[]string{lineInvoke, lineOK, lineCut}, false},
	} {
		t.Run(rule, func(t *testing.T) {
			run := sawOf(t, test.lines...)
			_, err := CompleteRun(run, truth)
			must(t, err)
			h, err := run.History()
			must(t, err)
			if h.Whole != test.whole || len(h.Operations) != 2 {
				t.Errorf("%d operations, whole: %v", len(h.Operations), h.Whole)
			}
		})
	}
}

func TestHistoryThatCannotBeCompletedIsNotBegun(t *testing.T) {
	run := sawOf(t, "no history")
	if _, err := CompleteRun(run, nil); err == nil {
		t.Error("no error")
	}
	entries, err := os.ReadDir(run.Dir)
	must(t, err)
	if len(entries) != 2 { // run.json and what clients saw
		t.Errorf("left: %v", entries)
	}
}

func TestRunIsFinishedOnceAndByNobodyWhileItGoesOn(t *testing.T) {
	run, err := histories.CreateRun(t.TempDir(), histories.RunInfo{Name: "r"})
	must(t, err)
	if done, err := Finish(t.Context(), run); done || err != nil {
		t.Errorf("without clients: %v, %v", done, err)
	}
	f, err := CreateClients(run)
	must(t, err)
	if _, err := CreateClients(run); err == nil {
		t.Error("what clients saw is written over")
	}
	if _, err := Finish(t.Context(), run); !errors.Is(err, ErrStillRunning) {
		t.Errorf("while it goes on: %v", err)
	}
	must(t, f.Close())
	if _, err := Finish(t.Context(), run); errors.Is(err, ErrStillRunning) || err == nil {
		t.Errorf("after its end: %v", err)
	}
	must(t, run.WriteFile(histories.HistoryFile, nil))
	if done, err := Finish(t.Context(), run); done || err != nil {
		t.Errorf("with a history: %v, %v", done, err)
	}
}
