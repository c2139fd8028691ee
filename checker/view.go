package checker

import "github.com/stalemate-io/stalemate/histories"

// view is a history seen through one read path: every operation that changes
// something, and of the reads only those that took the path. Operations are
// split by key, since every check but one-order looks at one key at a time.
type view struct {
	history *histories.History
	// keys holds, for each index into history.Keys, the operations on that key
	// as indexes into history.Operations, in order of invocation.
	keys [][]int32
}
