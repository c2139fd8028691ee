// Command mutants shows how well the tests of a package watch its rules. It
// turns each comparison of the given files round, moves each boundary and drops
// each rule, one change at a time, runs the package's tests on it and counts
// which changes were caught. All changes of a file are compiled into one test
// binary (through -overlay, so that nothing on disk changes), which an
// environment variable tells the one to make.
//
//	go run ./internal/mutants [-only regexp] [-run regexp] [-v] [-timeout 10s] [-equivalent file] [checker/zone.go ...]
//
// Two mutants are tried at a time, first with few random histories and, where
// they survive, with more.
//
// A mutant that survives is a missing test, unless it is listed in the file of
// equivalent mutants with the argument why no test can tell it from the
// original. The exit code is 1 if any other survives.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"time"
)

// defaults are the files whose rules decide a verdict.
var defaults = []string{
	"checker/zone.go", "checker/zone_chain.go", "checker/zone_run.go", "checker/zone_values.go", "checker/windowed.go",
	"checker/order_key.go", "checker/order_states.go", "checker/order_relation.go", "checker/order_graph.go", "checker/order_cycle.go",
	"checker/stale.go", "checker/session.go", "checker/set.go", "checker/compose.go",
}

// search is what to try, and how.
type search struct {
	only    *regexp.Regexp // of the mutants, by name
	run     string         // the tests, as for go test -run
	timeout time.Duration
	known   *equivalents
	verbose bool
	dir     string // for what is compiled
}

func main() {
	var s search
	only := flag.String("only", "", "regular expression of the mutants to try, by name: to see whether a new test catches one")
	flag.StringVar(&s.run, "run", ".", "tests to run, as for go test -run")
	flag.DurationVar(&s.timeout, "timeout", 10*time.Second, "least time for the tests of one mutant, longer where the tests on the unchanged source are slow; one that hangs is caught")
	list := flag.String("equivalent", "internal/mutants/equivalent.txt", "file of mutants known to be equivalent")
	flag.BoolVar(&s.verbose, "v", false, "name every mutant, not the survivors alone")
	flag.Parse()
	files := flag.Args()
	if len(files) == 0 {
		files = defaults
	}
	var err error
	if s.only, err = regexp.Compile(*only); err == nil {
		s.known, err = readEquivalents(*list)
	}
	if err == nil {
		err = s.mutate(files)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		if err == errSurvived {
			os.Exit(1)
		}
		os.Exit(2)
	}
}

var errSurvived = fmt.Errorf("some mutants survived that are not listed as equivalent: write the test that catches each, or the argument that none can")

// mutate tries the mutants of the files and prints the table.
func (s search) mutate(files []string) error {
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	s.dir = dir
	defer os.RemoveAll(dir)
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	go func() {
		<-interrupted
		os.RemoveAll(dir)
		os.Exit(2)
	}()

	var rows []row
	for _, file := range files {
		row, err := s.mutateFile(file)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	if err := s.known.unused(files); err != nil {
		return err
	}
	if err := printTable(os.Stdout, rows); err != nil {
		return err
	}
	for _, r := range rows {
		if r.survived > 0 {
			return errSurvived
		}
	}
	return nil
}
