// Package docker runs the nodes of a system as containers of a Docker engine,
// on a network of the run's own, and breaks the links between them.
//
// Each node is two containers. The first, its host, runs this program and does
// nothing but hold the node's network namespace, with the node's address and its
// published port, and set routes in it when told to; it alone has NET_ADMIN. The
// second is the node itself, in the network namespace of its host. So a node can
// be killed and started again and keeps its address, its port and the cuts in
// force, and its image needs nothing: no shell, no iptables, no privileges.
//
// A directed link is cut by a blackhole route to the receiver in the sender's
// namespace: the kernel drops what the sender sends, connections stay open, and
// the other direction is whole. Clients come in from the bridge's gateway, which
// is nobody's peer, and reach a node that is cut off from all others.
//
// Everything carries the label of its run. A host ends when the connection to the
// process that made it does, and its node with it, so that what a killed run left
// behind can be told from a run that goes on: see Engine.Leftovers.
package docker
