package workloads

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems"
)

// Agent is one client and what it is to do.
type Agent struct {
	// Name tells agents apart; it seeds the agent's stream of operations.
	Name string
	// Node is the server that Client is connected to.
	Node   string
	Client systems.Client
	// Weight is the agent's share of the rate, relative to the others'.
	Weight float64
	// Next draws an operation, without a value.
	Next func(*rand.Rand) systems.Op
}

// Load sends the agents' operations and records what comes of them.
type Load struct {
	Recorder *histories.Recorder
	// Rate is how many operations a second are due, over all agents.
	Rate float64
	Seed uint64
	// Timeout is how long the outcome of an operation is waited for.
	Timeout time.Duration
	// Values gives what the next operation that writes is to write. It is
	// called from many goroutines and must never give a value twice.
	Values func() histories.Value
	Tally  *Tally
}

// Run sends operations until stop is closed, waits for those under way, and
// returns. When ctx is over before that, those under way are abandoned, their
// outcome unknown.
func (l *Load) Run(ctx context.Context, stop <-chan struct{}, agents []Agent) {
	var weights float64
	for _, a := range agents {
		weights += a.Weight
	}
	start := time.Now()
	var wait sync.WaitGroup
	for _, a := range agents {
		rate := l.Rate * a.Weight / weights
		due := &stream{rng: Rand(l.Seed, "arrivals "+a.Name), gap: time.Duration(float64(time.Second) / rate)}
		wait.Go(func() { l.drive(ctx, stop, start, a, due) })
	}
	wait.Wait()
}

// drive sends one agent's operations.
func (l *Load) drive(ctx context.Context, stop <-chan struct{}, start time.Time, a Agent, due *stream) {
	var (
		rng    = Rand(l.Seed, "operations "+a.Name)
		sender = l.Sender(a.Client, a.Node)
		timer  = time.NewTimer(0)
	)
	defer timer.Stop()
	for {
		at, op := start.Add(due.next()), a.Next(rng)
		pause := time.Until(at)
		if pause < 0 {
			l.Tally.shed.Add(1)
			pause = 0
			select {
			case <-stop:
				return
			case <-ctx.Done():
				return
			default:
				continue
			}
		}
		timer.Reset(pause)
		select {
		case <-stop:
			return
		case <-ctx.Done():
			return
		case <-timer.C:
			sender.Send(ctx, op)
		}
	}
}

// Sender sends operations through one client, one at a time, and records them.
func (l *Load) Sender(client systems.Client, node string) *Sender {
	return &Sender{load: l, client: client, node: node}
}

// Sender records what one client of a system sends and sees. When the system
// takes the client for a new one, so does the history.
type Sender struct {
	load     *Load
	client   systems.Client
	node     string
	identity string
	recorded *histories.Client
}

// Send does op and records it. Marks are kept with both of its events. An op
// that could not be prepared was never sent, and is not recorded.
func (s *Sender) Send(ctx context.Context, op systems.Op, marks ...histories.Field) systems.Outcome {
	ctx, cancel := context.WithTimeout(ctx, s.load.Timeout)
	defer cancel()
	if op.Conditional {
		if err := s.client.Prepare(ctx, &op); err != nil {
			s.load.Tally.unsent.Add(1)
			return systems.Outcome{Type: histories.Fail, Err: err}
		}
	}
	if op.F != "read" {
		op.Value = s.load.Values()
	}
	if id := s.client.Identity(); s.recorded == nil || id != s.identity {
		s.recorded, s.identity = s.load.Recorder.Client(), id
	}
	event := invocation(op, s.node)
	event.Extra = append(event.Extra, marks...)
	acked := s.load.Tally.acked(op.Key)
	pending := s.recorded.Invoke(event)
	outcome := s.client.Invoke(ctx, op)
	switch outcome.Type {
	case histories.OK:
		event.Version = outcome.Version
		if op.F == "read" {
			event.Value = outcome.Value
		}
		pending.OK(event)
	case histories.Fail:
		pending.Fail(outcome.Err)
	default:
		pending.Info(outcome.Err)
	}
	s.load.Tally.count(op, outcome, acked)
	return outcome
}

// invocation is how op stands in a history before its outcome is known.
func invocation(op systems.Op, node string) histories.Event {
	e := histories.Event{
		F:     op.F,
		Key:   histories.String(op.Key),
		Value: op.Value,
		Node:  node,
		Path:  op.Path,
	}
	switch {
	case op.F == "cas":
		e.Value = histories.List(op.Expected, op.Value)
	case op.Conditional:
		e.Extra = append(e.Extra, histories.Field{Name: "expect", Value: histories.Int(op.ExpectedVersion)})
	}
	return e
}
