package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/stalemate-io/stalemate/internal/toys"
	"github.com/stalemate-io/stalemate/reports"
)

// comparison is what came of many runs; Ruling is nil where no policy was asked.
type comparison struct {
	*toys.Result
	Ruling *reports.CompareRuling `json:"policy,omitempty"`
}

// comparisonFormats are the formats that a comparison of many runs has.
var comparisonFormats = reportWriters[comparison]{
	"json":  func(w io.Writer, r comparison) error { return printJSON(w, r) },
	"junit": func(w io.Writer, r comparison) error { return reports.CompareJUnit(w, comparedRows(r.Rows), r.Ruling) },
	"markdown": func(w io.Writer, r comparison) error {
		return reports.CompareMarkdown(w, comparedRows(r.Rows), r.Ruling)
	},
}

// comparing adds to compare that its runs can be held against a policy and its
// table can be written as a report.
func comparing(c *cobra.Command) *cobra.Command {
	c.Flags().Var(&policyValue{}, "policy", `policy to hold every run against, "none" for none (default stalemate.yaml where there is one)`)
	c.Flags().Var(&reportTargets{}, "report", "report to write, such as junit=junit.xml; one of json, junit, markdown; may be given several times")
	c.PreRunE = func(c *cobra.Command, _ []string) error {
		if t, refused := comparisonFormats.refuse(c); refused {
			return fmt.Errorf("--report %s=%s: a comparison is of many runs; expected json, junit or markdown", t.format, t.file)
		}
		return nil
	}
	return c
}

// finish prints what a policy made of a comparison and writes what --report asks
// for. The error carries the exit code.
func (r comparison) finish(c *cobra.Command, asJSON bool) error {
	if r.Ruling != nil && !asJSON {
		if err := reports.ComparePolicy(c.OutOrStdout(), r.Ruling, textStyle(c.OutOrStdout())); err != nil {
			return &exitError{exitFailed, err}
		}
	}
	code := exitHolds
	if r.Ruling != nil {
		code = answerCode(r.Ruling.Answer)
	}
	return comparisonFormats.finish(c, r, code)
}
