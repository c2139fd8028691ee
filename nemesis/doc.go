// Package nemesis breaks a cluster on a schedule and heals it again.
//
// A Fault is a kind of trouble: it can say whether a cluster can be hurt that
// way, and plan one Disruption of it, with its targets. A Nemesis carries out
// planned windows one after the other and leaves the cluster whole, also when
// the run is called off in the middle of one.
//
// # In the history
//
// Each disruption stands in the history as four events of the process
// "nemesis", all of type info, whose value is the list of the nodes it is aimed
// at and whose field "what" says in a sentence what is done to them:
//
//	f "start-<fault>"  it is about to begin
//	f "start-<fault>"  it is in force, or has an error and is not
//	f "stop-<fault>"   it is about to end
//	f "stop-<fault>"   it has ended, or has an error and may not have
//
// so that the fault was certainly not in force before the first of them nor
// after the last, and certainly was between the second and the third.
// Disruptions do not overlap.
package nemesis
