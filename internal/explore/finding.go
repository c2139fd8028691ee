package explore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Finding is a failure and the least case that shows it.
type Finding struct {
	Failure
	Case *Case
	// Guarded tells that the same plan does not fail alike with every guard
	// on. It says nothing where none was off.
	Guarded bool
}

// Shrunk sizes are what a shrunk case should not exceed; where one does, another
// run of the same failure is tried.
const (
	shrunkFaults = 6
	shrunkOps    = 30
)

// Shrink makes the least case of every failure of a result, in its order. When
// ctx is over, what is not done yet stays as it was found. Progress is told, from
// one goroutine at a time, how many are done.
func (s *Search) Shrink(ctx context.Context, r *Result, progress func(done, of int)) ([]Finding, error) {
	d := s.withDefaults()
	findings, errs := make([]Finding, len(r.Sightings)), make([]error, len(r.Sightings))
	todo := make(chan int)
	var workers sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for range d.Workers {
		workers.Go(func() {
			for i := range todo {
				findings[i], errs[i] = r.Sightings[i].least(ctx)
				mu.Lock()
				if done++; progress != nil {
					progress(done, len(findings))
				}
				mu.Unlock()
			}
		})
	}
	for i := range findings {
		todo <- i
	}
	close(todo)
	workers.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return nil, fmt.Errorf("%s: %w", r.Sightings[i].Failure, errs[i])
	}
	return findings, nil
}

// least shrinks the runs of a failure one after the other until one is small.
func (s *Sighting) least(ctx context.Context) (Finding, error) {
	var best *Plan
	for _, p := range s.Plans {
		if best != nil && (small(best) || ctx.Err() != nil) {
			break
		}
		q, err := Shrink(ctx, p, s.Failure)
		if err != nil {
			return Finding{}, err
		}
		if best == nil || len(q.Ops)+len(q.Faults) < len(best.Ops)+len(best.Faults) {
			best = q
		}
	}
	return finish(context.WithoutCancel(ctx), best, s.Failure)
}

func small(p *Plan) bool { return len(p.Faults) <= shrunkFaults && len(p.Ops) <= shrunkOps }

// finish makes a finding of a shrunk plan.
func finish(ctx context.Context, p *Plan, f Failure) (Finding, error) {
	about := fmt.Sprintf("found by explore in %s, seed %d", p.System, p.Seed)
	if len(p.Off) > 0 {
		about += ", without " + strings.Join(p.Off, ", ")
	}
	c, err := NewCase(ctx, p, about)
	if err != nil {
		return Finding{}, err
	}
	found := Finding{Failure: f, Case: c}
	if len(p.Off) == 0 {
		return found, nil
	}
	guarded := p.clone()
	guarded.Off = nil
	o, err := guarded.Run(ctx, true)
	if err != nil {
		return Finding{}, fmt.Errorf("with every guard on: %w", err)
	}
	found.Guarded = !slices.Contains(o.Failures, f)
	return found, nil
}
