package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/internal/explore"
	"github.com/stalemate-io/stalemate/reports"
)

// newReplay repeats what explore found.
func newReplay() *cobra.Command {
	var history string
	var exact, asJSON bool
	c := &cobra.Command{
		Use:   "replay FILE",
		Short: "Repeat a run that explore has found",
		Long: `replay runs a file of stalemate explore again and holds what it shows against the
file's expect lines, each a failure with its cause, and against the digest of the
history. The run is repeated to the byte as long as the code of the system is the
same; where that has changed, the failures still count, and the digest does with
--exact.

Exit codes: 0 the run shows what the file says, 1 it does not, 254 bad file.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			text, err := os.ReadFile(args[0])
			if err != nil {
				return err
			}
			found, err := explore.ParseCase(args[0], string(text))
			if err != nil {
				return err
			}
			o, d, err := found.Replay(c.Context())
			if err != nil {
				return err // of a plan that cannot be run
			}
			if history != "" {
				if err := writeHistory(history, o.Events); err != nil {
					return &exitError{exitFailed, err}
				}
			}
			if err := printReplay(c, args[0], o, d, asJSON); err != nil {
				return &exitError{exitFailed, err}
			}
			if len(d.Missing) > 0 || len(d.Unexpected) > 0 || exact && d.Digest != "" {
				return &exitError{code: exitViolated}
			}
			return nil
		},
	}
	c.Flags().StringVar(&history, "history", "", "file to write the history to, as JSONL")
	c.Flags().BoolVar(&exact, "exact", false, "fail where the history is not the same to the byte")
	c.Flags().BoolVar(&asJSON, "json", false, "print the verdict as JSON")
	return c
}

// printReplay writes the verdict, and what is as the file says or is not.
func printReplay(c *cobra.Command, name string, o *explore.Outcome, d *explore.Difference, asJSON bool) error {
	w := c.OutOrStdout()
	if asJSON {
		w = c.ErrOrStderr()
		if err := printJSON(c.OutOrStdout(), o.Verdict); err != nil {
			return err
		}
	} else if o.Verdict != nil {
		if err := reports.Text(w, name, o.Verdict, textStyle(w)); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	for _, f := range o.Failures {
		fmt.Fprintln(w, "shows", f)
	}
	for _, f := range d.Missing {
		fmt.Fprintln(w, "expected, and not shown:", f)
	}
	for _, f := range d.Unexpected {
		fmt.Fprintln(w, "not expected:", f)
	}
	same := "the history is the same to the byte"
	if d.Digest != "" {
		same = "the history is another than the file's: its SHA-256 is " + d.Digest
	}
	_, err := fmt.Fprintln(w, same)
	return err
}

// writeHistory writes events to a file as JSONL.
func writeHistory(path string, events []histories.Event) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if e := file.Close(); err == nil {
			err = e
		}
	}()
	return writeEvents(file, events)
}

// writeEvents writes a whole history as JSONL.
func writeEvents(to io.Writer, events []histories.Event) error {
	w, err := histories.NewWriter(to, histories.JSONL)
	if err != nil {
		return err
	}
	for i := range events {
		if err := w.Write(&events[i]); err != nil {
			return err
		}
	}
	return w.Close()
}
