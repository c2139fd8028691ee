// Package explore searches seeds for runs in which a toy system breaks what it
// promises, and makes of each such run the least that still shows it.
//
// A search draws, from each seed, the faults and the clients' operations of one
// short run in the simulator (see Search). Runs that fail are told apart by what
// their anomaly is and what caused it (Failure), and of each failure the run of
// the least seed is kept. That run is written down as a Plan: every fault, every
// operation of every client at its moment. A plan can be repeated to the byte,
// and anything can be left out of it, because each node, link and disk of the
// simulated world has a source of chance of its own.
//
// Shrink then leaves out what is not needed for the same failure: operations and
// faults by delta debugging (Zeller & Hildebrandt 2002), nodes and partitions one
// by one, and time by pulling together whatever nothing happens in between. What
// is left is a Case, which is a text file: see Case.String for its format.
package explore
