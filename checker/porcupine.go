package checker

import (
	"context"
	"math"

	"github.com/anishathalye/porcupine"
	"github.com/stalemate-io/stalemate/histories"
)

// The reference engine: porcupine's Wing-Gong-Lowe search over the same
// machines. It shares nothing with the other engines but the models, which is
// what makes its second opinion worth something.
//
// porcupine answers "illegal" on histories that are not well formed, panics
// where states cannot be compared, leaves its goroutine running when it times
// out and knows no bound on memory. So compile has validated before; states
// are plain words; and the search runs inside our call and is ended by a guard
// in its step function: once the guard has tripped no step is accepted any
// more, the search falls back over what it holds, returns, and its answer is
// thrown away.

// porcupineKey searches one key.
func porcupineKey(ctx context.Context, p *program, b *budget) keyResult {
	history := make([]porcupine.Operation, len(p.calls))
	for i := range p.calls {
		c := &p.calls[i]
		history[i] = porcupine.Operation{
			Input: c, Call: int64(c.invoked), Return: int64(c.completed),
		}
		if c.completed == histories.Open {
			history[i].Return = math.MaxInt64
		}
	}
	g := guard{ctx: ctx, budget: b, machine: p.machine, entry: int64(len(history)/8 + 96)}
	ok := porcupine.CheckOperations(porcupine.Model{
		Init: func() any { return p.machine.start() },
		Step: func(state, input, _ any) (bool, any) {
			if !g.allows() {
				return false, state
			}
			next, ok := p.machine.step(state.(uint64), input.(*call))
			return ok, next
		},
		Equal: func(a, b any) bool { return g.seen(a.(uint64) == b.(uint64)) },
		Hash:  func(state any) uint64 { g.accepted++; return mix(state.(uint64)) },
	}, history)
	if g.tripped != "" {
		return keyResult{answer: Undecided, reason: g.tripped}
	}
	if ok {
		return keyResult{answer: Holds}
	}
	return keyResult{answer: Violated}
}

// guard counts what porcupine holds in memory and ends its search.
type guard struct {
	ctx      context.Context
	budget   *budget
	machine  machine
	entry    int64 // bytes of one configuration in porcupine's memo
	steps    int64
	accepted int64 // configurations looked up in the memo: each hashes once
	known    int64 // of those, found there; the others were added
	tripped  string
}

// seen counts the memo's hits: it compares states only where the rest of a
// configuration is already equal.
func (g *guard) seen(equal bool) bool {
	if equal {
		g.known++
	}
	return equal
}

// allows reports whether the search may go on.
func (g *guard) allows() bool {
	if g.tripped != "" {
		return false
	}
	g.steps++
	if g.steps%256 == 0 {
		g.tripped = g.budget.exceeded(g.ctx, (g.accepted-g.known)*g.entry+g.machine.bytes())
	}
	return g.tripped == ""
}

// mix spreads the bits of a word (the finalizer of MurmurHash3).
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
