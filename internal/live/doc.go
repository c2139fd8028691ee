// Package live drives a toy system that runs as processes with the clients of
// a workload while a nemesis breaks it, and completes what they saw with
// what the system itself committed.
package live
