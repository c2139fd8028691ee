package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/stalemate-io/stalemate/checker"
)

func TestOnlyFailedRunsAreTriedAgain(t *testing.T) {
	failed := &exitError{exitFailed, errors.New("zk2 did not start")}
	for name, test := range map[string]struct {
		policy string
		ends   []error // of the tries
		tries  int
		code   int
	}{
		"a run that failed and then held":                    {"retries: 2", []error{failed, nil}, 2, exitHolds},
		"a run that failed and then was violated":            {"retries: 2", []error{failed, &exitError{code: exitViolated}, nil}, 2, exitViolated},
		"a run that goes on failing":                         {"retries: 2", []error{failed, failed, failed, nil}, 3, exitFailed},
		"a violation is never tried again":                   {"retries: 2", []error{&exitError{code: exitViolated}, nil}, 1, exitViolated},
		"nor is what is undecided":                           {"retries: 2", []error{&exitError{code: exitUndecided}, nil}, 1, exitUndecided},
		"nor what was asked for in a wrong way":              {"retries: 2", []error{&exitError{exitUsage, errors.New("usage")}, nil}, 1, exitUsage},
		"nor a fault of the checker":                         {"retries: 2", []error{&exitError{exitFailed, fmt.Errorf("%w: r1", checker.ErrEnginesDisagree)}, nil}, 1, exitFailed},
		"nor a report that could not be written":             {"retries: 2", []error{&exitError{exitFailed, fmt.Errorf("%w: junit=x", errReport)}, nil}, 1, exitFailed},
		"without retries in the policy a failure is the end": {"retries: 0", []error{failed, nil}, 1, exitFailed},
		"nor does an absent policy retry":                    {"", []error{failed, nil}, 1, exitFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if test.policy != "" {
				if err := os.WriteFile("stalemate.yaml", []byte("version: 1\n"+test.policy+"\n"), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			tries := 0
			run := &cobra.Command{Use: "run", SilenceUsage: true, SilenceErrors: true}
			run.AddCommand(&cobra.Command{Use: "push", RunE: func(*cobra.Command, []string) error {
				tries++
				return test.ends[tries-1]
			}})
			root := retry(judging(run))
			var out bytes.Buffer
			root.SetOut(&out)
			root.SetErr(&out)
			root.SetArgs([]string{"push", "--report", "junit=junit.xml", "--report", "html=page.html"})
			err := root.ExecuteContext(t.Context())
			var exit *exitError
			code := exitHolds
			if errors.As(err, &exit) {
				code = exit.code
			}
			if tries != test.tries || code != test.code {
				t.Errorf("%d tries and exit code %d, expected %d and %d", tries, code, test.tries, test.code)
			}
			if n := strings.Count(out.String(), "trying it again"); n != tries-1 {
				t.Errorf("says %d times that it tries again, after %d tries: %s", n, tries, out.String())
			}
			// A run that failed is an error in the test results, and no file of a
			// format that cannot say so.
			text, _ := os.ReadFile("junit.xml")
			if failed := strings.Contains(string(text), "<error "); failed != (test.code == exitFailed && !errors.Is(err, errReport)) {
				t.Errorf("junit.xml: %s", text)
			}
			if _, err := os.Stat("page.html"); err == nil {
				t.Error("a page was written of a run that has none")
			}
		})
	}
}
