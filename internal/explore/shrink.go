package explore

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/sim"
	"github.com/stalemate-io/stalemate/workloads/leadership"
)

// maxTries bounds how many runs one shrinking takes.
const maxTries = 700

// Shrink gives the least plan it finds that fails as p does. When ctx is over, it
// gives the least one so far. Plans that cannot be run are no smaller plans; an
// error is that of p itself.
func Shrink(ctx context.Context, p *Plan, f Failure) (*Plan, error) {
	s := &shrinker{ctx: ctx, failure: f}
	whole, err := p.Run(context.WithoutCancel(ctx), true)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(whole.Failures, f) {
		return nil, &notShown{f}
	}
	s.best = p.clone()
	// What makes the many runs to come shorter comes first.
	s.witnessed(whole)
	s.ending()
	s.beginning()
	for before := -1; before != s.best.size() && s.more(); {
		before = s.best.size()
		s.faults()
		s.operations()
		s.nodes()
		s.times()
	}
	return s.best, nil
}

// notShown is the error of a plan that does not fail as it was said to.
type notShown struct{ failure Failure }

func (e *notShown) Error() string {
	return "the run does not show what it should: " + e.failure.String()
}

type shrinker struct {
	ctx     context.Context
	failure Failure
	best    *Plan
	tries   int
}

func (p *Plan) clone() *Plan {
	q := *p
	q.Faults = slices.Clone(p.Faults)
	q.Ops = slices.Clone(p.Ops)
	return &q
}

// size counts what shrinking makes fewer.
func (p *Plan) size() int {
	return len(p.Ops) + len(p.Faults) + p.Controllers + p.Brokers + p.Partitions + int(p.End/time.Millisecond)
}

func (s *shrinker) more() bool { return s.ctx.Err() == nil && s.tries < maxTries }

// try takes a plan for the best if it still fails alike. The run is traced only
// where it would otherwise do.
func (s *shrinker) try(p *Plan) bool {
	if !s.more() || p.Final > 0 && p.Final-p.Heal < settle {
		return false
	}
	s.tries++
	o, err := p.Run(context.WithoutCancel(s.ctx), false)
	if err != nil || !slices.ContainsFunc(o.Failures, func(f Failure) bool { return f.uncaused() == s.failure.uncaused() }) {
		return false
	}
	if s.failure.Cause != "" && s.failure.Path != Inside {
		if o, err = p.Run(context.WithoutCancel(s.ctx), true); err != nil {
			return false
		}
	}
	if !slices.Contains(o.Failures, s.failure) {
		return false
	}
	s.best = p
	return true
}

// change tries the best plan with something changed.
func (s *shrinker) change(f func(*Plan)) bool {
	p := s.best.clone()
	f(p)
	return s.try(p)
}

// keep tries the best plan with only some of its operations.
func (s *shrinker) keep(f func(leadership.Op) bool) bool {
	return s.change(func(p *Plan) {
		p.Ops = slices.DeleteFunc(p.Ops, func(op leadership.Op) bool { return !f(op) })
	})
}

// witnessed tries what is likely to do: the operations that prove the anomaly, and
// of what changes something all or that of the same partition. Questions change
// nothing in the system, so that the others can mostly go at once.
func (s *shrinker) witnessed(o *Outcome) {
	keys := map[string]bool{}
	var proof []checker.Witness
	for _, a := range anomalies(o.Verdict) {
		cause, _, _ := strings.Cut(a.Cause, ":")
		if a.Kind != s.failure.Kind || cause != s.failure.Cause {
			continue
		}
		proof = append(proof, a.Witness...)
		for _, w := range a.Witness {
			keys[w.Key] = true
		}
	}
	same := func(op leadership.Op) bool { return keys[op.Partition.String()] }
	proves := func(op leadership.Op) bool {
		return slices.ContainsFunc(proof, func(w checker.Witness) bool { return begins(op, &w) })
	}
	for _, f := range []func(leadership.Op) bool{
		proves,
		func(op leadership.Op) bool { return proves(op) || op.Do.Changes() && same(op) },
		same,
		func(op leadership.Op) bool { return proves(op) || op.Do.Changes() },
		func(op leadership.Op) bool { return op.Do.Changes() },
		func(op leadership.Op) bool { return op.Do.Changes() || same(op) },
	} {
		if s.keep(f) {
			return
		}
	}
}

// begins tells whether a question, a produce or a fetch is, as far as can be told,
// the operation of a proof: one of data begins when its client knows whom to ask,
// which takes a moment.
func begins(op leadership.Op, w *checker.Witness) bool {
	if w.CallMS == nil || w.Key != op.Partition.String() {
		return false
	}
	late := time.Duration(*w.CallMS*float64(time.Millisecond)) - op.At
	switch op.Do {
	case leadership.Ask:
		return w.Node == string(op.Node) && late.Abs() < time.Microsecond
	case leadership.Produce, leadership.Fetch:
		return late >= 0 && late < 5*time.Millisecond
	}
	return false
}

// anomalies lists those of all paths.
func anomalies(v *checker.Verdict) []checker.Anomaly {
	if v == nil {
		return nil
	}
	out := slices.Clone(v.Anomalies)
	for _, p := range v.Paths {
		out = append(out, p.Anomalies...)
	}
	return out
}

func (s *shrinker) faults() {
	ddmin(s.best.Faults, func(some []sim.Fault) bool {
		return s.change(func(p *Plan) { p.Faults = some })
	})
	s.simpler()
}

func (s *shrinker) operations() {
	ddmin(s.best.Ops, func(some []leadership.Op) bool {
		return s.change(func(p *Plan) { p.Ops = some })
	})
}

// simpler makes single faults simpler: without trigger, with fewer peers.
func (s *shrinker) simpler() {
	for i := range s.best.Faults {
		fault := func(f func(*sim.Fault)) bool {
			return s.change(func(p *Plan) { f(&p.Faults[i]) })
		}
		if f := s.best.Faults[i]; f.Effect > 0 || f.On != nil {
			fault(func(f *sim.Fault) { f.Effect, f.On = 0, nil })
		}
		if f := s.best.Faults[i]; len(f.Nodes) > 1 {
			ddmin(f.Nodes, func(some []node.ID) bool {
				return len(some) > 0 && fault(func(f *sim.Fault) { f.Nodes = some })
			})
		}
		if f := s.best.Faults[i]; len(f.Peers) > 1 {
			ddmin(f.Peers, func(some []node.ID) bool {
				return len(some) > 0 && fault(func(f *sim.Fault) { f.Peers = some })
			})
		}
	}
}

// nodes tries smaller clusters. What is asked of a node that is gone, or for it,
// goes with it.
func (s *shrinker) nodes() {
	for s.best.Partitions > 1 && s.change(func(p *Plan) { p.Partitions-- }) {
	}
	for s.best.Brokers > 1 && s.change(func(p *Plan) { p.Brokers-- }) {
	}
	for s.best.Controllers > 1 && s.change(func(p *Plan) { p.Controllers-- }) {
	}
}

// times pulls the run together: from the end to the beginning, everything behind
// a moment at which something happens comes earlier by as much as may be.
func (s *shrinker) times() {
	s.ending()
	moments := s.best.moments()
	for i, at := range slices.Backward(moments) {
		var before time.Duration
		if i > 0 {
			before = moments[i-1]
		}
		gap := at - before
		for _, by := range []time.Duration{gap - time.Millisecond, gap * 3 / 4, gap / 2, gap / 4} {
			if by > 50*time.Millisecond && s.change(func(p *Plan) { p.advance(at, by) }) {
				break
			}
		}
	}
	for i := range s.best.Faults {
		for s.best.Faults[i].For > 20*time.Millisecond && s.change(func(p *Plan) {
			p.Faults[i].For = (p.Faults[i].For / 2).Round(time.Millisecond)
		}) {
		}
	}
	for _, to := range []time.Duration{100 * time.Millisecond, 10 * time.Millisecond, time.Millisecond} {
		s.change(func(p *Plan) { p.round(to) })
		for i, op := range s.best.Ops {
			if op.At != op.At.Round(to) {
				s.change(func(p *Plan) { p.Ops[i].At = op.At.Round(to) })
			}
		}
		for i, f := range s.best.Faults {
			if f.At != f.At.Round(to) || f.For != f.For.Round(to) {
				s.change(func(p *Plan) { p.Faults[i].At, p.Faults[i].For = f.At.Round(to), f.For.Round(to) })
			}
		}
	}
	s.ending()
}

// beginning brings everything forward.
func (s *shrinker) beginning() {
	if moments := s.best.moments(); len(moments) > 0 {
		first := moments[0]
		for _, by := range []time.Duration{first * 9 / 10, first * 3 / 4, first / 2} {
			if s.change(func(p *Plan) { p.advance(first, by) }) {
				return
			}
		}
	}
}

// ending tries to do without final reads, without healing, and to stop early.
func (s *shrinker) ending() {
	if s.best.Final > 0 {
		s.change(func(p *Plan) {
			p.Final = 0
			for i := range p.Ops {
				p.Ops[i].Final = false
			}
		})
	}
	if s.best.Final == 0 && s.best.Heal > 0 {
		s.change(func(p *Plan) { p.Heal = 0 })
	}
	last := max(s.best.Final, s.best.Heal)
	for _, op := range s.best.Ops {
		last = max(last, op.At)
	}
	if s.failure.Path == Inside {
		for s.best.End > time.Second && s.change(func(p *Plan) { p.End = p.End * 4 / 5 }) {
		}
		return
	}
	for _, rest := range []time.Duration{10 * time.Millisecond, 100 * time.Millisecond, time.Second, 4 * time.Second} {
		if last+rest >= s.best.End || s.change(func(p *Plan) { p.End = last + rest }) {
			return
		}
	}
}

// moments lists when something happens, in order.
func (p *Plan) moments() []time.Duration {
	var out []time.Duration
	for _, op := range p.Ops {
		out = append(out, op.At)
	}
	for _, f := range p.Faults {
		out = append(out, f.At)
	}
	if p.Heal > 0 {
		out = append(out, p.Heal)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// advance brings everything from a moment on forward.
func (p *Plan) advance(from, by time.Duration) {
	sooner := func(t *time.Duration) {
		if *t >= from {
			*t -= by
		}
	}
	for i := range p.Ops {
		sooner(&p.Ops[i].At)
	}
	for i := range p.Faults {
		sooner(&p.Faults[i].At)
	}
	for _, t := range []*time.Duration{&p.Heal, &p.Final, &p.End} {
		sooner(t)
	}
}

// round makes times short in print.
func (p *Plan) round(to time.Duration) {
	for _, t := range []*time.Duration{&p.Heal, &p.Final, &p.End} {
		*t = (*t + to - 1).Truncate(to)
	}
	for i := range p.Ops {
		p.Ops[i].At = p.Ops[i].At.Round(to)
	}
	for i := range p.Faults {
		p.Faults[i].At, p.Faults[i].For = p.Faults[i].At.Round(to), p.Faults[i].For.Round(to)
	}
}
