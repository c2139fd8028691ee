package main

import (
	"github.com/spf13/cobra"

	"github.com/stalemate-io/stalemate/systems/kafka"
)

// newRun groups the systems that can be run; each is a command of its own, since
// each has settings of its own.
func newRun() *cobra.Command {
	c := &cobra.Command{
		Use:   "run SYSTEM",
		Short: "Drive a system with clients, break it, and judge what the clients saw",
		Long: `run starts a system, drives it with concurrent clients while it breaks things,
records what every client saw in a folder of the store, and judges the history
against what each read path promises.

Interrupted once (Ctrl-C), it stops, heals, finishes the files and judges what
was recorded; interrupted twice, it kills everything it started and ends.`,
		Args: cobra.NoArgs,
	}
	c.AddCommand(
		newRunZooKeeper(),
		newRunSim("push", "Run the push-based control plane of Kafka's ZooKeeper era"),
		newRunSim("kraft", "Run the control plane of KIP-500, one replicated metadata log"),
		newRunKafka(kafka.ZooKeeper, "Run real Apache Kafka whose metadata is in ZooKeeper"),
		newRunKafka(kafka.KRaft, "Run real Apache Kafka on its own metadata log"),
	)
	return c
}
