package checker

// Level is a consistency level that a history can be held against. Levels are
// partially ordered by strength; see Implies.
type Level string

// The levels, strongest first.
const (
	// Linearizable: one order of all operations, in agreement with real time
	// and with what every operation returned (Herlihy & Wing 1990).
	Linearizable Level = "linearizable"
	// OrderedLag: one order of all writes, in agreement with real time among
	// writes, and every observer's reads walk forward through it: old, yet
	// consistent.
	OrderedLag Level = "ordered-lag"
	// The four session guarantees (Terry et al. 1994), per process.
	MonotonicReads    Level = "monotonic-reads"
	ReadYourWrites    Level = "read-your-writes"
	MonotonicWrites   Level = "monotonic-writes"
	WritesFollowReads Level = "writes-follow-reads"
	// None asks for nothing; only malformed histories fail it.
	None Level = "none"
)
