package checker

import (
	"context"
	"errors"
	"time"

	"github.com/stalemate-io/stalemate/histories"
)

// The engines of the linearizability check, as they are named in a verdict.
const (
	engineAuto      = "auto"      // the fastest that applies to each key
	engineFast      = "fast"      // zones; see zone.go
	engineWindowed  = "windowed"  // just-in-time search; see windowed.go
	enginePorcupine = "porcupine" // Wing-Gong-Lowe search by porcupine
)

// errEnginesDisagree is the Err of a linearResult where two engines contradict
// each other: a bug in one of them, and never a verdict on a history.
var errEnginesDisagree = errors.New("internal error: two linearizability engines disagree, please report this history")

// linearOptions bounds the check and chooses its engine. The zero value
// chooses by itself and uses the default bounds.
type linearOptions struct {
	// Engine is one of the names above; empty means auto.
	Engine string
	// Timeout bounds the whole check, Memory the bytes that the search may
	// hold beyond the history, over all keys together. Zero means
	// defaultTimeout and defaultMemory.
	Timeout time.Duration
	Memory  int64
	// Workers is how many keys are looked at side by side; zero means one a
	// processor.
	Workers int
}

const (
	defaultTimeout = 5 * time.Minute
	defaultMemory  = 2 << 30
)

// linearResult is the answer for all keys together: Violated if some key is,
// else Undecided if some key is, else Holds. A violation always wins, since it
// is a proof and what could not be looked at cannot take it back.
type linearResult struct {
	Answer Answer
	// Reason says in one sentence why the answer is Undecided.
	Reason string
	// Engine names the engine that decided; where several did (one a key),
	// their names joined by "+".
	Engine string
	// ConfirmedBy is "porcupine" once porcupine has found every witness not
	// linearizable too.
	ConfirmedBy string
	// Keys and Operations say how much was checked. Operations counts those
	// that constrain something: neither failed ones nor unknown reads.
	Keys, Operations int
	// Failures holds one entry for each key that is not linearizable, in
	// order of key.
	Failures []linearFailure
	// Err is set where the answer must not be used at all.
	Err error
}

// linearFailure is the proof that one key is not linearizable.
type linearFailure struct {
	Key int32
	// Kind is the violation in a few words: "stale read", "read of a failed
	// write", "value nobody wrote", …
	Kind string
	// Witness holds the operations of the proof as indexes into
	// History.Operations, in order of invocation; see witness.go for what it
	// proves and in which sense it is minimal.
	Witness []int32
	// Loose is the part of Witness of which the proof uses the invocation
	// only: the rest contradicts itself whether or not and whenever these
	// took effect. In order of invocation.
	Loose []int32
	// Minimal is false where the budget ended before the witness was minimal.
	Minimal bool
}

// linearizable says whether the operations of each key of v can be put in one
// order that agrees with real time and with spec (Herlihy & Wing 1990).
func linearizable(ctx context.Context, v view, spec spec, o linearOptions) linearResult {
	_ = histories.Open
	return linearResult{Answer: Undecided, Reason: "not built yet"}
}
