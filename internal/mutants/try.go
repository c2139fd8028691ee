package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"
)

// What became of a mutant.
const (
	survived       = "survived"
	caught         = "caught"
	doesNotCompile = "does not compile"
)

// row is the count of one file.
type row struct {
	file                                         string
	caught, equivalent, survived, doesNotCompile int
}

// mutateFile tries every mutant of a file, two at a time, and names those that
// survive.
func mutateFile(file, run string, timeout time.Duration, dir string, known *equivalents, verbose bool) (row, error) {
	r := row{file: file}
	all, source, err := mutants(file)
	if err != nil {
		return r, err
	}
	began := time.Now()
	switch result, err := try(&mutant{file: file}, source, dir, run, 10*timeout); {
	case err != nil:
		return r, err
	case result != survived:
		return r, fmt.Errorf("%s: the tests do not pass on the unchanged source (%s); make them pass first", file, result)
	}
	// On a slow machine the tests of what is right take long too.
	timeout = max(timeout, 5*time.Since(began))
	results, errs := make([]string, len(all)), make([]error, len(all))
	var next, done atomic.Int64
	var workers sync.WaitGroup
	for worker := range 2 {
		workers.Go(func() {
			mine := filepath.Join(dir, strconv.Itoa(worker))
			for i := int(next.Add(1)) - 1; i < len(all); i = int(next.Add(1)) - 1 {
				results[i], errs[i] = try(&all[i], source, mine, run, timeout)
				fmt.Fprintf(os.Stderr, "\r%s: %d of %d ", file, done.Add(1), len(all))
			}
		})
	}
	workers.Wait()
	fmt.Fprint(os.Stderr, "\r\033[K")
	for i := range all {
		m, result := &all[i], results[i]
		if errs[i] != nil {
			return r, fmt.Errorf("%s: %w", m.name(), errs[i])
		}
		_, listed := known.argument[m.name()]
		known.met[m.name()] = known.met[m.name()] || listed
		switch {
		case result == survived && listed:
			result = "equivalent: " + known.argument[m.name()]
			r.equivalent++
		case result == survived:
			r.survived++
		case result == doesNotCompile:
			r.doesNotCompile++
		default:
			r.caught++
		}
		if verbose || result == survived {
			fmt.Printf("line %d: %s: %s\n", m.line, m.name(), result)
		}
	}
	return r, nil
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
	binary := filepath.Join(dir, "mutant.test")
	pkg := "./" + filepath.Dir(m.file)
	build := exec.Command("go", "test", "-vet=off", "-ldflags=-s -w", "-overlay", overlayFile, "-c", "-o", binary, pkg)
	if out, err := build.CombinedOutput(); err != nil {
		// Only what the compiler says of the mutant itself is the mutant's fault.
		if strings.Contains(string(out), filepath.Base(m.file)+":") || strings.Contains(string(out), "mutant.go:") {
			return doesNotCompile, nil
		}
		return "", fmt.Errorf("%w: %s", err, out)
	}
	for _, histories := range []string{"200", "1500"} {
		test := exec.Command(binary, "-test.run", run, "-test.failfast", "-test.short", "-test.timeout", timeout.String())
		test.Dir = filepath.Dir(m.file)
		test.Env = append(os.Environ(), "STALEMATE_FUZZ_HISTORIES="+histories)
		if err := test.Run(); err != nil {
			return caught, nil
		}
	}
	return survived, nil
}

// printTable prints a row for each file and their sum. What does not compile is
// no mutant.
func printTable(w io.Writer, rows []row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "mutants\tkilled\tequivalent\tsurvived\t  file")
	sum := row{file: "all"}
	for _, r := range rows {
		r.print(t)
		sum.caught += r.caught
		sum.equivalent += r.equivalent
		sum.survived += r.survived
	}
	sum.print(t)
	return t.Flush()
}

func (r row) print(w io.Writer) {
	fmt.Fprintf(w, "%d\t%d\t%d\t%d\t  %s\n", r.caught+r.equivalent+r.survived, r.caught, r.equivalent, r.survived, r.file)
}
