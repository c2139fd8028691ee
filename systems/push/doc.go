// Package push is the control plane of Apache Kafka's ZooKeeper era in small: a
// controller that decides, writes its decision to a coordination service and
// then pushes it, request by request, into the caches of the brokers. It is the
// design in which two brokers may hold two truths, because the decision and
// each of its copies are updated separately and nothing orders the copies.
//
// # The parts
//
// A [Controller] becomes active by creating the ephemeral node /controller and
// bumping /controller_epoch in one transaction. It reads everything into memory,
// tells the brokers, and from then on reacts to events one at a time: brokers
// that come and go, leaders that ask for another in-sync set (ISR), operators
// who ask for elections and reassignments. Each election is a conditional write
// to the partition's state node, and only after that it is pushed: first every
// LeaderAndIsr, then every UpdateMetadata, then every StopReplica, into one
// first-in-first-out queue per broker that lives in memory alone.
//
// A [Broker] keeps two stores that may disagree for any time: the roles it plays
// (fed by LeaderAndIsr, which decide about produce and fetch) and a cache of who
// leads what (fed by UpdateMetadata, which answers clients).
//
// # What orders what
//
// LeaderAndIsr carries the leader epoch and a broker refuses an older one.
// UpdateMetadata is applied as it comes: the last writer wins, and no epoch or
// version is compared. The controller epoch fences a deposed controller once
// the broker has heard of its successor; it does not order the requests of one
// controller. Hence a lost, late or repeated UpdateMetadata leaves a cache
// wrong for as long as nobody happens to push that partition again.
//
// # The guards
//
// Kafka grew its protections one incident at a time. Each is a switch of
// [Guards], all on by default as in Kafka 3.x, so that its worth can be shown
// by switching it off.
//
// # What all guards together leave open
//
// As long as every broker hears the pushes of a controller in their order, and
// each new controller says everything again, a cache is late and never wrong:
// the queues are what orders it. What breaks that order shows two truths, and
// nothing in the design notices:
//
//   - A push that was overtaken by its own repetition puts a cache back to where
//     it was, for good, or makes two brokers see the changes of two partitions
//     in opposite orders.
//   - A LeaderAndIsr that comes after its replica was deleted finds no leader
//     epoch to be compared with. The replica comes back as leader with an empty
//     log, beside the real one, and may empty the logs of those who follow it.
//   - A change that was written and not pushed is unknown to everybody until
//     the next controller is elected.
//   - A leader that is cut off is taken for dead. Nobody tells it anything, and
//     it serves on beside its successor.
//   - A StopReplica that goes with a dropped queue leaves a broker in a role
//     that the assignment no longer has.
//
// The stories in testdata tell each of these; run them with go test.
//
// # What is left out
//
// Topic deletion, topic ids, rack awareness, log directories, listeners and
// security. A controller is a node of its own rather than a broker with a
// second job, so that faults can hit either alone; its number in /controller is
// 3000 more than in its name (c1 is 3001), so that nobody takes it for a broker.
package push
