// Package kafkalogs reads what operators of Apache Kafka have after an incident:
// what brokers and controllers logged of leadership, what the metadata log and
// ZooKeeper hold, and what the tools printed. All of it becomes Facts: who said,
// in which line, what of which partition.
//
// It understands
//
//   - state-change.log of 0.8 to 3.9: what controllers decided and sent, what
//     brokers received, cached, became and refused;
//   - controller.log and server.log of 0.8 to 4.x: who was elected controller or
//     quorum leader in which epoch, and requests that were fenced;
//   - what kafka-dump-log prints with --cluster-metadata-decoder (KIP-631);
//   - what kafka-topics --describe prints;
//   - the JSON of /brokers/topics/T/partitions/N/state, as ZooKeeper's shell
//     prints it.
//
// Lines of other kinds are counted by kind, so that nothing is dropped in
// silence.
package kafkalogs
