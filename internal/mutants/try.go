package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"
)

// What became of a mutant.
const (
	survived = "survived"
	caught   = "caught"
)

// row is the count of one file.
type row struct {
	file                         string
	caught, equivalent, survived int
}

// mutateFile tries the mutants of a file, two at a time, and names those that
// survive.
func (s *search) mutateFile(file string) (row, error) {
	r := row{file: file}
	source, err := readSource(file)
	if err != nil {
		return r, err
	}
	binary, err := source.build(file, s.dir)
	if err != nil {
		return r, err
	}
	began := time.Now()
	if try(binary, file, s.run, 0, 10*s.timeout) != survived {
		return r, fmt.Errorf("%s: the tests do not pass on the unchanged source; make them pass first", file)
	}
	// On a slow machine the tests of what is right take long too.
	timeout := max(s.timeout, 5*time.Since(began))
	var chosen []int
	for i := range source.mutants {
		name := source.mutants[i].name()
		s.known.met[name] = true
		if s.only.MatchString(name) {
			chosen = append(chosen, i)
		}
	}
	results := make([]string, len(chosen))
	var next, done atomic.Int64
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(chosen); i = int(next.Add(1)) - 1 {
				results[i] = try(binary, file, s.run, chosen[i]+1, timeout)
				fmt.Fprintf(os.Stderr, "\r%s: %d of %d ", file, done.Add(1), len(chosen))
			}
		})
	}
	workers.Wait()
	fmt.Fprint(os.Stderr, "\r\033[K")
	for i, result := range results {
		m := &source.mutants[chosen[i]]
		argument, listed := s.known.argument[m.name()]
		tell := s.verbose
		switch {
		case result == survived && listed:
			result = "equivalent: " + argument
			r.equivalent++
		case result == survived:
			tell = true
			r.survived++
		default:
			if listed { // or, of two of one name, the other
				result, tell = "caught, though "+s.known.file+" says it cannot be", true
			}
			r.caught++
		}
		if tell {
			fmt.Printf("line %d: %s: %s\n", m.line, m.name(), result)
		}
	}
	return r, nil
}

// build compiles the tests of a file's package with all mutants of the file.
func (s *source) build(file, dir string) (binary string, err error) {
	original, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	choose := fmt.Sprintf("package %s\n\nimport (\n\t\"os\"\n\t\"strconv\"\n)\n\nvar %s, _ = strconv.Atoi(os.Getenv(%q))\n",
		s.tree.Name.Name, chooser, environment)
	changed, chosen, overlay := filepath.Join(dir, "mutants.go"), filepath.Join(dir, "choose.go"), filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {
		original: changed,
		filepath.Join(filepath.Dir(original), "mutant_number.go"): chosen,
	}})
	if err != nil {
		return "", err
	}
	for name, text := range map[string]string{changed: s.all(), chosen: choose, overlay: string(replace)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	binary = filepath.Join(dir, "mutants.test")
	build := exec.Command("go", "test", "-vet=off", "-ldflags=-s -w", "-overlay", overlay, "-c", "-o", binary, "./"+filepath.Dir(file))
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", file, err, out)
	}
	return binary, nil
}

// environment is the variable that chooses a mutant by its number.
const environment = "STALEMATE_MUTANT"

// recorded are the tests that read histories which others recorded: they are not
// everywhere, and read for longer than all other tests take.
const recorded = "Corpus"

// try runs the tests on one mutant.
func try(binary, file, run string, number int, timeout time.Duration) string {
	for _, histories := range []string{"20", "200", "1500"} {
		test := exec.Command(binary, "-test.run", run, "-test.skip", recorded, "-test.failfast", "-test.short", "-test.timeout", timeout.String())
		test.Dir = filepath.Dir(file)
		test.Env = append(os.Environ(), "STALEMATE_FUZZ_HISTORIES="+histories, "RAPID_SEED=1", "RAPID_NOFAILFILE=true", environment+"="+strconv.Itoa(number))
		if err := test.Run(); err != nil {
			return caught
		}
	}
	return survived
}

// printTable prints a row for each file and their sum.
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
