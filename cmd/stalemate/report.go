package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/reports/html"
)

// reportFormat writes one kind of report.
type reportFormat struct {
	file  string // its name in a run's folder
	about string
	write func(*reported) ([]byte, error)
}

// reportFormats are the formats by name.
var reportFormats = map[string]reportFormat{
	"html": {file: "report.html", about: "one self-contained page to look at", write: (*reported).html},
}

// reported is a run with its verdict.
type reported struct {
	run     *histories.Run
	verdict *checker.Verdict
}

func newReport() *cobra.Command {
	var format, out string
	c := &cobra.Command{
		Use:   "report RUN",
		Short: "Write a report of a run: " + strings.Join(slices.Sorted(maps.Keys(reportFormats)), ", "),
		Long: `Writes a report of a run from what its folder holds. The verdict is that of
verdict.json; where there is none yet the history is checked first.

Without -o the report is written into the run's folder; with -o - it is written
to the standard output.`,
		Example: `  stalemate report store/latest --format html
  stalemate report store/latest --format html -o divergence.html`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return report(c, args[0], format, out) },
	}
	c.Flags().StringVar(&format, "format", "html", "form of the report: "+strings.Join(slices.Sorted(maps.Keys(reportFormats)), ", "))
	c.Flags().StringVarP(&out, "output", "o", "", `file to write, "-" for the standard output`)
	return c
}

func report(c *cobra.Command, dir, format, out string) error {
	f, ok := reportFormats[format]
	if !ok {
		return &exitError{exitUsage, fmt.Errorf("--format %s: expected one of %v", format, slices.Sorted(maps.Keys(reportFormats)))}
	}
	run, err := histories.OpenRun(dir)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	v, err := storedVerdict(c.Context(), run)
	if err != nil {
		return err
	}
	text, err := f.write(&reported{run, v})
	if err != nil {
		return &exitError{exitFailed, err}
	}
	switch out {
	case "-":
		_, err = c.OutOrStdout().Write(text)
	case "":
		if err = run.WriteFile(f.file, text); err == nil {
			_, err = fmt.Fprintln(c.OutOrStdout(), filepath.Join(run.Dir, f.file))
		}
	default:
		err = os.WriteFile(out, text, 0o644)
	}
	if err != nil {
		return &exitError{exitFailed, err}
	}
	return nil
}

// storedVerdict reads a run's verdict.json, or makes it where there is none.
func storedVerdict(ctx context.Context, run *histories.Run) (*checker.Verdict, error) {
	text, err := os.ReadFile(run.Path(histories.VerdictFile))
	if errors.Is(err, fs.ErrNotExist) {
		return checkRun(ctx, run, checker.Options{})
	}
	if err != nil {
		return nil, &exitError{exitFailed, err}
	}
	v := &checker.Verdict{}
	if err := json.Unmarshal(text, v); err != nil {
		return nil, &exitError{exitUsage, fmt.Errorf("%s: expected the JSON of a verdict, found %w; `stalemate check %s` makes it anew", run.Path(histories.VerdictFile), err, run.Dir)}
	}
	return v, nil
}

// html makes the page.
func (r *reported) html() ([]byte, error) {
	h, err := r.run.History()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = html.Write(&out, html.Input{
		Name: r.run.Info.Name, History: h, Verdict: r.verdict,
		Options: runOptions(r.run, checker.Options{}), Info: &r.run.Info, Version: version(),
	})
	return out.Bytes(), err
}

// leavePage puts report.html into the folder of a run that has been judged, and
// says where. A page that cannot be written takes nothing from the verdict.
func leavePage(c *cobra.Command, run *histories.Run, v *checker.Verdict, quiet bool) {
	f := reportFormats["html"]
	text, err := f.write(&reported{run, v})
	if err == nil {
		err = run.WriteFile(f.file, text)
	}
	switch {
	case err != nil:
		fmt.Fprintln(c.ErrOrStderr(), "the report could not be written:", err)
	case !quiet:
		fmt.Fprintf(c.OutOrStdout(), "\nreport %s\n", run.Path(f.file))
	}
}
