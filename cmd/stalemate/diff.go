package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/internal/diff"
	"github.com/stalemate-io/stalemate/reports"
)

func newDiff() *cobra.Command {
	var tolerance float64
	var floor time.Duration
	var asJSON, all bool
	c := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Tell what got worse from one run to another",
		Long: `Compares two verdicts, each the folder of a run or a verdict.json: which levels
held, how stale reads were, which kinds of anomalies there were, for each read
path. Staleness is worse where it grew by more than the tolerance and the floor;
levels and kinds of anomalies know no tolerance.

Exit codes: 0 nothing got worse, 1 something did, 2 nothing that could be
compared did but something could not (undecided, not measured, not read), 254
bad usage or bad input.`,
		Example: `  stalemate diff main/verdict.json store/latest
  stalemate diff store/zookeeper/20261202T081500.000Z store/latest --tolerance 50 --json`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			if tolerance < 0 || floor < 0 {
				return &exitError{exitUsage, errors.New("expected --tolerance and --floor not to be negative")}
			}
			var verdicts [2]*checker.Verdict
			for i, name := range args {
				v, err := verdictNamed(c, name)
				if err != nil {
					return err
				}
				verdicts[i] = v
			}
			d := diff.Between(verdicts[0], verdicts[1], diff.Tolerance{Share: tolerance / 100, Floor: floor})
			if err := printDiff(c, d, asJSON, all); err != nil {
				return &exitError{exitFailed, err}
			}
			switch d.Trend {
			case diff.Worse:
				return &exitError{code: exitViolated}
			case diff.Open:
				return &exitError{code: exitUndecided}
			}
			return nil
		},
	}
	f := c.Flags()
	f.Float64Var(&tolerance, "tolerance", 25, "by how many percent staleness may grow")
	f.DurationVar(&floor, "floor", 5*time.Millisecond, "and by how much more, so that small numbers may differ")
	f.BoolVar(&all, "all", false, "show what is the same too")
	f.BoolVar(&asJSON, "json", false, "print all that was compared as JSON")
	return c
}

// verdictNamed reads the verdict of a run's folder or of a file.
func verdictNamed(c *cobra.Command, name string) (*checker.Verdict, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		run, err := histories.OpenRun(name)
		if err != nil {
			return nil, &exitError{exitUsage, err}
		}
		return storedVerdict(c.Context(), run)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	return parseVerdict(name, text)
}

// trendWords says what a trend is.
var trendWords = map[diff.Trend]string{
	diff.Worse:  "worse",
	diff.Open:   "nothing is known to be worse, yet not all could be compared",
	diff.Better: "better",
	diff.Same:   "the same",
}

func printDiff(c *cobra.Command, d *diff.Diff, asJSON, all bool) error {
	out := c.OutOrStdout()
	if asJSON {
		return printJSON(out, d)
	}
	t := reports.NewTable("path", "what", "old", "new", "")
	for _, change := range d.Changes {
		if all || change.Trend != diff.Same {
			path := change.Path
			if path == "" {
				path = "all"
			}
			t.Row(path, change.What, change.Old, change.New, string(change.Trend))
		}
	}
	if _, err := fmt.Fprintf(out, "%s\n", trendWords[d.Trend]); err != nil {
		return err
	}
	if t.Len() == 0 {
		return nil
	}
	_, err := fmt.Fprintf(out, "\n%s", t)
	return err
}
