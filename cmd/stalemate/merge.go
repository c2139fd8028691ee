package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stalemate-io/stalemate/internal/explore"
)

// newMerge joins what the shards of a search have found.
func newMerge() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "merge DIR...",
		Short: "Join the results of shards of stalemate explore",
		Long: `merge reads the folders that the shards of one search have written, keeps of each
failure the case of the least seed, and writes them to --out. Shards of different
searches, or the same shard twice, are refused; where one is missing it is named.

Exit codes: 0 nothing was found, 1 something was, 2 nothing was found and a shard is
missing, 254 the folders do not go together.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, dirs []string) error {
			var parts []*explore.Summary
			for _, dir := range dirs {
				p, err := explore.Read(dir)
				if err != nil {
					return err
				}
				parts = append(parts, p)
			}
			all, err := explore.Merge(parts...)
			if err != nil {
				return err
			}
			if err := all.Write(out); err != nil {
				return &exitError{exitFailed, err}
			}
			if err := printFound(c.OutOrStdout(), all, out); err != nil {
				return &exitError{exitFailed, err}
			}
			missing := all.Missing()
			for _, s := range missing {
				fmt.Fprintf(c.ErrOrStderr(), "missing: shard %d/%d\n", s.Number, s.Of)
			}
			switch {
			case len(all.Found) > 0:
				return &exitError{code: exitViolated}
			case len(missing) > 0:
				return &exitError{code: exitUndecided}
			}
			return nil
		},
	}
	c.Flags().StringVar(&out, "out", "store/explore-merged", "folder to write to")
	return c
}
