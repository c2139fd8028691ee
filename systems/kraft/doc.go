// Package kraft is the KIP-500 control plane: one replicated log of metadata
// that everything follows. Controllers are the voters of a Raft quorum (package
// raft, after KIP-595); the one that leads it is the active controller, decides
// who leads which partition and writes that down. Brokers observe the log, apply
// its committed records in offset order (package metadata) and act on them.
//
// So there is one truth, and brokers can only be behind it, by an offset that
// every answer reports. Staleness is not gone: a broker that is cut off from the
// controllers goes on answering from an old prefix of the log, and leading what
// it led. Divergence is: two brokers that have applied the same offset say the
// same. Invariants asserts that at every step, together with the safety of the
// log beneath it; Truth extracts what the log says of leadership.
//
// # Who answers what
//
//	path     asked of             answers from                       promise
//	broker   any node             the image that it has applied      ordered lag
//	leader   active controller    its image, on its own word         ordered lag, bounded by check-quorum
//	quorum   active controller    its image, after a majority has    linearizable
//	                              confirmed that it still leads
//
// Changes of leadership are asked of the active controller, which answers when
// the record is committed. NotController and the like mean that nothing was done;
// RequestTimedOut that the controller was deposed meanwhile and that the change
// may yet be committed, or not. A produce answered so was appended and may
// survive.
//
// # Faithful to Kafka in
//
//   - the log: roles, pre-vote, check-quorum, epochs, truncation, high watermark,
//     snapshots, read from Kafka's design and behaviour;
//   - brokers: the epoch that is the offset of a registration, heartbeats, fencing,
//     unfencing once the registration is applied, two incarnations kept apart;
//   - a broker that runs acts on the log alone: neither an error nor Fenced in the
//     answer to a heartbeat stops it (the guard self-fencing does);
//   - the metadata cache is published before the role store acts (RoleDelay), so
//     the two may differ by a delta;
//   - partitions: in-sync replicas changed by AlterPartition, high watermark over
//     the largest set that may be in sync, truncation by leader epoch.
//
// Left out: dynamic quorums, the append linger, topic deletion, controlled
// shutdown, eligible leader replicas, transactions. As in Kafka, brokers leave a
// partition's durability to its replicas and flush nothing (the guard data-flush
// does); the call time-out of the log is half of Kafka's.
//
// # What each guard prevents
//
// The tests show each of the first eight to be needed: without it the stated
// happens within 2,000 seeds of a storm, with it in none (STALEMATE_SEEDS says how
// many are tried).
//
//	pre-vote                  a voter that was cut off deposes a healthy leader when it comes back
//	check-quorum              a leader that was cut off goes on as one long after its successor's election
//	vote-durability           two leaders in one epoch, after a voter forgets its vote
//	fsync-before-ack          a committed record is lost when those who acknowledged it crash
//	truncation-on-divergence  logs that differ below the high watermark
//	hw-own-epoch              a record of an earlier epoch is committed and then overwritten
//	quorum-confirm            a quorum read that misses what was acknowledged before it
//	broker-epoch              an in-sync replica that lacks committed records, after a restart
//	self-fencing (extra)      a broker that is cut off from the controllers goes on serving
//	data-flush (extra)        acknowledged records of partitions lost when all in-sync replicas crash
//
// # What is traced
//
//	what             where                 key, leader, epoch, version
//	candidate        controller            epoch
//	voted            controller            epoch; peer: for whom
//	leading          controller            epoch; version: where it begins
//	active           controller            epoch; version: offset applied
//	following        any                   epoch; peer: whom
//	resigned         controller            epoch
//	truncated        any                   epoch; version: to where; peer: the leader
//	snapshot         any                   epoch; version: its end
//	snapshot-loaded  any                   epoch; version: its end; peer: from whom
//	registered       active controller     version: the broker epoch; peer: which broker
//	unfenced, fenced active controller     version: of the first record; peer: which broker
//	appended         active controller     the partition's state, not yet committed
//	committed        active controller     the partition's state
//	alter-refused    active controller     key, epoch; why; peer: by which broker
//	running          broker                version: the broker epoch
//	applied          broker                the partition's state, now in the metadata cache
//	role             broker                the partition's state, now in the role store
//	role-stopped     broker                key: it hosts the partition no more
//	halted           any                   why; the node has stopped for good
//
// A partition's state is its key, leader, leader epoch, and as the version the
// offset of its record.
package kraft
