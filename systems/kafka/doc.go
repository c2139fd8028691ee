// Package kafka runs real Apache Kafka on this machine, in either generation:
// brokers whose controller keeps the truth in ZooKeeper and pushes it to them, and
// brokers that read it from a log replicated by a quorum of controllers (KIP-500).
//
// Every node is a process of its own. Between nodes lie proxies, one in front of
// each node, that find out by the kernel's tables which process has dialled, so
// that each directed link can be broken without root. (That needs Linux;
// elsewhere nodes are killed and paused only.) Clients reach brokers past the
// proxies.
//
// Nodes can be containers instead, whose links are cut by routes; see package docker.
//
// Brokers are asked one by one, straight from the node that is asked: no client
// library with a cache of its own lies between.
package kafka
