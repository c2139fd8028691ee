// Package zookeeper runs and asks real ZooKeeper servers.
//
// An Ensemble is one, three or five servers as processes of this machine. Each
// server's configuration names a proxy of ours wherever it names a peer, so
// every directed link between two servers can be cut, delayed or throttled
// without root (see package links). Clients reach the servers directly: a
// server that is cut off from its peers goes on hearing its clients, which is
// the case in which ZooKeeper's reads are old.
//
// What a server thinks of itself is read with the four letter word srvr, over a
// connection of its own and under a deadline: a paused server accepts
// connections and never answers.
package zookeeper
