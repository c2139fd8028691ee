// Package histories holds what clients of a system saw: the events of a run in
// the order in which they happened, and the operations made of them.
//
// The shape is Jepsen's. A client's operation is two events: an invoke when
// the client sends it, and a completion when it learns the outcome: ok (it
// happened), fail (it certainly did not happen) or info (nobody knows; it may
// still take effect at any later time, so the operation stays open to the end
// of the history, and its process id is never used again). What the nemesis
// did stands between them, under a process that is a name and not a number.
//
// The order of the events is the authority on what happened before what. An
// invoke is recorded before the request leaves and a completion after the
// answer arrived, so intervals can only be wider than the truth and a
// violation found in them is real. Times measure lag; they never order.
//
// The package reads and writes several formats (see Format), keeps runs in
// folders (see Store) and records operations of a live system (see Recorder).
// It does not judge them: that is package checker.
package histories
