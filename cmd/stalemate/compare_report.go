package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/stalemate-io/stalemate/internal/toys"
	"github.com/stalemate-io/stalemate/reports"
)

// comparisonFormats are the formats that a comparison of many runs has.
var comparisonFormats = map[string]func(io.Writer, *toys.Result) error{
	"json": func(w io.Writer, r *toys.Result) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r)
	},
	"junit":    func(w io.Writer, r *toys.Result) error { return reports.CompareJUnit(w, comparedRows(r.Rows)) },
	"markdown": func(w io.Writer, r *toys.Result) error { return reports.CompareMarkdown(w, comparedRows(r.Rows)) },
}

// comparing adds to compare that its table can be written as a report.
func comparing(c *cobra.Command) *cobra.Command {
	c.Flags().Var(&reportTargets{}, "report", "report to write, such as junit=junit.xml; one of json, junit, markdown; may be given several times")
	c.PreRunE = func(c *cobra.Command, _ []string) error {
		for _, t := range reportsOf(c) {
			if comparisonFormats[t.format] == nil {
				return fmt.Errorf("--report %s=%s: a comparison is of many runs; expected json, junit or markdown", t.format, t.file)
			}
		}
		return nil
	}
	return c
}

// reportComparison writes what --report asks for.
func reportComparison(c *cobra.Command, r *toys.Result) error {
	for _, t := range reportsOf(c) {
		var out bytes.Buffer
		err := comparisonFormats[t.format](&out, r)
		if err == nil {
			err = os.WriteFile(t.file, out.Bytes(), 0o666)
		}
		if err != nil {
			return fmt.Errorf("%w: %s=%s: %w", errReport, t.format, t.file, err)
		}
	}
	return nil
}
