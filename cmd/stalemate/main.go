// Command stalemate shows when the nodes of a cluster disagree about who leads.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// The exit codes. The first three are Jepsen's. 255 is avoided because ssh uses
// it for its own failures.
const (
	exitHolds     = 0   // every promise held
	exitViolated  = 1   // some promise was broken; wins over everything else
	exitUndecided = 2   // some answer ran out of time, memory or knowledge
	exitFailed    = 3   // the run itself failed: nothing can be said
	exitUsage     = 254 // bad usage or bad input
)

// exitError carries an exit code up to main. A nil err means that everything
// worth saying was already printed.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := newRoot().ExecuteContext(ctx)
	stop()
	os.Exit(exitCode(err))
}

// exitCode prints err, if it says anything, and gives the code for it. An error
// that carries no code comes from cobra's parsing and is a matter of usage.
func exitCode(err error) int {
	if err == nil {
		return exitHolds
	}
	code := exitUsage
	var e *exitError
	if errors.As(err, &e) {
		code = e.code
		if e.err == nil {
			return code
		}
	}
	fmt.Fprintln(os.Stderr, "stalemate:", err)
	return code
}
