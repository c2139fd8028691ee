// Package forensics judges what Kafka's nodes wrote down of an incident: the
// facts of package kafkalogs, from several files of several brokers.
//
// Clocks of different machines are not compared. What counts is the order of
// lines within one node's files, and the epochs that they tell:
//
//   - a conflict: one leader epoch of a partition with two leaders, one epoch
//     with two controllers, one offset of the metadata log with two records;
//   - a regress: a node went from a leader epoch back to an older one;
//   - a zombie: a node obeyed a controller of an older epoch after one of a
//     newer;
//   - a fork: no single order of changes explains what the brokers had when. One
//     had a change of one partition and not yet that of another, and another
//     broker the other way round. It is found as a cycle, and the shortest one is
//     told.
//
// Any of these is a divergence. What one order explains is lag: who was behind
// the newest known state when his log ends, and what was sent to a broker that
// never tells of receiving it.
//
// How much a log tells depends on its level: up to Kafka 2.5 brokers log each
// partition that they cache, later ones only how many; their roles are logged in
// all versions.
package forensics
