package main

import (
	"os"
	"runtime/debug"
)

// collectLess has garbage collected less often while many short runs are simulated,
// each of which leaves much and keeps little: else a third of the time goes there.
// GOGC in the environment wins. The function it returns puts the old rate back.
func collectLess() (restore func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	old := debug.SetGCPercent(400)
	return func() { debug.SetGCPercent(old) }
}
