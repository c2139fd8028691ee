package node

import "fmt"

// OpError is the error of a Multi that was refused: which of its operations
// failed, and why. Nothing of the Multi was applied. A lost connection or
// session is not an OpError, since then nobody knows what was applied.
type OpError struct {
	Index int    // place of the failed operation among those of the Multi, from 0
	Path  string // the node the operation was about
	Err   error  // ErrNoNode, ErrNodeExists, ErrBadVersion
}

// Error says which operation failed, and why.
func (e *OpError) Error() string {
	return fmt.Sprintf("operation %d of the multi-write, on %s: %v", e.Index, e.Path, e.Err)
}

// Unwrap gives the reason, for errors.Is.
func (e *OpError) Unwrap() error { return e.Err }
