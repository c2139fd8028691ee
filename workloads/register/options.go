package register

import (
	"fmt"
	"time"
)

// Options says how large the workload is.
type Options struct {
	// Keys is the number of registers.
	Keys int
	// Clients is the number of clients of each kind on each node: this many
	// writers, and this many readers for each path.
	Clients int
	// Paths are the read paths' names. The final reads take Final, and each
	// path of Caches that is also in Paths.
	Paths  []string
	Final  string
	Caches []string
	// Rate is how many operations a second are due, over all clients, of
	// which the part Writes are writes.
	Rate   float64
	Writes float64
	Seed   uint64
	// Timeout is how long a client waits for an outcome, Settle how long the
	// nodes may take to agree once everything is healed.
	Timeout time.Duration
	Settle  time.Duration
}

// Check says what is wrong with the options.
func (o Options) Check() error {
	switch {
	case o.Keys < 1:
		return fmt.Errorf("%d keys: expected at least 1", o.Keys)
	case o.Clients < 1:
		return fmt.Errorf("%d clients: expected at least 1", o.Clients)
	case len(o.Paths) == 0:
		return fmt.Errorf("no read path: expected at least one")
	case !(o.Rate > 0 && o.Rate <= 1e6):
		return fmt.Errorf("rate %v: expected operations a second, above 0 and up to a million", o.Rate)
	case !(o.Writes > 0 && o.Writes < 1):
		return fmt.Errorf("share of writes %v: expected a number between 0 and 1", o.Writes)
	case o.Timeout <= 0:
		return fmt.Errorf("operation time-out %v: expected more than nothing", o.Timeout)
	case o.Settle <= 0:
		return fmt.Errorf("settle time %v: expected more than nothing", o.Settle)
	}
	return nil
}
