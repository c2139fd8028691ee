// Package leadership is the workload of leadership: clients of a simulated
// control plane move the leadership of partitions about, and ask every node who
// leads.
//
// A partition is a register. Its value is the leader together with the leader
// epoch, "b2/5", so that every change of leadership writes a value of its own;
// its version is the leader epoch. An election or a reassignment is a write, and
// asking a node is a read along the path that was taken. A node that answers
// LEADER_NOT_AVAILABLE has told nothing: it may know of no leader, or of one that
// it does not take for live. An accepted reassignment is recorded as failed, for it
// leads to several changes in its own time, which are the system's.
//
// # Elections nobody asked for
//
// Leaders also move by themselves, when a broker dies or a replica is dropped. A
// read of such a leader would be a read of something that nobody wrote. So after
// the run the truth, which is the order in which the store or the metadata log
// committed all changes, is merged into the history (see Merge): each change that
// no client's acknowledged write accounts for becomes a write by the system, which
// begins and ends where it was committed. What a client asked for without learning
// the outcome is settled by the truth as well: it was acknowledged by the commit,
// or it never happened.
//
// # Final reads
//
// After everything is healed and has had time to settle, the nemesis event
// "final-reads" is recorded and every broker is asked for every partition once
// more, over each path of brokers. A stale answer then is no lag: the broker is stuck.
package leadership
