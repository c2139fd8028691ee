package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stalemate-io/stalemate/scenarios"
)

// newScenario tells the named divergences step by step.
func newScenario() *cobra.Command {
	c := &cobra.Command{
		Use:   "scenario NAME",
		Short: "Tell one of the named divergences, step by step",
		Long: `scenario replays a divergence in a simulated cluster and tells it as a story: time
goes down, each node has a lane.

  W t-0=b2/1   the controller's write of leader b2, epoch 1, to the store
  A, C         the record was appended to the log, committed
  t-0=b2/1     the broker took that over into its metadata cache
  !            a fault      >  a client's request      ?  a client's question

It exits with 0 if the scenario shows what it says, else with 3.`,
		Args:      cobra.ExactArgs(1),
		ValidArgs: scenarios.Names(),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := scenarios.Load(args[0])
			if err != nil {
				return err
			}
			if err := s.Play(cmd.Context(), cmd.OutOrStdout()); err != nil {
				return &exitError{exitFailed, err}
			}
			return nil
		},
	}
	c.AddCommand(&cobra.Command{
		Use:   "list",
		Short: "List the scenarios",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range scenarios.Names() {
				s, err := scenarios.Load(name)
				if err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%-22s %s\n", name, s.About)
			}
			return nil
		},
	})
	return c
}
