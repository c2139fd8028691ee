// Package data is the workload of what leadership is for: clients append to
// partitions and read them, at whoever they believe to lead.
//
// A partition is a register, the last value below the high watermark, and the
// offset of that value is its version. A produce with acks=all is a write of a
// value of its own; its answer says that all in-sync replicas have it. A fetch of
// the latest value is a read over the path "fetch" through the node that was
// believed to lead. Where several values pass the high watermark at once, the
// earlier ones were written and overwritten at the same moment.
//
// A client learns who leads from a broker's metadata, as Kafka's clients do, asks
// again after an error and now and then, and names the leader epoch that it
// believes in (KIP-320). So a client that asks a broker which is cut off is sent
// to whoever that broker believes in: a deposed leader, which does not know it,
// answers from what it has. Such a read is stale, and nothing but stale: an old
// leader cannot move its high watermark without its followers.
//
// A produce whose answer is lost, or that ends with its leader's office, may
// have been appended; its outcome is unknown.
package data
