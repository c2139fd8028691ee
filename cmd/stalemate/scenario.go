package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stalemate-io/stalemate/internal/live"
	"github.com/stalemate-io/stalemate/scenarios"
)

// newScenario tells the named divergences step by step.
func newScenario() *cobra.Command {
	var on string
	c := &cobra.Command{
		Use:   "scenario NAME",
		Short: "Tell one of the named divergences, step by step",
		Long: `scenario replays a divergence in a simulated cluster and tells it as a story: time
goes down, each node has a lane.

  W t-0=b2/1   the controller's write of leader b2, epoch 1, to the store
  A, C         the record was appended to the log, committed
  t-0=b2/1     the broker took that over into its metadata cache
  !            a fault      >  a client's request      ?  a client's question

With --on local the same happens to processes of this machine, push on a real
ZooKeeper ensemble, in real time: a minute or so. With --on docker nodes and servers
are containers.

It exits with 0 if the scenario shows what it says, else with 3.`,
		Args:      cobra.ExactArgs(1),
		ValidArgs: scenarios.Names(),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := scenarios.Load(args[0])
			if err != nil {
				return err
			}
			switch on {
			case "sim":
				err = s.Play(cmd.Context(), cmd.OutOrStdout())
			case "local", "docker":
				err = playReal(cmd, s, on == "docker")
			default:
				return &exitError{exitUsage, fmt.Errorf("--on %s: expected sim, local or docker", on)}
			}
			if err != nil {
				return &exitError{exitFailed, err}
			}
			return nil
		},
	}
	c.Flags().StringVar(&on, "on", "sim", "where to play it: sim, local for processes of this machine, or docker for containers")
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

// playReal plays a scenario with processes or containers. What they leave is kept
// where the scenario did not show what it says.
func playReal(c *cobra.Command, s *scenarios.Scenario, containers bool) error {
	report := newProgress(c.ErrOrStderr())
	guard := newGuard(report)
	defer guard.release()
	dir, err := os.MkdirTemp("", "stalemate-"+s.Name+"-")
	if err != nil {
		return err
	}
	l := scenarios.Local{Dir: dir, Containers: containers, Started: func(system *live.System) {
		guard.holds(system)
		var brokers []string
		for _, b := range system.Options().BrokerIDs() {
			brokers = append(brokers, string(b)+" "+system.ClientAddr(string(b)))
		}
		report.say("%s is up: %s", system.Options().System, strings.Join(brokers, ", "))
	}}
	if err := l.PlayFor(c.Context(), s, c.OutOrStdout()); err != nil {
		return fmt.Errorf("%w\n(what the nodes left is in %s)", err, dir)
	}
	return os.RemoveAll(dir)
}
