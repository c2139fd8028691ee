package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stalemate-io/stalemate/systems/processes"
)

// newNode runs one node of a toy system.
func newNode() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "node ROLE --config FILE",
		Short: "Run one node of a toy system in this process",
		Long: fmt.Sprintf(`node runs one node of a toy system until it is terminated: a %s.
It speaks Kafka's protocol on the address in its configuration, a JSON file with

  self        the node's name: c1, c2, … for controllers, b1, b2, … for brokers
  cluster     system, controllers, brokers, partitions, session_timeout (ns),
              guards_off and guards_on, the same for all nodes
  listen      the host:port where it is reached
  peers       the host:port of every other node, as this one is to dial it
  advertised  the host:port of every node, as clients are told
  store       the host:port of each ZooKeeper server, for push
  disk        the folder that holds its disk
  trace       the file that tells what happens inside it; left out for none

run --on local writes such files, nodes/*/node.json, and starts the nodes itself.
SIGTERM has the node leave in good order; after SIGKILL it goes on from its disk.`,
			strings.Join(processes.Roles(), ", ")),
		Args:      cobra.ExactArgs(1),
		ValidArgs: processes.Roles(),
		RunE: func(c *cobra.Command, args []string) error {
			config, err := processes.ReadConfig(file)
			if err != nil {
				return &exitError{exitUsage, err}
			}
			if role, err := config.Role(); err != nil || role != args[0] {
				return &exitError{exitUsage, fmt.Errorf("%s in %s is a %s: expected a %s", config.Self, file, role, args[0])}
			}
			if err := processes.Run(c.Context(), config); err != nil {
				return &exitError{exitFailed, err}
			}
			return nil
		},
	}
	c.Flags().StringVar(&file, "config", "", "the node's configuration")
	_ = c.MarkFlagRequired("config")
	return c
}
