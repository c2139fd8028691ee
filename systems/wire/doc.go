// Package wire is Kafka's protocol: it puts the messages of the toy systems into the
// frames in which Kafka's own brokers and clients would send them, and takes them
// out again. It is the only place that knows Kafka's bytes. Anybody's client can ask
// a toy broker what it believes (kcat -L), and a node's traffic reads in Wireshark
// as what it is.
//
// # Between nodes
//
// Each message is Kafka's request of the same purpose, with everything where Kafka
// has it:
//
//	push     LeaderAndIsr 4, StopReplica 3, UpdateMetadata 6, AlterPartition 3,
//	         ControlledShutdown 3, Fetch 18
//	kraft    Vote 2 (pre-vote, KIP-996), BeginQuorumEpoch 1, EndQuorumEpoch 1,
//	         Fetch 18 (diverging epoch, snapshot id, KIP-595; the sender's high
//	         watermark, KIP-1166), FetchSnapshot 0 (KIP-630), BrokerRegistration 3,
//	         BrokerHeartbeat 1 (KIP-631), AlterPartition 3 (broker epochs, KIP-903),
//	         Fetch 18 of partitions
//
// The client id in the header of a request is the name of the node that sends it.
// Broker bN has number N and controller cN number 3000+N. As in Kafka,
// UpdateMetadata does not carry what is being added to and removed from an
// assignment. The offset in a heartbeat is that of the last record applied.
//
// # For clients
//
// Metadata, DescribeCluster and ApiVersions tell what the node that is asked
// believes, and no more. ApiVersions has in FinalizedFeaturesEpoch the metadata
// offset that the node has applied, as Kafka's brokers do: it tells how far behind
// they are. The active controller, as far as the node knows it, is listed among the
// brokers, so that clients find it; ElectLeaders and AlterPartitionReassignments are
// for it alone. DescribeQuorum is answered by the leader of the metadata log; others
// name it. Produce, Fetch and ListOffsets work on records without keys whose
// values are decimal numbers. Machines that serve foreign clients are to be wrapped by
// ForClients, which splits what asks about many partitions at once.
//
// What is not served is answered with UNSUPPORTED_VERSION where the response has
// room for an error, and otherwise the connection ends, as Kafka ends it.
//
// # Tagged fields of our own
//
// What the toys say and Kafka does not travels in tagged fields (KIP-482), which
// everybody else skips:
//
//	tag    name          in                                    what
//	10000  push          LeaderAndIsr, UpdateMetadata,         joins the stages of one push
//	                     StopReplica requests                  in traces
//	10001  partition     Metadata request                      the one partition asked about
//	10002  path          Metadata request                      the read path: broker, leader, quorum
//	10003  offset        Metadata response                     the metadata offset applied
//	10004  target        ElectLeaders request                  who is to lead, where not the
//	                                                           preferred replica
//	10005  leader        ElectLeaders and                      the committed state
//	10006  leader epoch  AlterPartitionReassignments
//	10007  version       responses                             its order token
//	10008  controller                                          who is the active controller
//	10006  leader epoch  Produce request, per partition        the epoch the client believes in
//	10009  topic         AlterPartition request, Fetch 18,     the name of a topic whose id
//	                     per topic                             stands beside it
//	10010  error         Metadata response                     why the node has nothing to tell
//
// # Hostile bytes
//
// Nothing here trusts a length that it reads. A list that claims more entries than
// there are bytes is refused; one that claims as many makes room for them, which is
// why large requests are decoded one at a time.
package wire
