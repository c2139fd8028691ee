package checker_test

import (
	"fmt"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
)

// Record what clients of your system do and ask what it shows.
func Example() {
	clock := int64(0)
	rec := histories.NewRecorderAt(nil, func() int64 { clock += 1e6; return clock })
	writer, reader := rec.Client(), rec.Client()

	// Two writes, and a read of a replica that is behind.
	writer.Invoke(histories.Event{F: "write", Value: histories.Int(1)}).OK(histories.Event{})
	writer.Invoke(histories.Event{F: "write", Value: histories.Int(2)}).OK(histories.Event{})
	reader.Invoke(histories.Event{F: "read", Node: "replica"}).OK(histories.Event{Value: histories.Int(1)})

	h, err := rec.History()
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := checker.Check(h, checker.Options{Promise: checker.OrderedLag})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(v.Promise, v.Holds)
	fmt.Println(v.Reason)
	fmt.Println(v.WeakestBroken)
	// Output:
	// ordered-lag holds
	// 1 of 1 read stale by at most 1 ms and 1 version, yet every observer walked forward through one order
	// [linearizable]
}
