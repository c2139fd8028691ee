package histories_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/stalemate-io/stalemate/histories"
)

// invoked is what a Builder has to remember of an operation, said in the
// simplest way.
type invoked struct {
	value              int64
	invoke, completion int // positions; completion -1 for none
	outcome            histories.Outcome
	process            int // as the events name it
}

// Whatever well-formed events come, each invoke is one operation, in its place,
// with the outcome that its own completion gave it; whoever goes on after an
// unknown outcome is somebody else.
func TestPropertyEveryInvokeIsOneOperation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b histories.Builder
		b.Expect(rapid.IntRange(0, 40).Draw(t, "expected"))
		var want []invoked
		open := map[int]int{} // by process: the operation in hand
		value := int64(0)
		for position := range rapid.IntRange(1, 200).Draw(t, "events") {
			process := rapid.SampledFrom([]int{0, 1, 2, 7, 1 << 14, 1 << 20}).Draw(t, "process")
			e := histories.Event{Process: histories.Process{Client: process}, F: "write", Time: int64(position)}
			if at, ok := open[process]; ok {
				o := &want[at]
				e.Type = rapid.SampledFrom([]histories.Type{histories.OK, histories.Fail, histories.Info}).Draw(t, "type")
				e.Value = histories.Int(o.value)
				switch e.Type {
				case histories.OK:
					o.outcome, o.completion = histories.Happened, position
				case histories.Fail:
					o.outcome, o.completion = histories.Failed, position
				}
				delete(open, process)
			} else {
				value++
				e.Type, e.Value = histories.Invoke, histories.Int(value)
				open[process] = len(want)
				want = append(want, invoked{value, position, -1, histories.Unknown, process})
			}
			if err := b.Add(&e); err != nil {
				t.Fatalf("event %d: %v", position, err)
			}
		}
		h, err := b.History()
		if err != nil {
			t.Fatal(err)
		}
		if len(h.Operations) != len(want) {
			t.Fatalf("%d operations of %d invokes", len(h.Operations), len(want))
		}
		retired := map[int32]bool{} // clients with an unknown outcome
		named := map[int32]int{}    // by client: the process of its events
		for i, w := range want {
			o := &h.Operations[i]
			if v, _ := h.Data.Unpack(o.Argument).AsInt(); v != w.value || int(o.Invoked) != w.invoke || o.Outcome != w.outcome {
				t.Fatalf("operation %d is %+v (of %d), want %+v", i, *o, v, w)
			}
			if w.completion >= 0 && int(o.Completed) != w.completion || w.completion < 0 && o.Completed != histories.Open {
				t.Fatalf("operation %d completes at %d, want %d", i, o.Completed, w.completion)
			}
			if retired[o.Process] {
				t.Fatalf("operation %d is by client %d, whose outcome before it is unknown", i, o.Process)
			}
			if p, ok := named[o.Process]; ok && p != w.process {
				t.Fatalf("client %d is process %d and process %d", o.Process, p, w.process)
			}
			named[o.Process] = w.process
			retired[o.Process] = w.outcome == histories.Unknown
		}
	})
}
