package main

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/policy"
)

// noPolicy is the value of --policy that asks for none.
const noPolicy = "none"

// policyValue is the flag --policy: the file's name, and the policy in it once
// it was read.
type policyValue struct {
	name   string
	policy *policy.Policy
	read   bool
}

func (p *policyValue) String() string     { return p.name }
func (p *policyValue) Type() string       { return "file" }
func (p *policyValue) Set(s string) error { p.name = s; return nil }

// now is today as allowances see it.
var now = time.Now

// load reads the policy: the one that was named, else stalemate.yaml of the
// working directory, else none.
func (p *policyValue) load() error {
	if p.read {
		return nil
	}
	var err error
	switch p.name {
	case noPolicy:
	case "":
		p.policy, err = policy.Read(policy.File)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	default:
		p.policy, err = policy.Read(p.name)
	}
	if err != nil {
		return &exitError{exitUsage, fmt.Errorf("the policy: %w", err)}
	}
	p.read = true
	return nil
}

// policyOf gives the policy that a command was given; nil where there is none.
func policyOf(c *cobra.Command) (*policy.Policy, error) {
	f := c.Flags().Lookup("policy")
	if f == nil {
		return nil, nil
	}
	p := f.Value.(*policyValue)
	err := p.load()
	return p.policy, err
}

// rule holds a verdict against the policy that a command was given, or against
// its own promises.
func rule(c *cobra.Command, v *checker.Verdict, system string) (*policy.Ruling, error) {
	p, err := policyOf(c)
	if err != nil {
		return nil, err
	}
	return p.Judge(v, system, now()), nil
}

// retry adds to the runs below a command that they are tried again, as often as
// the policy says, where the run itself failed. What a run found is never
// tried again: a violation that shows in one run of three is one.
func retry(c *cobra.Command) *cobra.Command {
	for _, run := range c.Commands() {
		once := run.RunE
		run.RunE = func(c *cobra.Command, args []string) error {
			p, err := policyOf(c)
			if err != nil {
				return err
			}
			tries := 1
			if p != nil {
				tries += p.Retries
			}
			for n := 1; ; n++ {
				err = once(c, args)
				if n == tries || !failedRun(err) || c.Context().Err() != nil {
					return errors.Join(err, reportFailure(c, err))
				}
				fmt.Fprintf(c.ErrOrStderr(), "the run failed, %v\ntrying it again, for the policy %s allows it (%d of %d)\n", err, p.Name, n+1, tries)
			}
		}
	}
	return c
}

// failedRun tells whether a run failed for reasons that are not the system's
// answers. That two engines contradict each other is a fault of stalemate's, and
// to try again would hide it.
func failedRun(err error) bool {
	return withoutVerdict(err) && !errors.Is(err, checker.ErrEnginesDisagree)
}

// withoutVerdict tells whether a run failed before it came to a verdict.
func withoutVerdict(err error) bool {
	var exit *exitError
	return errors.As(err, &exit) && exit.code == exitFailed && !errors.Is(err, errReport)
}
