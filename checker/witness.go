package checker

import (
	"context"
	"fmt"
	"slices"

	"github.com/stalemate-io/stalemate/histories"
)

// A witness is the proof of a violation for a person to follow: a few
// operations that contradict each other.
//
// Leaving operations out of a history can make it illegal (a read whose write
// was left out), so a witness is not found by leaving out but by forgetting:
// the outcome of a forgotten operation becomes unknown. A forgotten read says
// nothing, a forgotten update may take effect at any time after its invocation
// or never. Forgetting can only make more orders legal: what is illegal after
// it was illegal before. So a witness proves that the whole history is
// illegal, and it is minimal in that forgetting any operation of it makes it
// linearizable. Its loose operations are updates that were forgotten and whose
// values the rest still needs to be explained.
//
// Two more weakenings keep long histories readable. A successful cas may count
// as a write of its new value (see zoneViolation.asWrite). And in a long history
// of a register the witness may begin with an anchor: a write that is not
// forgotten and before which everything that was over is left out, since it
// was overwritten: see anchored.

// maxLoose is how many loose operations a witness may have, beside those of
// which the rest shows that they happened. Each may take effect at any time or
// never, so that the orders to follow double with each, for a person as for
// porcupine. A witness that would have more keeps some of them as they are.
const maxLoose = 8

// prove makes the witness of a violation and has porcupine confirm it.
func (k *keyCheck) prove(out *keyOutcome, p *program) {
	// The verdict stands already; its proof gets a time of its own, so that a
	// check which found a violation at the last moment can still show it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(k.ctx), k.proof)
	defer cancel()
	m := minimizer{ctx: ctx, p: p, budget: k.budget, anchor: noAnchor}
	calls := m.cut(out.fails, out.failedAt)
	out.failure.Anchor = noAnchor
	if len(calls) > unanchored {
		if cut, anchor := m.anchored(calls); anchor != noAnchor {
			calls, m.anchor, out.failure.Anchor = cut, anchor, anchor
		}
	}
	whole := calls
	calls, minimal := m.forget(whole)
	if m.loose(calls) > maxLoose {
		m.limited = true
		calls, _ = m.forget(whole)
		minimal = false
	}
	out.failure.Key, out.failure.Kind, out.failure.Minimal = k.key, out.kind, minimal
	for i := range calls {
		out.failure.Witness = append(out.failure.Witness, calls[i].op)
		if !calls[i].known {
			out.failure.Loose = append(out.failure.Loose, calls[i].op)
		}
		if calls[i].action == actWrite && k.h.Operations[calls[i].op].F == histories.CAS {
			out.failure.AsWrite = append(out.failure.AsWrite, calls[i].op)
		}
	}
	if out.kind == "" || out.kind == violationOrder {
		out.failure.Kind = nameViolation(calls)
	}
	out.fails = nil
	confirm, stop := context.WithTimeout(context.WithoutCancel(k.ctx), k.proof)
	defer stop()
	q := program{calls: m.settle(calls), machine: p.machine, pure: p.pure}
	switch second := porcupineKey(confirm, &q, k.budget); second.answer {
	case Violated:
		out.confirmed = true
	case Holds:
		out.err = fmt.Errorf("%w: engine %s, key %d, operations %v", ErrEnginesDisagree, out.engine, k.key, out.failure.Witness)
	}
}

// minimizer cuts a violation down.
type minimizer struct {
	ctx    context.Context
	p      *program
	budget *budget
	anchor int32 // operation that must not be forgotten, or noAnchor
	// limited keeps the loose operations to maxLoose.
	limited bool
	// doubtful is set where the search could not tell whether calls fit an order.
	doubtful bool
}

// illegal reports whether calls certainly fit no legal order.
func (m *minimizer) illegal(calls []call) bool {
	q := program{calls: calls, machine: m.p.machine, pure: m.p.pure}
	answer := windowedKey(m.ctx, &q, m.budget).answer
	m.doubtful = m.doubtful || answer == Undecided
	return answer == Violated
}

// cut leaves out what was invoked after the search failed at a completion, and
// forgets what completed after it. The search knew what pending operations
// would later return, so the cut may have to come after those as well.
func (m *minimizer) cut(calls []call, end int32) []call {
	if end <= 0 {
		return calls
	}
	for range 4 {
		var trial []call
		later := end
		for _, c := range calls {
			if c.invoked > end {
				break
			}
			if c.completed > end && c.known {
				later = max(later, c.completed)
				if c.isRead() {
					continue
				}
				c.forget()
			}
			trial = append(trial, c)
		}
		if m.illegal(trial) {
			return trial
		}
		end = later
	}
	return calls
}

// noAnchor is the anchor of a witness that has none.
const noAnchor int32 = -1

// unanchored is how many operations a violation may have before an anchor is
// looked for.
const unanchored = 48

// anchors is how many operations are tried as the anchor, latest first.
const anchors = 128

// anchored looks for the latest write after which the rest is illegal by
// itself, in registers. Whatever took effect before a write is of no
// consequence after it. So what was over before the write began is left out,
// and what was pending while it was is forgotten, as it may have taken effect
// before the write or after: the reads of it could be of values that are left
// out. It returns noAnchor where there is no such write among the last few.
func (m *minimizer) anchored(calls []call) ([]call, int32) {
	if _, register := m.p.machine.(registerMachine); !register {
		return nil, noAnchor
	}
	order := byCompletion(calls)
	for n := len(order) - 1; n >= 0 && n >= len(order)-anchors; n-- {
		a := &calls[order[n]]
		if a.action == actRead {
			continue
		}
		if cut := after(calls, a); m.illegal(cut) {
			return cut, a.op
		}
	}
	return nil, noAnchor
}

// after is what is left of a history once it is known that a took effect.
func after(calls []call, a *call) []call {
	var out []call
	for _, c := range calls {
		switch {
		case c.op == a.op:
			if c.action == actCAS {
				c.action, c.arg = actWrite, c.res
			}
		case c.completed < a.invoked:
			continue
		case c.invoked < a.completed:
			if c.isRead() {
				continue
			}
			c.forget()
		}
		out = append(out, c)
	}
	return out
}

// forget forgets operations until forgetting any one more makes the rest
// linearizable: first in halves, quarters and so on, then one by one. It
// reports whether it came to the end, in its time and without a doubt about the
// last round.
func (m *minimizer) forget(calls []call) ([]call, bool) {
	m.doubtful = false
	calls = m.sweep(calls)
	for size := len(calls) / 2; size >= 1; size = (size + 1) / 2 {
		changed := false
		m.doubtful = false
		for from := 0; from < len(calls); {
			if m.ctx.Err() != nil {
				return calls, false
			}
			trial, forgot := m.forgetRange(calls, from, min(from+size, len(calls)))
			if m.limited {
				trial = m.sweep(trial)
			}
			if forgot && (!m.limited || m.loose(trial) <= maxLoose) && m.illegal(trial) {
				// A forgotten read is gone, so that the next range begins
				// earlier by as many.
				from += size - (len(calls) - len(trial))
				calls, changed = trial, true
			} else {
				from += size
			}
		}
		if size == 1 && !changed {
			break
		}
		if size == 1 {
			size = 2 // again one by one, until nothing changes
		}
	}
	return m.sweep(calls), !m.doubtful && m.ctx.Err() == nil
}

// forgetRange forgets the known calls of a range.
func (m *minimizer) forgetRange(calls []call, from, to int) (out []call, forgot bool) {
	out = make([]call, 0, len(calls))
	for i, c := range calls {
		if i >= from && i < to && c.known && c.op != m.anchor {
			forgot = true
			if c.isRead() {
				continue
			}
			c.forget()
		}
		out = append(out, c)
	}
	return out, forgot
}

// sweep leaves out the forgotten updates whose values nobody returned or
// expected: they could be left out of every legal order.
func (m *minimizer) sweep(calls []call) []call {
	for {
		q := program{calls: calls, machine: m.p.machine}
		useful := q.observable()
		kept := slices.DeleteFunc(slices.Clone(calls), func(c call) bool { return !c.known && !useful(&c) })
		if len(kept) == len(calls) {
			return calls
		}
		calls = kept
	}
}

// settle marks the loose cas of a register that must have happened: those
// whose value a call that happened returned or expected, and which nothing
// else could have left. They may still take effect at any time, so this changes
// no answer, but a search is spared the orders in which they do not.
func (m *minimizer) settle(calls []call) []call {
	machine, register := m.p.machine.(registerMachine)
	if !register {
		return calls
	}
	writers := map[uint64]int{machine.initial: 1}
	for i := range calls {
		if calls[i].action != actRead {
			writers[calls[i].left()]++
		}
	}
	calls = slices.Clone(calls)
	seen := map[uint64]bool{}
	see := func(c *call) {
		switch {
		case c.known && c.action == actRead:
			seen[c.res] = true
		case c.known && c.action == actCAS:
			seen[c.arg] = true
		}
	}
	for i := range calls {
		see(&calls[i])
	}
	for changed := true; changed; {
		changed = false
		for i := len(calls) - 1; i >= 0; i-- { // a cas mostly comes before the next of its chain
			c := &calls[i]
			if !c.known && c.action == actCAS && c.arg != c.res && seen[c.res] && writers[c.res] == 1 {
				c.known, changed = true, true
				see(c)
			}
		}
	}
	return calls
}

// loose counts the calls that may or may not have happened.
func (m *minimizer) loose(calls []call) int {
	n := 0
	for _, c := range m.settle(calls) {
		if !c.known {
			n++
		}
	}
	return n
}

// nameViolation says in a few words what a witness shows.
func nameViolation(calls []call) string {
	for i := len(calls) - 1; i >= 0; i-- {
		read := &calls[i]
		if !read.known || read.action != actRead {
			continue
		}
		for j := range calls {
			// Something that was over before the read began left another value.
			c := &calls[j]
			if c.known && c.completed < read.invoked && c.left() != read.res {
				return violationStale
			}
		}
	}
	return violationOrder
}

// left is the value that a call found or left.
func (c *call) left() uint64 {
	if c.action == actWrite {
		return c.arg
	}
	return c.res
}
