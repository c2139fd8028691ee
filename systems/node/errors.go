package node

import (
	"errors"
	"fmt"
)

// ErrReset is what Env.Call gives when the other side dies with the request in
// its hands. The caller learns of it sooner than by a time-out and knows as
// little: the outcome is unknown.
var ErrReset = errors.New("connection reset before an answer came: the outcome is unknown")

// ErrNotEmpty is the error of a Delete of a node that has children.
var ErrNotEmpty = errors.New("node has children in the store")

// OpError says which operation of a Multi failed, so that none was applied.
type OpError struct {
	Index int     // position of the operation in the Multi
	Op    StoreOp // the operation itself
	Err   error   // one of the errors of a Store
}

func (e *OpError) Error() string {
	return fmt.Sprintf("operation %d, %s %s: %v", e.Index, e.Op.Kind, e.Op.Path, e.Err)
}

func (e *OpError) Unwrap() error { return e.Err }

// String gives the kind's name.
func (k StoreOpKind) String() string {
	switch k {
	case Create:
		return "create"
	case Set:
		return "set"
	case Delete:
		return "delete"
	case Check:
		return "check"
	}
	return fmt.Sprintf("operation(%d)", uint8(k))
}
