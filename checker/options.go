package checker

import (
	"time"

	"github.com/stalemate-io/stalemate/histories"
)

// Options says what to hold a history against. The zero Options asks for what
// the history itself suggests: the model its functions name, an absent initial
// value, linearizability.
type Options struct {
	// Model is the sequential specification (register, cas-register,
	// versioned-register, mutex, counter, set, queue); empty means told from
	// the functions that the history uses. On a history of leadership, a
	// register whose keys are partitions or the like and whose values are their
	// leaders, it is "leadership": one version with two values is then called
	// what it is, two leaders.
	Model string
	// Initial is the value that a key has before the first operation; keys
	// that are not in it have Default. Where the default is Nil, an ok read of
	// nil found nothing; where it is a value, nil cannot be read and an ok read
	// of nil says that the client learned nothing, as in Knossos.
	Initial map[histories.Value]histories.Value
	Default histories.Value
	// Promise is the level to hold the history against, by default
	// Linearizable; Promises gives one per read path and takes precedence there.
	Promise  Level
	Promises map[string]Level
	// MaxStaleness, where positive, is a bound that every read must keep.
	MaxStaleness time.Duration
	// Engine forces a linearizability engine (fast, windowed, porcupine);
	// empty or "auto" chooses.
	Engine string
	// Timeout and MemoryMB bound the search for a linearization; zero means
	// five minutes and 2048 MB.
	Timeout  time.Duration
	MemoryMB int
}
