package zookeeper

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/stalemate-io/stalemate/histories"
)

// errTimeout is what an operation ends with whose answer was not waited for any
// longer. The request is still out there.
var errTimeout = errors.New("no answer within the operation's deadline")

// refusals are the errors after which a write certainly did not happen: the
// server looked at it and said no, or it was never sent.
var refusals = []error{
	zk.ErrBadVersion,
	zk.ErrNoNode,
	zk.ErrNodeExists,
	zk.ErrNotEmpty,
	zk.ErrNoChildrenForEphemerals,
	zk.ErrNoAuth,
	zk.ErrAuthFailed,
	zk.ErrInvalidACL,
	zk.ErrInvalidFlags,
	zk.ErrInvalidPath,
	zk.ErrBadArguments,
	zk.ErrNoServer,
}

// writeType says what is known of a write that returned err. Everything that is
// not a refusal is unknown: a connection lost before the answer leaves the
// request anywhere between here and the disks of a majority, and an expired or
// moved session says nothing of the requests that went before.
func writeType(err error) histories.Type {
	if err == nil {
		return histories.OK
	}
	for _, refusal := range refusals {
		if errors.Is(err, refusal) {
			return histories.Fail
		}
	}
	return histories.Info
}

// readType says what is known of a read that returned err. A read changes
// nothing, so one without an answer is one that did not happen.
func readType(err error) histories.Type {
	if err == nil {
		return histories.OK
	}
	return histories.Fail
}

// ended names why waiting for an answer ended: the operation's own deadline, or
// the end of the run.
func ended(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errTimeout
	}
	return errors.New("the run ended before the answer came")
}
