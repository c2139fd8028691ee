package register

import (
	"math/rand/v2"
	"strconv"

	"github.com/stalemate-io/stalemate/systems"
)

// KeyName is the name of the i-th register.
func KeyName(i int) string { return "r" + strconv.Itoa(i) }

// How often a writer compares before it writes: of ten writes, six set whatever
// is there.
const (
	conditionalWrites = 0.2
	casWrites         = 0.2
)

// nextRead draws the reads of a client along path.
func (o Options) nextRead(path string) func(*rand.Rand) systems.Op {
	return func(rng *rand.Rand) systems.Op {
		return systems.Op{F: "read", Key: KeyName(rng.IntN(o.Keys)), Path: path}
	}
}

// nextWrite draws the writes of a client.
func (o Options) nextWrite(rng *rand.Rand) systems.Op {
	op := systems.Op{F: "write", Key: KeyName(rng.IntN(o.Keys))}
	switch p := rng.Float64(); {
	case p < casWrites:
		op.F, op.Conditional = "cas", true
	case p < casWrites+conditionalWrites:
		op.Conditional = true
	}
	return op
}
