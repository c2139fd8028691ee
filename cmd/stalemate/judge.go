package main

import (
	"encoding/json"
	"time"

	"github.com/spf13/cobra"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
)

// judge checks a run's history and prints the verdict.
func judge(c *cobra.Command, run *histories.Run, timeout time.Duration, asJSON bool) error {
	v, err := verdictOf(run, timeout)
	if err != nil {
		return &exitError{exitFailed, err}
	}
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	c.Println(string(text))
	return nil
}

// verdictOf checks a run's history and writes the verdict into its folder.
func verdictOf(run *histories.Run, timeout time.Duration) (*checker.Verdict, error) {
	h, err := run.History()
	if err != nil {
		return nil, err
	}
	o := checker.Options{Model: run.Info.Model, Timeout: timeout, Promises: map[string]checker.Level{}}
	for path, level := range run.Info.Promises {
		o.Promises[path] = checker.Level(level)
	}
	return checker.Check(h, o)
}
