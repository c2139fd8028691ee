// Command mutants shows how well the tests of a package watch its rules. It
// turns each comparison of the given files round, moves each boundary and drops
// each rule, one change at a time, runs the package's tests on the changed
// source (through -overlay, so that nothing on disk changes) and prints which
// changes were caught.
//
//	go run ./internal/mutants [-run regexp] [-timeout 60s] [-equivalent file] checker/zone.go ...
//
// Two mutants are tried at a time, first with few random histories and, where
// they survive, with many.
//
// A mutant that survives is a missing test, unless it is listed in the file of
// equivalent mutants with the argument why no test can tell it from the
// original. The exit code is 1 if any other survives.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

func main() {
	run := flag.String("run", "", "tests to run, as for go test -run; by default those that watch the file")
	timeout := flag.Duration("timeout", 30*time.Second, "time for the tests of one mutant; one that hangs is caught")
	list := flag.String("equivalent", "internal/mutants/equivalent.txt", "file of mutants known to be equivalent")
	flag.Parse()
	files := flag.Args()
	if len(files) == 0 {
		files = []string{"checker/zone.go", "checker/zone_chain.go", "checker/zone_run.go", "checker/zone_values.go", "checker/windowed.go"}
	}
	survivors, err := runAll(files, *run, *timeout, *list)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
	if survivors > 0 {
		os.Exit(1)
	}
}

// watching gives the tests that watch a file's rules; zones know registers
// only, so the rest of the models need not run for them.
func watching(file, run string) string {
	name := filepath.Base(file)
	switch {
	case run != "":
		return run
	case strings.HasPrefix(name, "zone"):
		return "EnginesAgree/register|EnginesAgree/cas|Violations|Witness|Malformed"
	case name == "windowed.go":
		return "EnginesAgree|EachReduction|Violations|Witness"
	}
	return "."
}

// runAll tries every mutant of every file and counts those that survive
// without an excuse.
func runAll(files []string, run string, timeout time.Duration, list string) (survivors int, err error) {
	excuses, err := readEquivalent(list)
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	caught, invalid, equivalent := 0, 0, 0
	for _, file := range files {
		all, source, err := mutants(file)
		if err != nil {
			return 0, err
		}
		run := watching(file, run)
		unchanged := mutant{file: file}
		switch result, err := try(&unchanged, source, dir, run, timeout); {
		case err != nil:
			return 0, err
		case result != "survived":
			return 0, fmt.Errorf("%s: the tests do not pass on the unchanged source (%s); make them pass first", file, result)
		}
		results := make([]string, len(all))
		var next atomic.Int64
		var workers sync.WaitGroup
		for worker := range 2 {
			workers.Go(func() {
				mine := filepath.Join(dir, strconv.Itoa(worker))
				for {
					i := int(next.Add(1)) - 1
					if i >= len(all) {
						return
					}
					result, err := try(&all[i], source, mine, run, timeout)
					if err != nil {
						result = "error: " + err.Error()
					}
					results[i] = result
					fmt.Fprintf(os.Stderr, "%s: %d of %d, line %d: %s\n", file, i+1, len(all), all[i].line, result)
				}
			})
		}
		workers.Wait()
		for i := range all {
			m, result := &all[i], results[i]
			switch {
			case strings.HasPrefix(result, "error"):
				return 0, fmt.Errorf("%s: %s", m.name(), result)
			case result == "survived" && excuses[m.name()] != "":
				result = "equivalent: " + excuses[m.name()]
				equivalent++
			case result == "survived":
				survivors++
			case result == "does not compile":
				invalid++
			default:
				caught++
			}
			fmt.Printf("%s:%d\t%s\t->\t%s\t%s\n", m.file, m.line, oneLine(m.old), oneLine(m.new), result)
		}
	}
	fmt.Printf("%d caught, %d equivalent, %d survived, %d do not compile\n", caught, equivalent, survivors, invalid)
	return survivors, nil
}

// try runs the tests on one mutant.
func try(m *mutant, source []byte, dir, run string, timeout time.Duration) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	changed := filepath.Join(dir, "mutant.go")
	if err := os.WriteFile(changed, m.apply(source), 0o600); err != nil {
		return "", err
	}
	original, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err != nil {
		return "", err
	}
	overlayFile := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlayFile, overlay, 0o600); err != nil {
		return "", err
	}
	pkg := "./" + filepath.Dir(m.file)
	build := exec.Command("go", "test", "-vet=off", "-overlay", overlayFile, "-c", "-o", filepath.Join(dir, "mutant.test"), pkg)
	if err := build.Run(); err != nil {
		return "does not compile", nil
	}
	for _, histories := range []string{"200", "1500"} {
		test := exec.Command(filepath.Join(dir, "mutant.test"), "-test.run", run, "-test.failfast", "-test.timeout", timeout.String())
		test.Dir = filepath.Dir(m.file)
		test.Env = append(os.Environ(), "STALEMATE_FUZZ_HISTORIES="+histories)
		if err := test.Run(); err != nil {
			return "caught", nil
		}
	}
	return "survived", nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// readEquivalent reads a file of lines "mutant # argument"; empty lines and
// lines that begin with # are comments.
func readEquivalent(name string) (map[string]string, error) {
	out := map[string]string{}
	f, err := os.Open(name)
	if os.IsNotExist(err) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		line := strings.TrimSpace(s.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		mutant, argument, ok := strings.Cut(line, " # ")
		if !ok {
			return nil, fmt.Errorf("%s: expected \"mutant # argument\", found %q", name, line)
		}
		out[strings.TrimSpace(mutant)] = strings.TrimSpace(argument)
	}
	return out, nil
}
