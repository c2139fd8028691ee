// Package raft is the pull-based Raft of Kafka's metadata log (KIP-595), with
// pre-vote (KIP-996), check-quorum (KAFKA-15489) and snapshots (KIP-630).
//
// It differs from textbook Raft in who moves the data. A leader sends nobody
// records: voters and observers fetch from it, and the offset that a voter
// fetches from acknowledges everything before. The leader keeps no next index
// per follower either; a Fetch names the follower's end offset and the epoch of
// its last record, and where the logs have parted the answer says where to
// truncate. A fetch that finds nothing new waits at the leader, so an idle
// quorum is quiet and a lost leader is noticed by fetches that fail.
//
// A Replica is driven through a node.Env and owns no goroutine. What must
// survive a crash, the epoch, the vote and a voter's log, is made durable before
// a message that depends on it leaves.
//
// Every safety rule is a switch (Guards), so that a checker can be shown to see
// what happens without it. Watch asserts Raft's invariants over a whole quorum.
package raft
