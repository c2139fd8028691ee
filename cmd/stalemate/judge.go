package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
)

// judge checks a run that has just ended, as stalemate check does later on, and
// prints the verdict. It goes on after an interrupt: what was recorded until
// then is judged.
func judge(c *cobra.Command, run *histories.Run, timeout time.Duration, asJSON bool) error {
	r := checked{name: run.Dir}
	r.verdict, r.err = verdictOf(c.Context(), run, timeout)
	if r.err != nil {
		return &exitError{exitFailed, fmt.Errorf("%w\n(the run is in %s)", r.err, run.Dir)}
	}
	return announce(c, run, r.verdict, asJSON)
}

// announce prints the verdict on a run, holds it against the policy, leaves
// report.html with the run and writes the reports that were asked for. The error
// carries the exit code.
func announce(c *cobra.Command, run *histories.Run, v *checker.Verdict, asJSON bool) error {
	r := checked{name: run.Dir, verdict: v}
	told, err := reportedRun(c, run, r)
	if err != nil {
		return err
	}
	r.ruling = told.Ruling
	f := checkFlags{json: asJSON}
	if err := f.print(c, r, false, textStyle(c.OutOrStdout())); err != nil {
		return &exitError{exitFailed, err}
	}
	leavePage(c, told, asJSON)
	if err := writeReports(c, []*reported{told}); err != nil {
		return &exitError{worse(r.code(), exitFailed), err}
	}
	if code := r.code(); code != exitHolds {
		return &exitError{code: code}
	}
	return nil
}

// verdictOf checks a run and writes its verdict.json. An interrupt ends the
// check: what is not decided by then stays undecided, and stalemate check can
// take it up again later. After a run that was interrupted itself, it takes one
// more.
func verdictOf(ctx context.Context, run *histories.Run, timeout time.Duration) (*checker.Verdict, error) {
	if ctx.Err() != nil {
		again, stop := signal.NotifyContext(context.WithoutCancel(ctx), os.Interrupt, syscall.SIGTERM)
		defer stop()
		ctx = again
	}
	return checkRun(ctx, run, checker.Options{Timeout: timeout})
}
