package main

import (
	"cmp"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/internal/toys"
	"github.com/stalemate-io/stalemate/policy"
	"github.com/stalemate-io/stalemate/reports"
)

// compared holds every run of a comparison against a policy. Without one it asks
// nothing: a comparison shows what systems do, and most of them promise less than
// is asked of them there.
type compared struct {
	policy *policy.Policy
	asked  map[request]*reports.CompareAnswer
	notes  map[string]bool
}

// request is what a policy asks of one read path under one kind of trouble.
type request struct{ trouble, system, path, asked, from string }

// newCompared reads the policy that the command was given.
func newCompared(c *cobra.Command) (*compared, error) {
	p, err := policyOf(c)
	return &compared{p, map[request]*reports.CompareAnswer{}, map[string]bool{}}, err
}

// add judges one run. In which order runs come makes no difference.
func (c *compared) add(trouble, system string, seed uint64, v *checker.Verdict) {
	if c.policy == nil {
		return
	}
	ruling := c.policy.Judge(v, system, now())
	for _, note := range ruling.Notes {
		c.notes[note] = true
	}
	for i := range ruling.Findings {
		f := &ruling.Findings[i]
		if f.Level == checker.None {
			continue // which asks for nothing
		}
		at := request{trouble, system, f.Path, f.Asked, f.From}
		a := c.asked[at]
		if a == nil {
			a = &reports.CompareAnswer{Trouble: trouble, System: system, Path: f.Path, Asked: f.Asked, From: f.From}
			c.asked[at] = a
		}
		a.Add(seed, f)
	}
}

// ruling sums up, in the order of the table's rows; nil where there is no policy.
func (c *compared) ruling(rows []toys.Row) *reports.CompareRuling {
	if c.policy == nil {
		return nil
	}
	r := &reports.CompareRuling{Policy: c.policy.Name, Answer: checker.Holds, Notes: slices.Sorted(maps.Keys(c.notes))}
	for _, a := range c.asked {
		r.Answers = append(r.Answers, *a)
		if n := a.Counts(); policy.Worse(n, r.Answer) {
			r.Answer = n
		}
	}
	row := func(a *reports.CompareAnswer) int {
		return slices.IndexFunc(rows, func(r toys.Row) bool { return r.Family == a.Trouble && r.System == a.System })
	}
	slices.SortFunc(r.Answers, func(a, b reports.CompareAnswer) int {
		return cmp.Or(cmp.Compare(row(&a), row(&b)), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Asked, b.Asked), cmp.Compare(a.From, b.From))
	})
	return r
}
