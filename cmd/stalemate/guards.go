package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stalemate-io/stalemate/internal/toys"
	"github.com/stalemate-io/stalemate/reports"
)

// newGuards shows what each guard of the toy systems is worth.
func newGuards() *cobra.Command {
	var off, on int
	var first uint64
	c := &cobra.Command{
		Use:   "guards [GUARD...]",
		Short: "Show what clients see when a protection of push or kraft is switched off",
		Long: `guards switches off one protection after the other and searches seeds for a run
in which clients see the difference; then it runs as many with all of them on,
under the same faults. It exits with 1 if a guard shows no worth, or if what it
is to prevent happens nevertheless.`,
		Example: `  stalemate guards
  stalemate guards quorum-confirm --all-on 10000`,
		RunE: func(c *cobra.Command, names []string) error {
			if off < 1 || on < 1 {
				return fmt.Errorf("--off %d --all-on %d: expected at least 1 of each", off, on)
			}
			defer collectLess()()
			earned, err := earnedGuards(names)
			if err != nil {
				return err
			}
			t := reports.NewTable("system", "guard", "faults", "path", "breaks", "without it", "with it")
			failed := false
			for _, e := range earned {
				w, err := e.Weigh(c.Context(), first, off, on)
				if err != nil {
					return &exitError{exitFailed, err}
				}
				without := fmt.Sprintf("never in %d seeds", w.Tried)
				if w.Found {
					without = fmt.Sprintf("at seed %d", w.Without)
				}
				failed = failed || !w.Found || w.With > 0
				t.Row(e.System, e.Guard, e.Family, e.Path, string(e.Broken), without, fmt.Sprintf("%d of %d seeds", w.With, w.Runs))
			}
			if _, err := fmt.Fprint(c.OutOrStdout(), t.String()); err != nil {
				return &exitError{exitFailed, err}
			}
			if failed {
				return &exitError{code: exitViolated}
			}
			return nil
		},
	}
	f := c.Flags()
	f.IntVar(&off, "off", 2000, "seeds to search at most for a run that shows a guard's worth")
	f.IntVar(&on, "all-on", 50, "seeds to run with every guard on")
	f.Uint64Var(&first, "first-seed", 1, "the first of them")
	return c
}

// earnedGuards are those of the given names, or all if there is none.
func earnedGuards(names []string) ([]toys.Earned, error) {
	all := toys.EarnedGuards()
	if len(names) == 0 {
		return all, nil
	}
	var known []string
	for _, e := range all {
		known = append(known, e.Guard)
	}
	for _, n := range names {
		if !slices.Contains(known, n) {
			return nil, fmt.Errorf("clients see nothing of a guard %q: expected one of %s", n, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(all, func(e toys.Earned) bool { return !slices.Contains(names, e.Guard) }), nil
}
