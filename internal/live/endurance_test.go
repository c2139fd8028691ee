package live

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/internal/toys"
	"github.com/stalemate-io/stalemate/nemesis"
	"github.com/stalemate-io/stalemate/reports"
	"github.com/stalemate-io/stalemate/systems/processes"
	"github.com/stalemate-io/stalemate/systems/zookeeper"
	"github.com/stalemate-io/stalemate/workloads"
)

// In the environment, endurance is how long each system is to be borne with, and
// enduranceStore the folder that the runs are kept in; by default they are not.
const (
	endurance      = "STALEMATE_ENDURANCE"
	enduranceStore = "STALEMATE_ENDURANCE_STORE"
)

// What is asked of the machine: as much as two processors carry.
const (
	enduringClients = 40
	enduringThink   = 20 * time.Millisecond
	faultEach       = 2500 * time.Millisecond
	faultLasts      = time.Second
	faultApart      = 500 * time.Millisecond
)

func TestEndurance(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv(endurance))
	if err != nil {
		t.Skipf("set %s to how long it is to last, such as 10m", endurance)
	}
	for _, system := range processes.Systems() {
		t.Run(system, func(t *testing.T) { endure(t, system, length) })
	}
}

func endure(t *testing.T, system string, length time.Duration) {
	if system == "push" {
		if _, err := zookeeper.Find(t.Context(), "", ""); err != nil {
			t.Skip("no ZooKeeper to run against: ", err)
		}
	}
	store := os.Getenv(enduranceStore)
	if store == "" {
		store = t.TempDir()
	}
	promises := map[string]string{}
	for path, level := range toys.Promises(system) {
		promises[path] = string(level)
	}
	run, err := histories.CreateRun(store, histories.RunInfo{
		Name: "endurance-" + system, System: system, Deployment: "local", Model: "leadership", Promises: promises,
	})
	must(t, err)
	s := processes.Settings{System: system, Controllers: 3, Brokers: 5, Partitions: 12, SessionTimeout: 3 * time.Second}
	cluster, err := Start(t.Context(), Options{Settings: s, Dir: run.Path(NodesDir)})
	must(t, err)
	defer func() { must(t, cluster.Close()) }()
	faults := slices.DeleteFunc(nemesis.All(nemesis.Settings{}), func(f nemesis.Fault) bool { return f.Available(cluster) != nil })
	windows, err := nemesis.Schedule{Total: length, Every: faultEach, For: faultLasts, Healthy: faultApart}.Windows(faults, workloads.Rand(1, "fault times"))
	must(t, err)
	saw, err := CreateClients(run)
	must(t, err)
	defer saw.Close()
	x := &Experiment{
		Cluster: cluster,
		Workload: Leadership{
			Brokers: s.BrokerIDs(), Controllers: s.ControllerIDs(), Partitions: s.Topic(), Paths: s.Paths(),
			Clients: enduringClients, Think: enduringThink,
		},
		Load: length, Settle: 12 * time.Second, Windows: windows, Healthy: faultApart, Seed: 1,
		Began: func(start Moment) error { return Beginning{Start: start, Toy: &s}.Keep(run) },
	}
	stop := sampleHeap()
	start, err := x.Record(t.Context(), saw)
	heap := stop()
	must(t, err)
	flat(t, heap)
	nothingIsLost(t, run, x.Counts())

	must(t, cluster.Stop(t.Context()))
	truth, _, err := cluster.Truth(start)
	must(t, err)
	events, err := CompleteRun(run, truth)
	must(t, err)
	v, err := toys.Judge(t.Context(), system, events)
	must(t, err)
	t.Logf("%d changes committed; verdict on %d reads: %s, promise %s", len(truth), v.Reads, v.Verdict, v.Holds)
	if v.Holds != checker.Holds {
		var told strings.Builder
		must(t, reports.Text(&told, run.Dir, v, reports.TextOptions{Verbose: true}))
		t.Errorf("promise %s:\n%s", v.Holds, told.String())
	}
}

// nothingIsLost reads what clients recorded: each operation has one beginning and at
// most one end, and there are as many ends as clients counted.
func nothingIsLost(t *testing.T, run *histories.Run, counted workloads.Counts) {
	t.Helper()
	f, err := os.Open(run.Path(ClientsFile))
	must(t, err)
	defer f.Close()
	open := map[int]bool{}
	var invoked, struck int
	var ends workloads.Counts
	index := 0
	summary, err := histories.ReadEvents(f, histories.ReadOptions{Format: histories.JSONL}, func(e *histories.Event) error {
		if e.Index != index {
			t.Errorf("event %d stands where %d is expected", e.Index, index)
		}
		index++
		if !e.Process.IsClient() {
			if strings.HasPrefix(e.F, "start-") {
				struck++
			}
			return nil
		}
		client := e.Process.Client
		if begins := e.Type == histories.Invoke; begins == open[client] {
			t.Errorf("event %d: %v of client %d, whose last operation is open: %v", e.Index, e.Type, client, open[client])
		}
		switch e.Type {
		case histories.Invoke:
			invoked++
			open[client] = true
			return nil
		case histories.OK:
			ends.OK++
		case histories.Fail:
			ends.Failed++
		case histories.Info:
			ends.Unknown++
		}
		delete(open, client)
		return nil
	})
	must(t, err)
	t.Logf("%d operations: %d ok, %d failed, %d unknown, %d open; %d faults", invoked, ends.OK, ends.Failed, ends.Unknown, len(open), struck/2)
	if !summary.Whole || summary.Events != index {
		t.Errorf("the history is cut off after %d events: %v", index, summary.Warnings)
	}
	if ends.OK != counted.OK || ends.Failed != counted.Failed || ends.Unknown != counted.Unknown || int64(invoked) != counted.Completed()+int64(len(open)) {
		t.Errorf("clients counted %+v, recorded are %d invoked, %+v, and %d open", counted, invoked, ends, len(open))
	}
	if len(open) > 0 { // all clients have said that they ended
		t.Errorf("open at the end: %v", open)
	}
}

// sampleHeap looks at what the garbage collector leaves, until it is told to stop.
func sampleHeap() (stop func() []float64) {
	quit, done := make(chan struct{}), make(chan []float64)
	go func() {
		var mib []float64
		ticks := time.NewTicker(3 * time.Second)
		defer ticks.Stop()
		for {
			select {
			case <-quit:
				done <- mib
				return
			case <-ticks.C:
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				mib = append(mib, float64(m.HeapAlloc)/(1<<20))
			}
		}
	}()
	return func() []float64 {
		close(quit)
		return <-done
	}
}

// flat says whether the heap has stopped growing after the first third.
func flat(t *testing.T, mib []float64) {
	t.Helper()
	third := len(mib) / 3
	if third < 3 {
		t.Fatalf("%d looks at the heap: too few to tell anything; let it last for longer", len(mib))
	}
	middle, last := median(mib[third:2*third]), median(mib[2*third:])
	t.Logf("heap: %.1f MiB in the middle third, %.1f MiB in the last, %.1f MiB at most", middle, last, slices.Max(mib))
	if last > 1.2*middle+1 {
		t.Errorf("the heap grows: %.1f", mib)
	}
}

func median(xs []float64) float64 {
	xs = slices.Sorted(slices.Values(xs))
	return xs[len(xs)/2]
}
