package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/internal/live"
	"github.com/stalemate-io/stalemate/policy"
	"github.com/stalemate-io/stalemate/reports"
)

// checkFlags are what the command line says about the checks.
type checkFlags struct {
	model, initial, format, require, engine string
	log                                     string
	keyed, json, verbose                    bool
	maxStaleness, timeout                   time.Duration
	memory                                  int
	// asked are the flags about the history and what is asked of it.
	asked *pflag.FlagSet
}

func newCheck() *cobra.Command {
	var f checkFlags
	c := &cobra.Command{
		Use:   "check HISTORY|RUN...",
		Short: "Say what recorded histories show: linearizable, ordered lag or divergent",
		Long: `Checks histories in any format (JSONL, JSON, Jepsen's history.edn, history.txt
and logs; plain, gzip or Zstandard; "-" is the standard input) and folders of
runs, which say themselves what they were made with and promise; a run's
verdict.json is written anew.

Logs and dumps of Apache Kafka's brokers and controllers (state-change.log,
controller.log, server.log, kafka-dump-log --cluster-metadata-decoder,
kafka-topics --describe, partition states from ZooKeeper) are judged together,
one file a node or more: who disagreed about which partition and epoch, and what
was never received. See docs/forensics.md.

Several histories take one line each; details of those that did not hold follow.

Exit codes, a former winning over a latter: 1 a history did not hold what was
asked, 254 bad usage or bad input, 2 undecided, 3 nothing could be checked, 0
everything held.`,
		Example: `  stalemate check store/latest
  stalemate check history.edn --model cas-register --initial 0
  stalemate check history.jsonl --require ordered-lag --max-staleness 500ms
  stalemate check store/*/latest --json
  stalemate check broker-*/state-change.log controller.log`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.check(c, args) },
	}
	flags := c.Flags()
	f.bind(flags)
	flags.StringVar(&f.format, "format", "auto", "format of the histories: "+historyFormats+" or kafka-logs")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "show every anomaly that the verdict holds")
	flags.BoolVar(&f.json, "json", false, "print verdict.json instead of text")
	return c
}

// historyFormats are those that histories may have.
const historyFormats = "auto, jsonl, json, edn, text"

// bind adds the flags that say what a history is of and what is asked of it.
func (f *checkFlags) bind(command *pflag.FlagSet) {
	flags := pflag.NewFlagSet("history", pflag.ContinueOnError)
	flags.StringVar(&f.model, "model", "", "what the system stores: "+fmt.Sprint(checker.Models())+"; told from the history by default")
	flags.StringVar(&f.initial, "initial", "nil", "value of every key before the first operation, as EDN")
	flags.StringVar(&f.log, "log", "", "what the system itself wrote down, as JSONL; a run's folder has its own")
	flags.BoolVar(&f.keyed, "keyed", false, "take each value for [key value]")
	flags.StringVar(&f.require, "require", "", "level that must hold: "+fmt.Sprint(checker.Levels())+"; linearizable by default, what a run promises for a run")
	flags.DurationVar(&f.maxStaleness, "max-staleness", 0, "how stale a read may be at most (500ms)")
	flags.StringVar(&f.engine, "engine", "auto", "engine for linearizability: auto, fast, windowed or porcupine")
	flags.DurationVar(&f.timeout, "timeout", 0, "time for the search in one history and read path (default 5m)")
	flags.IntVar(&f.memory, "memory", 0, "memory for the search, in MB (default 2048)")
	f.asked = flags
	command.AddFlagSet(flags)
}

// checked is what came of one argument.
type checked struct {
	name    string
	verdict *checker.Verdict
	err     error
	// What reports need besides: the run or the history, as it was read, and the
	// options of the verdict.
	run     *histories.Run
	history func() (*histories.History, error)
	options checker.Options
	ruling  *policy.Ruling
}

func (f *checkFlags) check(c *cobra.Command, args []string) error {
	if f.logs(args) {
		return f.checkLogs(c, args)
	}
	o, read, err := f.options(len(args) > 1)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	if err := f.reportable(c, args); err != nil {
		return err
	}
	// Histories are large, live to the end and hold few pointers: collecting
	// garbage at twice their size would only cost memory.
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	style := textStyle(c.OutOrStdout())
	style.Verbose = f.verbose
	code := exitHolds
	all := make([]checked, 0, len(args))
	for _, name := range args {
		if err := c.Context().Err(); err != nil {
			return &exitError{worse(code, exitUndecided), fmt.Errorf("interrupted before %s was checked", name)}
		}
		r := f.one(c.Context(), c.InOrStdin(), name, o, read)
		if len(args) > 1 {
			r.history = nil // a report of several has no use for it
		}
		if r.err == nil {
			if r.ruling, r.err = rule(c, r.verdict, r.system()); r.err != nil {
				return r.err
			}
		}
		code = worse(code, r.code())
		if err := f.print(c, r, len(args) > 1, style); err != nil {
			return &exitError{exitFailed, err}
		}
		all = append(all, r)
	}
	if err := f.details(c, all, style); err != nil {
		return &exitError{exitFailed, err}
	}
	if err := f.report(c, all); err != nil {
		return &exitError{worse(code, exitFailed), err}
	}
	if code != exitHolds {
		return &exitError{code: code}
	}
	return nil
}

// options makes the checker's options of the flags.
func (f *checkFlags) options(several bool) (checker.Options, histories.ReadOptions, error) {
	o := checker.Options{
		Model: f.model, MaxStaleness: f.maxStaleness,
		Engine: f.engine, Timeout: f.timeout, MemoryMB: f.memory,
	}
	var read histories.ReadOptions
	initial, err := histories.ParseEDN(f.initial)
	if err != nil {
		return o, read, fmt.Errorf("--initial: %w", err)
	}
	o.Default = initial
	if f.require != "" {
		if o.Promise, err = checker.ParseLevel(f.require); err != nil {
			return o, read, fmt.Errorf("--require: %w", err)
		}
	}
	if f.maxStaleness < 0 || f.timeout < 0 || f.memory < 0 {
		return o, read, errors.New("expected --max-staleness, --timeout and --memory not to be negative")
	}
	if f.log != "" && several {
		return o, read, errors.New("--log belongs to one history: expected one")
	}
	read.Keyed = f.keyed
	if read.Format, err = histories.ParseFormat(f.format); err != nil {
		return o, read, fmt.Errorf("--format: %w", err)
	}
	return o, read, nil
}

// one checks a history or a run.
func (f *checkFlags) one(ctx context.Context, stdin io.Reader, name string, o checker.Options, read histories.ReadOptions) checked {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		run, err := histories.OpenRun(name)
		if err != nil {
			return checked{name: name, err: err}
		}
		if f.log != "" {
			return checked{name: name, err: errors.New("expected no --log, since the run's folder has its own if there is one")}
		}
		v, err := checkRun(ctx, run, o)
		return checked{name: name, verdict: v, err: err, run: run, options: o}
	}
	var log *histories.Log
	if f.log != "" {
		var err error
		if log, err = histories.ReadLogFile(f.log); err != nil {
			return checked{name: f.log, err: err}
		}
	}
	var h *histories.History
	var err error
	if name == "-" {
		name, read.Name = reports.StandardInput, reports.StandardInput
		h, err = histories.ReadHistory(stdin, read)
	} else {
		h, err = histories.ReadFile(name, read)
	}
	if err != nil {
		return checked{name: name, err: err}
	}
	v, err := judgeHistory(ctx, h, log, o)
	return checked{name: name, verdict: v, err: err, options: o, history: func() (*histories.History, error) { return h, nil }}
}

// judgeHistory checks a history, with the system's own log where there is one.
func judgeHistory(ctx context.Context, h *histories.History, log *histories.Log, o checker.Options) (*checker.Verdict, error) {
	if log == nil {
		return checker.CheckContext(ctx, h, o)
	}
	return checker.CheckWithLog(ctx, h, log, o)
}

// checkRun checks a run by what its folder says and writes the verdict there.
// What the options say takes precedence; a promise that they name holds for
// every read path, and such a verdict is not the run's own and is not written,
// nor is one that was interrupted.
//
// The history of a run that was killed is completed first.
func checkRun(ctx context.Context, run *histories.Run, o checker.Options) (*checker.Verdict, error) {
	finished, err := live.Finish(ctx, run)
	if err != nil {
		return nil, &exitError{exitFailed, err}
	}
	h, err := run.History()
	if err != nil {
		return nil, err
	}
	own := o.Model == "" && o.Promise == "" && o.MaxStaleness == 0 && o.Default.IsNil() && (o.Engine == "" || o.Engine == "auto")
	o = runOptions(run, o)
	log, err := run.Log()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	v, err := judgeHistory(ctx, h, log, o)
	if err != nil {
		return nil, err
	}
	addCauses(ctx, run, v)
	if run.Info.Deployment == "connect" && run.Info.Model == "leadership" {
		v.Warnings = append(v.Warnings, connectAbout)
	}
	if finished {
		v.Warnings = append(v.Warnings, "the run ended before its history was complete; it was completed by what the nodes left on their disks")
	}
	if !own || ctx.Err() != nil {
		return v, nil
	}
	text, err := verdictJSON(v)
	if err == nil {
		err = run.WriteFile(histories.VerdictFile, text)
	}
	if err != nil {
		return nil, &exitError{exitFailed, fmt.Errorf("the verdict could not be written: %w", err)}
	}
	return v, nil
}

// runOptions fills in of the options what a run's folder says: its model,
// promises and initial values.
func runOptions(run *histories.Run, o checker.Options) checker.Options {
	if o.Model == "" {
		o.Model = run.Info.Model
	}
	if o.Promise == "" {
		o.Promises = make(map[string]checker.Level, len(run.Info.Promises))
		for path, level := range run.Info.Promises {
			o.Promises[path] = checker.Level(level)
		}
	}
	o.Initial = make(map[histories.Value]histories.Value, len(run.Info.Initial))
	for _, i := range run.Info.Initial {
		o.Initial[i.Key] = i.Value
	}
	return o
}

// verdictJSON is the content of verdict.json.
func verdictJSON(v *checker.Verdict) ([]byte, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	return append(text, '\n'), err
}

// code is the exit code for one history.
func (r *checked) code() int {
	var exit *exitError
	switch {
	case errors.As(r.err, &exit):
		return exit.code
	case errors.Is(r.err, checker.ErrNothingChecked), errors.Is(r.err, checker.ErrEnginesDisagree):
		return exitFailed
	case r.err != nil:
		return exitUsage
	}
	return answerCode(r.answer())
}

// answerCode is the exit code for an answer.
func answerCode(a checker.Answer) int {
	switch a {
	case checker.Violated:
		return exitViolated
	case checker.Undecided:
		return exitUndecided
	}
	return exitHolds
}

// answer is that of the policy where there is one.
func (r *checked) answer() checker.Answer {
	if r.ruling != nil {
		return r.ruling.Answer
	}
	return r.verdict.Answer()
}

// system is what a run tested.
func (r *checked) system() string {
	if r.run == nil {
		return ""
	}
	return r.run.Info.System
}

// severity orders exit codes: a violation wins over bad input, that over
// undecided, that over nothing checked.
var severity = map[int]int{exitHolds: 0, exitFailed: 1, exitUndecided: 2, exitUsage: 3, exitViolated: 4}

func worse(a, b int) int {
	if severity[b] > severity[a] {
		return b
	}
	return a
}

// print writes what came of one history. Of several, each takes one line; the
// details of those that did not hold follow the last.
func (f *checkFlags) print(c *cobra.Command, r checked, several bool, style reports.TextOptions) error {
	out := c.OutOrStdout()
	switch {
	case r.err != nil:
		_, err := fmt.Fprintln(c.ErrOrStderr(), "stalemate:", named(r.name, r.err))
		return err
	case f.json:
		text, err := verdictJSON(r.verdict)
		if err == nil {
			_, err = out.Write(text)
		}
		if err == nil && r.ruling != nil && r.ruling.Policy != "" {
			err = reports.Policy(c.ErrOrStderr(), r.ruling, reports.TextOptions{})
		}
		return err
	case several:
		return reports.Line(out, r.name, r.verdict, r.answer(), style)
	}
	return r.text(out, style)
}

// text writes all about one history.
func (r *checked) text(out io.Writer, style reports.TextOptions) error {
	if err := reports.Text(out, r.name, r.verdict, style); err != nil {
		return err
	}
	if r.ruling == nil || r.ruling.Policy == "" {
		return nil
	}
	return reports.Policy(out, r.ruling, style)
}

// details tells more of those of several histories that did not hold.
func (f *checkFlags) details(c *cobra.Command, all []checked, style reports.TextOptions) error {
	if f.json || len(all) < 2 {
		return nil
	}
	for _, r := range all {
		if r.err != nil || r.answer() == checker.Holds {
			continue
		}
		if _, err := fmt.Fprintln(c.OutOrStdout()); err != nil {
			return err
		}
		if err := r.text(c.OutOrStdout(), style); err != nil {
			return err
		}
	}
	return nil
}

// named puts the name of a history before an error that does not begin with it.
func named(name string, err error) string {
	var path *fs.PathError
	text := err.Error()
	if errors.As(err, &path) && path.Path == name || strings.HasPrefix(text, name+":") {
		return text
	}
	return name + ": " + text
}

// textStyle is how text looks on an output.
func textStyle(out io.Writer) reports.TextOptions {
	f, ok := out.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || !term.IsTerminal(int(f.Fd())) {
		return reports.TextOptions{}
	}
	o := reports.TextOptions{Color: true}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil {
		o.Width = min(width, 100)
	}
	return o
}
