package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stalemate-io/stalemate/checker/forensics"
	"github.com/stalemate-io/stalemate/histories/kafkalogs"
	"github.com/stalemate-io/stalemate/reports"
)

// kafkaLogs is the format of files that are logs and dumps of Kafka's and not
// histories.
const kafkaLogs = "kafka-logs"

// logReports are the formats that a judgement of Kafka's logs has.
var logReports = reportWriters[*reports.JudgedLogs]{
	"json":     func(w io.Writer, j *reports.JudgedLogs) error { return printJSON(w, j.Report) },
	"junit":    reports.ForensicsJUnit,
	"markdown": reports.ForensicsMarkdown,
	"sarif":    func(w io.Writer, j *reports.JudgedLogs) error { return reports.ForensicsSARIF(w, j, version()) },
}

// logs tells whether the arguments are to be taken for Kafka's logs: because the
// format says so, or because all of them begin as such.
func (f *checkFlags) logs(args []string) bool {
	return f.format == kafkaLogs || f.format == "auto" && !slices.ContainsFunc(args, func(name string) bool { return !kafkalogs.Detect(name) })
}

// checkLogs judges Kafka's logs, all files together.
func (f *checkFlags) checkLogs(c *cobra.Command, args []string) error {
	if err := f.fitForLogs(c); err != nil {
		return &exitError{exitUsage, err}
	}
	p, err := policyOf(c)
	if err != nil {
		return err
	}
	report, err := judgeLogs(c.InOrStdin(), args)
	if err != nil {
		return errors.Join(err, failedReports(c, "Kafka's logs", err))
	}
	j := &reports.JudgedLogs{Report: report, Ruling: p.JudgeLogs(report, now()), Again: f.again(args...)}
	if err := f.printLogs(c, j); err != nil {
		return &exitError{exitFailed, err}
	}
	return logReports.finish(c, j, answerCode(j.Ruling.Answer))
}

// fitForLogs refuses what is asked for and cannot be given of logs.
func (f *checkFlags) fitForLogs(c *cobra.Command) error {
	if t, refused := logReports.refuse(c); refused {
		return fmt.Errorf("--report %s=%s: there is no such report of Kafka's logs; expected json, junit, markdown or sarif", t.format, t.file)
	}
	var err error
	f.eachAsked(func(flag *pflag.Flag) {
		err = fmt.Errorf("--%s is about histories, and these are logs of Kafka's, which tell of no operations", flag.Name)
	})
	return err
}

// judgeLogs reads and judges files. The error carries the exit code.
func judgeLogs(stdin io.Reader, names []string) (*forensics.Report, error) {
	var facts []kafkalogs.Fact
	var files []kafkalogs.Reading
	for _, name := range names {
		keep := func(fact *kafkalogs.Fact) { facts = append(facts, *fact) }
		var r *kafkalogs.Reading
		var err error
		if name == "-" {
			r, err = kafkalogs.Read(stdin, reports.StandardInput, keep)
		} else {
			r, err = kafkalogs.ReadFile(name, keep)
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s: no such file", name)
		}
		if err != nil {
			return nil, &exitError{exitUsage, err}
		}
		files = append(files, *r)
	}
	report, err := forensics.Judge(facts, files)
	if err != nil {
		return nil, &exitError{exitFailed, err}
	}
	return report, nil
}

func (f *checkFlags) printLogs(c *cobra.Command, j *reports.JudgedLogs) error {
	style := textStyle(c.OutOrStdout())
	style.Verbose = f.verbose
	if f.json {
		if err := printJSON(c.OutOrStdout(), j.Report); err != nil || j.Ruling.Policy == "" {
			return err
		}
		return reports.Policy(c.ErrOrStderr(), j.Ruling, reports.TextOptions{})
	}
	if err := reports.Forensics(c.OutOrStdout(), j.Report, style); err != nil || j.Ruling.Policy == "" {
		return err
	}
	return reports.Policy(c.OutOrStdout(), j.Ruling, style)
}
