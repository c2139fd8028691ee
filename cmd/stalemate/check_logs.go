package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"

	"github.com/stalemate-io/stalemate/checker/forensics"
	"github.com/stalemate-io/stalemate/histories/kafkalogs"
	"github.com/stalemate-io/stalemate/reports"
)

// kafkaLogs is the format of files that are logs and dumps of Kafka's and not
// histories.
const kafkaLogs = "kafka-logs"

// logs tells whether the arguments are to be taken for Kafka's logs: because the
// format says so, or because all of them begin as such.
func (f *checkFlags) logs(args []string) bool {
	return f.format == kafkaLogs || f.format == "auto" && !slices.ContainsFunc(args, func(name string) bool { return !kafkalogs.Detect(name) })
}

// checkLogs judges Kafka's logs, all files together.
func (f *checkFlags) checkLogs(c *cobra.Command, args []string) error {
	var facts []kafkalogs.Fact
	var files []kafkalogs.Reading
	for _, name := range args {
		keep := func(fact *kafkalogs.Fact) { facts = append(facts, *fact) }
		var r *kafkalogs.Reading
		var err error
		if name == "-" {
			r, err = kafkalogs.Read(c.InOrStdin(), "standard input", keep)
		} else {
			r, err = kafkalogs.ReadFile(name, keep)
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s: no such file", name)
		}
		if err != nil {
			return &exitError{exitUsage, err}
		}
		files = append(files, *r)
	}
	report, err := forensics.Judge(facts, files)
	if err != nil {
		return &exitError{exitFailed, err}
	}
	if f.json {
		if err := printJSON(c.OutOrStdout(), report); err != nil {
			return &exitError{exitFailed, err}
		}
	} else {
		style := textStyle(c.OutOrStdout())
		style.Verbose = f.verbose
		if err := reports.Forensics(c.OutOrStdout(), report, style); err != nil {
			return &exitError{exitFailed, err}
		}
	}
	switch report.Verdict {
	case forensics.Divergent:
		return &exitError{code: exitViolated}
	case forensics.Undecided:
		return &exitError{code: exitUndecided}
	}
	return nil
}
