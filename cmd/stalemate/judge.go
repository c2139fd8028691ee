package main

import (
	"encoding/json"

	"github.com/spf13/cobra"
	"time"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
)

// judge checks a run's history and prints the verdict.
func judge(c *cobra.Command, run *histories.Run, timeout time.Duration, asJSON bool, report *progress) error {
	h, err := run.History()
	if err != nil {
		return &exitError{exitFailed, err}
	}
	o := checker.Options{Model: run.Info.Model, Timeout: timeout, Promises: map[string]checker.Level{}}
	for path, level := range run.Info.Promises {
		o.Promises[path] = checker.Level(level)
	}
	v, err := checker.Check(h, o)
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
