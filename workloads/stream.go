package workloads

import (
	"hash/fnv"
	"math/rand/v2"
	"time"
)

// Rand gives the random numbers for one purpose in a run. Different names give
// independent streams, so that adding a client changes nothing for the others.
func Rand(seed uint64, name string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// stream is when the operations of one client are due: a Poisson process.
type stream struct {
	rng *rand.Rand
	gap time.Duration // mean distance
	at  time.Duration // when the last one was due, since the start
}

// next gives the time since the start at which the next operation is due.
func (s *stream) next() time.Duration {
	s.at += time.Duration(s.rng.ExpFloat64() * float64(s.gap))
	return s.at
}
