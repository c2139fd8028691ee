package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/reports"
)

// reportTarget is a report to write.
type reportTarget struct{ format, file string }

// reportTargets is the flag --report, which may be given several times.
type reportTargets []reportTarget

func (r *reportTargets) Type() string { return "format=file" }

func (r *reportTargets) String() string {
	var all []string
	for _, t := range *r {
		all = append(all, t.format+"="+t.file)
	}
	return strings.Join(all, ",")
}

// Set adds a report.
func (r *reportTargets) Set(s string) error {
	format, file, ok := strings.Cut(s, "=")
	if !ok || file == "" || file == "-" {
		return fmt.Errorf("expected a format and a file, such as junit=junit.xml, found %q", s)
	}
	if _, err := formatNamed(format); err != nil {
		return err
	}
	*r = append(*r, reportTarget{format, file})
	return nil
}

// reportsOf gives the reports that a command is to write.
func reportsOf(c *cobra.Command) reportTargets {
	if f := c.Flags().Lookup("report"); f != nil {
		return *f.Value.(*reportTargets)
	}
	return nil
}

// judging adds the flags of commands that judge: what policy to hold verdicts
// against, and which reports to write.
func judging(c *cobra.Command) *cobra.Command {
	f := c.PersistentFlags()
	f.Var(&policyValue{}, "policy", `policy to hold verdicts against, "none" for none (default stalemate.yaml where there is one)`)
	f.Var(&reportTargets{}, "report", "report to write, such as junit=junit.xml; one of "+formatNames()+"; may be given several times")
	return c
}

// errReport is a report that could not be written after all was judged.
var errReport = errors.New("a report could not be written")

// writeReports writes what --report asks for.
func writeReports(c *cobra.Command, all []*reported) error {
	for _, t := range reportsOf(c) {
		f, err := formatNamed(t.format)
		if err != nil {
			return err
		}
		text, err := f.of(all)
		if err := t.save(text, err); err != nil {
			return err
		}
	}
	return nil
}

// save writes a report that was made, or tells that it could not be.
func (t reportTarget) save(text []byte, err error) error {
	if err == nil {
		err = os.WriteFile(t.file, text, 0o666)
	}
	if err != nil {
		return fmt.Errorf("%w: %s=%s: %w", errReport, t.format, t.file, err)
	}
	return nil
}

// reportFailure writes the reports of a run that failed and has no verdict, in
// those formats that can say so, so that a pipeline that reads them does not
// take a run that is missing for one that passed.
func reportFailure(c *cobra.Command, err error) error {
	if !withoutVerdict(err) {
		return nil
	}
	return failedReports(c, c.CommandPath(), err)
}

// failedReports writes why there is no verdict on something.
func failedReports(c *cobra.Command, name string, why error) error {
	var failed error
	for _, t := range reportsOf(c) {
		if f := reportFormats[t.format]; f.several {
			text, err := f.of([]*reported{{Judged: reports.Judged{Name: name, Err: why}}})
			failed = errors.Join(failed, t.save(text, err))
		}
	}
	return failed
}

// reportedRun is a run with its verdict, ready for every report.
func reportedRun(c *cobra.Command, run *histories.Run, r checked) (*reported, error) {
	ruling, err := rule(c, r.verdict, run.Info.System)
	if err != nil {
		return nil, err
	}
	return &reported{
		Judged: reports.Judged{
			Name: run.Dir, Title: run.Info.Name, System: run.Info.System, Source: run.Path(histories.HistoryFile), Lines: true,
			Again: "stalemate check " + shellWord(run.Dir), Verdict: r.verdict, Ruling: ruling,
		},
		run: run, history: run.History, options: runOptions(run, r.options),
	}, nil
}

// shellWord writes a word so that a shell takes it for one.
func shellWord(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
