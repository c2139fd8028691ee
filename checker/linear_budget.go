package checker

import (
	"context"
	"errors"
	"fmt"
)

// budget is what the search on one key may use. The time limit is the
// context's, the memory limit is the key's share of linearOptions.Memory.
type budget struct {
	memory int64 // bytes
}

// exceeded gives the reason to stop, or "" while a search that holds so many
// bytes may go on.
func (b *budget) exceeded(ctx context.Context, held int64) string {
	if held > b.memory {
		return fmt.Sprintf("the search needs more than its %d MB of memory", b.memory>>20)
	}
	if err := ctx.Err(); err != nil {
		return stopped(err)
	}
	return ""
}

// stopped says why a context ended.
func stopped(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "the search ran out of time"
	}
	return "the search was cancelled"
}

// keyResult is what one engine says about one key.
type keyResult struct {
	answer Answer
	reason string // why Undecided
	engine string
	// fails is the operations that a violation was found in, closed enough
	// that they are a violation by themselves; see witness.go. kind names it
	// where the engine knows.
	fails []call
	kind  string
	// failedAt is the completion at which the windowed search found nothing
	// that could have led there.
	failedAt int32
	// crowded is set where more calls were pending at once than the windowed
	// search has slots for.
	crowded bool
}
