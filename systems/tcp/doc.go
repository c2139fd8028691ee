// Package tcp runs a node of a toy system as part of a real process: the same
// node.Machine that the simulator runs, with a real clock, a real disk and TCP
// connections to its peers and clients.
//
// # The loop
//
// All of a node's callbacks run on one goroutine, one after the other, so they
// never overlap. Nothing that the machine does waits: messages go into bounded
// queues that other goroutines empty, changes of the disk into a journal, and
// what comes back (an answer, a timer, a completed fsync) is posted to the loop.
//
// # Connections
//
// A node has one connection to each peer, made when first needed and again, with
// a growing pause, when it breaks. Requests travel on it side by side, and answers
// are matched by their correlation ids. As in TCP itself, silence is all one
// learns of a peer that is cut off: when a request has waited for as long as its
// sender wants to and nothing whatever came in meanwhile, the connection is given
// up, and what else was under way on it ends with node.ErrReset.
//
// Clients that are not peers are served one request at a time, as Kafka's brokers
// do, so that answers come in the order of the requests whatever the machine does.
// What a connection may cost is bounded: the size of a frame, the time from its
// first byte to its last, the number of connections, and the answers that wait for
// somebody who does not read them.
//
// # Disk
//
// A disk is one journal of checksummed records, see Disk's promise in package
// node: a crash keeps a prefix of what was written, across all logs and files.
package tcp
