package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/reports"
)

// reportable refuses before anything is checked what could not be written after,
// and reads the policy.
func (f *checkFlags) reportable(c *cobra.Command, args []string) error {
	for _, t := range reportsOf(c) {
		if len(args) > 1 && !reportFormats[t.format].several {
			return &exitError{exitUsage, fmt.Errorf("--report %s=%s: a report of this format holds one history, and there are %d", t.format, t.file, len(args))}
		}
	}
	_, err := policyOf(c)
	return err
}

// report writes what --report asks for about all that was checked.
func (f *checkFlags) report(c *cobra.Command, all []checked) error {
	var out []*reported
	for _, r := range all {
		if r.err == nil && r.run != nil {
			told, err := reportedRun(c, r.run, r)
			if err != nil {
				return err
			}
			told.Again = f.again(r.name)
			out = append(out, told)
			continue
		}
		out = append(out, f.reported(r))
	}
	return writeReports(c, out)
}

// reported is a history that is no run's, ready for every report.
func (f *checkFlags) reported(r checked) *reported {
	told := &reported{history: r.history, options: r.options}
	told.Judged = reports.Judged{Name: r.name, Again: f.again(r.name), Verdict: r.verdict, Ruling: r.ruling, Err: r.err}
	if r.name != reports.StandardInput {
		told.Source = r.name
		told.Lines = f.lines(r.name)
	}
	return told
}

// lines tells whether a history is surely such that its line n+1 holds event n.
func (f *checkFlags) lines(name string) bool {
	return f.format == histories.JSONL.String() || f.format == "auto" && strings.HasSuffix(name, ".jsonl")
}

// again is the command that checks the same again with the same options.
func (f *checkFlags) again(names ...string) string {
	words := []string{"stalemate", "check"}
	for _, name := range names {
		if name == reports.StandardInput {
			name = "-"
		}
		words = append(words, shellWord(name))
	}
	if f.format != "auto" {
		words = append(words, "--format="+shellWord(f.format))
	}
	f.eachAsked(func(flag *pflag.Flag) {
		words = append(words, "--"+flag.Name+"="+shellWord(flag.Value.String()))
	})
	return strings.Join(words, " ")
}

// eachAsked visits those flags about the history that were given.
func (f *checkFlags) eachAsked(visit func(*pflag.Flag)) {
	f.asked.VisitAll(func(flag *pflag.Flag) {
		if flag.Changed {
			visit(flag)
		}
	})
}
