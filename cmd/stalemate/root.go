package main

import "github.com/spf13/cobra"

// newRoot builds the command tree. Each command has a file of its own.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "stalemate",
		Short: "Show when the nodes of a cluster disagree about who leads",
		Long: `stalemate drives a cluster with concurrent clients while it breaks things,
records what every client saw, and says which of three things happened:

  linearizable   every read saw the newest acknowledged write
  ordered lag    some reads were old, yet every observer walked forward
                 through one and the same order; the lag is measured
  divergent      no single order explains what was observed

Exit codes: 0 the promise held, 1 it was broken, 2 undecided, 3 the run itself
failed, 254 bad usage or bad input.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(
		retry(judging(newRun())),
		judging(newCheck()),
		newReport(),
		newDiff(),
		newServe(),
		newDemo(),
		newScenario(),
		newCompare(),
		newGuards(),
		newExplore(),
		newReplay(),
		newMerge(),
		newConvert(),
		newNode(),
		newRoutes(),
		newClean(),
		newDoctor(),
		newVersion(),
	)
	arrange(root)
	return root
}
