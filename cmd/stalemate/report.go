package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/histories/kafkalogs"
	"github.com/stalemate-io/stalemate/reports"
	"github.com/stalemate-io/stalemate/reports/html"
)

// reportFormat writes one kind of report.
type reportFormat struct {
	file  string // its name in a run's folder
	about string
	// several tells that one report can hold several histories, and such as could
	// not be judged.
	several bool
	write   func([]*reported) ([]byte, error)
}

// reportFormats are the formats by name.
var reportFormats = map[string]reportFormat{
	"html":     {file: "report.html", about: "one self-contained page to look at", write: one((*reported).html)},
	"json":     {file: histories.VerdictFile, about: "verdict.json", write: one((*reported).json)},
	"junit":    {file: "junit.xml", about: "test results, as Jenkins and GitLab read them", several: true, write: junit},
	"markdown": {file: "report.md", about: "a job summary for GitHub", several: true, write: markdown},
	"sarif":    {file: "report.sarif", about: "results for code scanning", several: true, write: sarif},
}

// formatNamed finds a format.
func formatNamed(name string) (reportFormat, error) {
	f, ok := reportFormats[name]
	if !ok {
		return f, fmt.Errorf("no format is called %q; expected one of %s", name, formatNames())
	}
	return f, nil
}

func formatNames() string { return strings.Join(slices.Sorted(maps.Keys(reportFormats)), ", ") }

// of writes a report of what was judged.
func (f reportFormat) of(all []*reported) ([]byte, error) {
	if !f.several && len(all) != 1 {
		return nil, fmt.Errorf("this format holds one history, found %d", len(all))
	}
	return f.write(all)
}

// reported is a history with its verdict, and what else reports are made of.
type reported struct {
	reports.Judged
	run     *histories.Run // nil for a history that is no run's
	history func() (*histories.History, error)
	options checker.Options // those that the verdict was made with
}

// one makes a format of one history.
func one(write func(*reported) ([]byte, error)) func([]*reported) ([]byte, error) {
	return func(all []*reported) ([]byte, error) {
		if all[0].Err != nil {
			return nil, all[0].Err
		}
		return write(all[0])
	}
}

func junit(all []*reported) ([]byte, error)    { return text(all, reports.JUnit) }
func markdown(all []*reported) ([]byte, error) { return text(all, reports.Markdown) }

func sarif(all []*reported) ([]byte, error) {
	return text(all, func(w io.Writer, j []reports.Judged) error { return reports.SARIF(w, j, version()) })
}

// text collects what a report writes.
func text(all []*reported, write func(io.Writer, []reports.Judged) error) ([]byte, error) {
	var out bytes.Buffer
	var judged []reports.Judged
	for _, r := range all {
		judged = append(judged, r.Judged)
	}
	err := write(&out, judged)
	return out.Bytes(), err
}

func (r *reported) json() ([]byte, error) { return verdictJSON(r.Verdict) }

func newReport() *cobra.Command {
	var formats []string
	var out string
	var f checkFlags
	c := &cobra.Command{
		Use:   "report RUN|HISTORY",
		Short: "Write reports of a run or a history: " + formatNames(),
		Long: `Writes reports of a run from what its folder holds. The verdict is that of
verdict.json; where there is none yet the history is checked first. A history in
a file, or "-" for the standard input, is checked as "stalemate check" does, with
the same options.

` + formatTable() + `
Without -o each report is written under that name into the run's folder, or for
a history into the working directory; with -o - it is written to the standard
output. The exit code says whether the reports were written, and nothing of what
is in them.`,
		Example: `  stalemate report store/latest
  stalemate report store/latest --format html,junit,markdown
  stalemate report store/latest --format markdown -o - >> "$GITHUB_STEP_SUMMARY"
  stalemate report history.edn --model cas-register -o report.html`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.reportOf(c, args[0], formats, out) },
	}
	f.bind(c.Flags())
	c.Flags().StringVar(&f.format, "history-format", "auto", "format of the history: "+historyFormats)
	c.Flags().StringSliceVar(&formats, "format", []string{"html"}, "forms of the report, several with commas: "+formatNames())
	c.Flags().StringVarP(&out, "output", "o", "", `file to write, "-" for the standard output`)
	c.Flags().Var(&policyValue{}, "policy", `policy to hold the verdict against, "none" for none (default stalemate.yaml where there is one)`)
	return c
}

// formatTable says what each format is for and what its file is called.
func formatTable() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(reportFormats)) {
		fmt.Fprintf(&b, "  %-10s%-14s%s\n", name, reportFormats[name].file, reportFormats[name].about)
	}
	return b.String()
}

// reportOf writes reports of a run or a history.
func (f *checkFlags) reportOf(c *cobra.Command, name string, formats []string, out string) error {
	for _, name := range formats {
		if _, err := formatNamed(name); err != nil {
			return &exitError{exitUsage, fmt.Errorf("--format: %w", err)}
		}
	}
	if out != "" && len(formats) != 1 {
		return &exitError{exitUsage, fmt.Errorf("-o names one file: expected one --format, found %d", len(formats))}
	}
	of := f.reportedHistory
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		of = f.reportedFolder
	}
	r, err := of(c, name)
	if err != nil {
		return err
	}
	for _, name := range formats {
		if err := r.writeTo(c, reportFormats[name], out); err != nil {
			return &exitError{exitFailed, err}
		}
	}
	return nil
}

// reportedFolder is the run in a folder with the verdict there.
func (f *checkFlags) reportedFolder(c *cobra.Command, dir string) (*reported, error) {
	var err error
	f.eachAsked(func(flag *pflag.Flag) {
		err = &exitError{exitUsage, fmt.Errorf("--%s is about a history that is no run's, and %s is a folder with a verdict: expected `stalemate check %s` with that option and --report", flag.Name, dir, shellWord(dir))}
	})
	if err != nil {
		return nil, err
	}
	run, err := histories.OpenRun(dir)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	v, err := storedVerdict(c.Context(), run)
	if err != nil {
		return nil, err
	}
	return reportedRun(c, run, checked{verdict: v})
}

// reportedHistory checks a history that is no run's.
func (f *checkFlags) reportedHistory(c *cobra.Command, name string) (*reported, error) {
	if f.format == "auto" && kafkalogs.Detect(name) {
		return nil, &exitError{exitUsage, fmt.Errorf("%s is a log of Kafka's: expected `stalemate check` of all nodes' logs with --report", name)}
	}
	o, read, err := f.options(false)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	r := f.one(c.Context(), c.InOrStdin(), name, o, read)
	if r.err == nil {
		r.ruling, r.err = rule(c, r.verdict, "")
	}
	if r.err != nil {
		return nil, &exitError{r.code(), errors.New(named(r.name, r.err))}
	}
	return f.reported(r), nil
}

// writeTo writes a report into a file, where it belongs or to the standard output.
func (r *reported) writeTo(c *cobra.Command, f reportFormat, out string) error {
	text, err := f.of([]*reported{r})
	if err != nil {
		return err
	}
	switch out {
	case "-":
		_, err = c.OutOrStdout().Write(text)
	case "":
		file := f.file
		if r.run != nil {
			file = r.run.Path(f.file)
			err = r.run.WriteFile(f.file, text)
		} else {
			err = os.WriteFile(file, text, 0o666)
		}
		if err == nil {
			_, err = fmt.Fprintln(c.OutOrStdout(), file)
		}
	default:
		err = os.WriteFile(out, text, 0o666)
	}
	return err
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
	v, err := parseVerdict(run.Path(histories.VerdictFile), text)
	if err != nil {
		return nil, &exitError{exitUsage, fmt.Errorf("%w; `stalemate check %s` makes it anew", err, run.Dir)}
	}
	return v, nil
}

// parseVerdict reads the text of a verdict.json.
func parseVerdict(name string, text []byte) (*checker.Verdict, error) {
	v := &checker.Verdict{}
	if err := json.Unmarshal(text, v); err != nil {
		return nil, &exitError{exitUsage, fmt.Errorf("%s: expected the JSON of a verdict, found %w", name, err)}
	}
	if v.Format < 1 || v.Format > checker.Format {
		return nil, &exitError{exitUsage, fmt.Errorf("%s: expected a verdict of format 1 to %d, found %d", name, checker.Format, v.Format)}
	}
	return v, nil
}

// html makes the page.
func (r *reported) html() ([]byte, error) {
	h, err := r.history()
	if err != nil {
		return nil, err
	}
	in := html.Input{Name: r.Name, History: h, Verdict: r.Verdict, Options: r.options, Version: version()}
	if r.run != nil {
		in.Name, in.Info = r.run.Info.Name, &r.run.Info
	}
	var out bytes.Buffer
	err = html.Write(&out, in)
	return out.Bytes(), err
}

// leavePage puts report.html into the folder of a run that has been judged, and
// says where. A page that cannot be written takes nothing from the verdict.
func leavePage(c *cobra.Command, r *reported, quiet bool) {
	f := reportFormats["html"]
	text, err := f.of([]*reported{r})
	if err == nil {
		err = r.run.WriteFile(f.file, text)
	}
	switch {
	case err != nil:
		fmt.Fprintln(c.ErrOrStderr(), "the report could not be written:", err)
	case !quiet:
		fmt.Fprintf(c.OutOrStdout(), "\nreport %s\n", r.run.Path(f.file))
	}
}
