package checker

import (
	"time"

	"github.com/stalemate-io/stalemate/histories"
)

// Options says what to hold a history against. The zero Options asks for what
// the history itself suggests: the model its functions name, an absent initial
// value, linearizability.
type Options struct {
	// Model is the sequential specification (register, cas-register, mutex, …);
	// empty means told from the functions the history uses.
	Model string
	// Initial is the value every key has before the first operation.
	Initial map[histories.Value]histories.Value
	Default histories.Value
	// Promise is the level to hold the history against; Promises gives one
	// per read path and takes precedence there.
	Promise  Level
	Promises map[string]Level
	// MaxStaleness, where positive, is a bound that every read must keep.
	MaxStaleness time.Duration
	// Engine forces a linearizability engine; empty chooses.
	Engine string
	// Timeout and MemoryMB bound the search; zero means the defaults.
	Timeout  time.Duration
	MemoryMB int
}
