// Command mutants shows how well the tests of a package watch its rules. It
// turns each comparison of the given files round, moves each boundary and drops
// each rule, one change at a time, runs the package's tests on it and counts
// which changes were caught. All changes of a file are compiled into one test
// binary (through -overlay, so that nothing on disk changes), which an
// environment variable tells the one to make.
//
//	go run ./internal/mutants [-run regexp] [-v] [-timeout 10s] [-equivalent file] [checker/zone.go ...]
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
	"path/filepath"
	"strings"
	"time"
)

// defaults are the files whose rules decide a verdict.
var defaults = []string{
	"checker/zone.go", "checker/zone_chain.go", "checker/zone_run.go", "checker/zone_values.go", "checker/windowed.go",
	"checker/order_key.go", "checker/order_states.go", "checker/order_relation.go", "checker/order_graph.go", "checker/order_cycle.go",
	"checker/stale.go", "checker/session.go", "checker/set.go", "checker/compose.go",
}

func main() {
	run := flag.String("run", "", "tests to run, as for go test -run; by default those that watch the file")
	timeout := flag.Duration("timeout", 10*time.Second, "least time for the tests of one mutant, longer where the tests on the unchanged source are slow; one that hangs is caught")
	list := flag.String("equivalent", "internal/mutants/equivalent.txt", "file of mutants known to be equivalent")
	verbose := flag.Bool("v", false, "name every mutant, not the survivors alone")
	flag.Parse()
	files := flag.Args()
	if len(files) == 0 {
		files = defaults
	}
	if err := mutate(files, *run, *timeout, *list, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		if err == errSurvived {
			os.Exit(1)
		}
		os.Exit(2)
	}
}

var errSurvived = fmt.Errorf("some mutants survived that are not listed as equivalent: write the test that catches each, or the argument that none can")

// mutate tries every mutant of the files and prints the table.
func mutate(files []string, run string, timeout time.Duration, list string, verbose bool) error {
	known, err := readEquivalents(list)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
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
		row, err := mutateFile(file, tests(file, run), timeout, dir, known, verbose)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	if err := known.unused(files); err != nil {
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

// tests gives the tests that watch a file's rules, as for -test.run. Zones know
// registers only, so that the other models need not run for them.
func tests(file, run string) string {
	name := filepath.Base(file)
	oracle := "EveryOrder|Definition|Itself|Improves|Certain|Least|Decided|Anomalies|Levels|VerdictAgrees|AStaleRead|Sets|Converge|Paths|Timeline|Sessions|Stale"
	switch {
	case run != "":
		return run
	case strings.HasPrefix(name, "zone"):
		return "EnginesAgree/register|EnginesAgree/cas|Violations|Witness|Malformed|LastBefore|ValuesAre|ShortestRun|LongRing"
	case name == "windowed.go":
		return "EnginesAgree|EachReduction|Violations|Witness"
	case strings.HasPrefix(name, "order"), name == "stale.go", name == "session.go", name == "set.go", name == "compose.go":
		return oracle
	}
	return "."
}
