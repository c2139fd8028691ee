package checker

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/histories"
)

// overlappedHistory is a legal history of one register whose clients are
// nearly always busy: an operation takes 200 to 2,000 ticks and takes effect
// at any instant of them, a pause takes at most 100. Half are reads.
func overlappedHistory(clients, operations, values int, withCAS bool) (*histories.History, []int32) {
	const idle, begun, applied = 0, 1, 2
	type client struct {
		op, state int
		next, end int
	}
	r := rand.New(rand.NewPCG(3, uint64(operations)))
	h := &histories.History{Functions: []string{"read", "write", "cas"}}
	busy := make([]client, clients)
	for i := range busy {
		busy[i].next = r.IntN(2000)
	}
	var state histories.Datum
	position, inFlight := int32(0), 0
	for len(h.Operations) < operations || inFlight > 0 {
		c := &busy[0]
		for i := range busy {
			if busy[i].next < c.next {
				c = &busy[i]
			}
		}
		switch c.state {
		case idle:
			if len(h.Operations) == operations {
				c.next = 1 << 62
				continue
			}
			op := histories.Operation{Invoked: position, Version: histories.UnknownVersion}
			if r.IntN(2) == 0 {
				value := histories.Datum(len(h.Operations) + 1)
				if values > 0 {
					value = histories.Datum(1 + r.IntN(values))
				}
				op.F, op.Argument = histories.Write, value
				if withCAS && r.IntN(2) == 0 {
					op.F, op.Argument, op.Result = histories.CAS, state, value
				}
			}
			c.op, c.state = len(h.Operations), begun
			c.end = c.next + 200 + r.IntN(1800)
			c.next += r.IntN(c.end - c.next)
			h.Operations = append(h.Operations, op)
			position++
			inFlight++
		case begun:
			op := &h.Operations[c.op]
			op.Outcome = histories.Happened
			switch {
			case op.F == histories.Read:
				op.Result = state
			case op.F == histories.Write:
				state = op.Argument
			case op.Argument == state:
				state = op.Result
			default:
				op.Outcome = histories.Failed
			}
			c.state, c.next = applied, c.end
		case applied:
			h.Operations[c.op].Completed = position
			position++
			inFlight--
			c.state, c.next = idle, c.end+r.IntN(100)
		}
	}
	ops := make([]int32, len(h.Operations))
	for i := range ops {
		ops[i] = int32(i)
	}
	return h, ops
}

// benchCase is one line of the table.
type benchCase struct {
	Engine                      string
	Clients, Operations, Values int
	CAS                         bool
}

// benchResult is what one engine made of it, in a process of its own.
type benchResult struct {
	Answer Answer
	Reason string
	Took   time.Duration
	// Peak is a bound on the bytes held beyond the history: all that was
	// allocated, or what was free and what the process took from the system
	// meanwhile, whichever is less.
	Peak uint64
}

// The bounds that porcupine is given on each line.
const benchTime, benchMemory = 25 * time.Second, 6 << 30

// TestBenchTable prints each engine beside porcupine on the same history, each
// in a process of its own, and their ratios. It runs where STALEMATE_BENCH is
// set; where porcupine ends at its bounds it says so instead of a ratio.
func TestBenchTable(t *testing.T) {
	switch bench := os.Getenv("STALEMATE_BENCH"); bench {
	case "":
		t.Skip("set STALEMATE_BENCH=1 to time the engines beside porcupine (takes about two minutes)")
	case "1":
	default:
		benchChild(t, bench)
		return
	}
	cases := []benchCase{
		{engineFast, 5, 10_000, 0, false},
		{engineFast, 5, 100_000, 0, false},
		{engineFast, 20, 1_000, 0, false},
		{engineFast, 20, 1_000_000, 0, false},
		{engineWindowed, 5, 10_000, 5, true},
		{engineWindowed, 5, 100_000, 5, true},
		{engineWindowed, 16, 1_000, 0, true},
	}
	fmt.Printf("%-9s %8s %10s %7s %10s %9s %24s %9s %9s\n",
		"engine", "clients", "operations", "values", "time", "MB", "porcupine", "x faster", "x leaner")
	for _, c := range cases {
		ours := benchRun(t, c)
		if ours.Answer != Holds {
			t.Errorf("%+v: %v %s", c, ours.Answer, ours.Reason)
		}
		reference := c
		reference.Engine = enginePorcupine
		theirs := benchRun(t, reference)
		faster, leaner := "-", "-"
		porcupine := fmt.Sprintf("%v, %.0f MB", theirs.Took.Round(time.Millisecond), float64(theirs.Peak)/1e6)
		if theirs.Answer == Undecided {
			porcupine = fmt.Sprintf("not done, %v", theirs.Took.Round(time.Second))
		} else {
			faster = fmt.Sprintf("%.0f", float64(theirs.Took)/float64(ours.Took))
			leaner = fmt.Sprintf("%.0f", float64(theirs.Peak)/float64(ours.Peak))
		}
		fmt.Printf("%-9s %8d %10d %7d %10s %9.1f %24s %9s %9s\n", c.Engine, c.Clients, c.Operations, c.Values,
			ours.Took.Round(time.Microsecond), float64(ours.Peak)/1e6, porcupine, faster, leaner)
	}
}

// benchRun runs one engine in a process of its own.
func benchRun(t *testing.T, c benchCase) (r benchResult) {
	t.Helper()
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(os.Args[0], "-test.run", "^TestBenchTable$")
	child.Env = append(os.Environ(), "STALEMATE_BENCH="+string(text))
	child.Stderr = os.Stderr
	out, err := child.Output()
	if err != nil {
		t.Fatalf("%+v: %v\n%s", c, err, out)
	}
	if err := json.NewDecoder(bytes.NewReader(out)).Decode(&r); err != nil {
		t.Fatalf("%+v: %v\n%s", c, err, out)
	}
	return r
}

// benchChild runs the engine and prints the result as JSON.
func benchChild(t *testing.T, text string) {
	var c benchCase
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	h, ops := overlappedHistory(c.Clients, c.Operations, c.Values, c.CAS)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	r := linearizable(context.Background(), view{history: h, keys: [][]int32{ops}},
		spec{model: modelCASRegister, nilReads: nilAbsent},
		linearOptions{Engine: c.Engine, Timeout: benchTime, Memory: benchMemory, Workers: 1})
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	free := before.HeapSys - before.HeapAlloc
	peak := min(after.TotalAlloc-before.TotalAlloc, after.Sys-before.Sys+free)
	if err := json.NewEncoder(os.Stdout).Encode(benchResult{r.Answer, r.Reason, took, max(peak, 1)}); err != nil {
		t.Fatal(err)
	}
}
