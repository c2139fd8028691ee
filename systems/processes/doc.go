// Package processes runs a toy system as processes of this machine: each
// controller and broker is a process of this same program (stalemate node), with
// its disk in a folder and a proxy on each directed link to a peer, so that nodes
// can be killed, paused and started again, and links cut, delayed and throttled.
//
// A cluster has a folder, and each node one in it:
//
//	node.json     its configuration, a NodeConfig
//	node.log      what it printed
//	trace.jsonl   what happened inside it, see tcp.Entry
//	disk/         its disk, see tcp.ReadDisk
//
// After the run the truth is read from there: the metadata log from the disks of
// its voters, and the moments at which it was committed from the traces.
package processes
