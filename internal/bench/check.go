package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/stalemate-io/stalemate/histories"
)

// checkEndToEnd writes a history of registers to a file, has the command check
// it as a user would, and prints how long that took, reading included.
func checkEndToEnd(operations, keys, clients int) error {
	dir, err := os.MkdirTemp("", "stalemate-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "stalemate")
	if out, err := exec.Command("go", "build", "-o", binary, "./cmd/stalemate").CombinedOutput(); err != nil {
		return fmt.Errorf("building the command: %w\n%s", err, out)
	}
	file := filepath.Join(dir, "history.jsonl")
	if err := writeRegisters(file, operations, keys, clients); err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	check := exec.Command(binary, "check", file, "--require", "linearizable")
	start := time.Now()
	out, err := check.CombinedOutput()
	if err != nil {
		return fmt.Errorf("stalemate check: %w\n%s", err, out)
	}
	took := time.Since(start)
	fmt.Printf("stalemate check: %d operations, %d keys, %d MB of JSONL, from file to verdict: %v (%.0f operations/s)\n",
		operations, keys, info.Size()>>20, took.Round(time.Millisecond), float64(operations)/took.Seconds())
	return nil
}

// writeRegisters records clients of linearizable registers, half of whose
// operations are reads and all of whose writes differ.
func writeRegisters(file string, operations, keys, clients int) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	buffered := bufio.NewWriterSize(f, 1<<20)
	now := int64(0)
	recorder := histories.NewRecorderAt(buffered, func() int64 { now += 1000; return now })
	r := rand.New(rand.NewPCG(1, 1))
	state := make([]int64, keys)
	type busy struct {
		client  *histories.Client
		pending *histories.Pending
		key     int
		write   int64
	}
	all := make([]busy, clients)
	for i := range all {
		all[i].client = recorder.Client()
	}
	for begun, open := 0, 0; begun < operations || open > 0; {
		c := &all[r.IntN(clients)]
		switch {
		case c.pending == nil && begun < operations:
			begun++
			open++
			c.key, c.write = r.IntN(keys), 0
			e := histories.Event{F: "read", Key: histories.Int(int64(c.key))}
			if r.IntN(2) == 0 {
				c.write = int64(begun)
				e.F, e.Value = "write", histories.Int(c.write)
			}
			c.pending = c.client.Invoke(e)
		case c.pending != nil:
			var e histories.Event
			if c.write != 0 {
				state[c.key] = c.write
			} else if state[c.key] != 0 {
				e.Value = histories.Int(state[c.key])
			}
			c.pending.OK(e)
			c.pending = nil
			open--
		}
	}
	if err := recorder.Close(); err != nil {
		return err
	}
	return buffered.Flush()
}
