// Package register is the workload of registers: a few keys, each holding one
// number, that clients on every node write and read.
//
// A client is pinned to one node and does one kind of thing there: it writes,
// or it reads along one path. So a read that hangs on one path of one node
// holds up nothing else, and what a node says while it is cut off or just woken
// is asked for without pause, which is when stale reads happen.
//
// Every value written is larger than those before it and is never used again,
// also after an unknown outcome, so that a value read names the write it came
// from. Writers set a register in three ways:
//
//   - set: whatever is there. Recorded as f "write".
//   - conditional: only if the version is still the one the writer has just
//     seen; the value it replaces is not known. Recorded as f "write", with the
//     version compared with under "expect".
//   - cas: as before, but value and version have been read. Since a version has
//     one value, this compares values. Recorded as f "cas", value
//     [expected new].
//
// What a conditional writer looks at beforehand is not recorded: leaving a read
// out of a history never makes it worse.
//
// The keys are created before the clients start, and recorded as the first
// writes, so that a history needs nothing beside itself to be checked. After
// the last fault the workload waits until all nodes tell the same, and reads
// every key on every node once more: these reads are marked "final", and the
// nemesis event "final-reads" stands before them.
package register
