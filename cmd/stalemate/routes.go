package main

import (
	"github.com/spf13/cobra"

	"github.com/stalemate-io/stalemate/systems/docker"
)

// newRoutes is what a node's host runs in its container. It is no command for
// people.
func newRoutes() *cobra.Command {
	return &cobra.Command{
		Use:    docker.RoutesCommand,
		Short:  "Cut and heal links from inside a container, as the standard input asks",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := docker.ServeRoutes(c.InOrStdin(), c.OutOrStdout()); err != nil {
				return &exitError{exitFailed, err}
			}
			return nil
		},
	}
}
