package explore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/internal/toys"
	"github.com/stalemate-io/stalemate/systems/push"
	"github.com/stalemate-io/stalemate/systems/sim"
	"github.com/stalemate-io/stalemate/workloads/leadership"
)

// Plan is everything that decides one run: the same plan gives the same history,
// byte for byte.
type Plan struct {
	// System is push or kraft.
	System string
	// Workload is as in toys.Trial.
	Workload                         string
	Controllers, Brokers, Partitions int
	Seed                             uint64
	// Hurried is as in toys.Config.
	Hurried bool
	// Session is the SessionTimeout there; 0 is the default.
	Session time.Duration
	// Off and On switch guards of the system by name.
	Off, On []string
	Faults  []sim.Fault
	// Ops are what the clients do.
	Ops []leadership.Op
	// Heal is when every fault ends; 0 means never. From Final on, a stale
	// read counts as stuck; 0 means never. End is when the run is over.
	Heal, Final, End time.Duration
	// Require is what each read path is held to.
	Require map[string]checker.Level
}

// Outcome is what a plan came to.
type Outcome struct {
	Events []histories.Event
	// Verdict is nil where the clients were told nothing, or the metadata log
	// broke an invariant.
	Verdict *checker.Verdict
	// Failures are what went wrong, each once; their causes are known only of
	// runs with a trace.
	Failures []Failure
}

// config is the cluster of a plan.
func (p *Plan) config(trace bool) toys.Config {
	return toys.Config{
		System: p.System, Controllers: p.Controllers, Brokers: p.Brokers, Partitions: p.Partitions,
		Seed: p.Seed, Hurried: p.Hurried, SessionTimeout: p.Session, Off: p.Off, On: p.On, Trace: trace,
	}
}

// Run repeats the run; with a trace each failure has its cause.
func (p *Plan) Run(ctx context.Context, trace bool) (*Outcome, error) {
	k, err := toys.New(p.config(trace))
	if err != nil {
		return nil, err
	}
	clients, err := p.scripted(k)
	if err != nil {
		return nil, err
	}
	return p.play(ctx, k, clients)
}

// play runs a cluster with its clients under the faults of the plan.
func (p *Plan) play(ctx context.Context, k *toys.Cluster, clients []leadership.Client) (*Outcome, error) {
	if p.Final > 0 {
		k.At(p.Final, func() { k.Record(leadership.FinalReads()) })
	}
	for _, c := range clients {
		if err := k.AddClient(c.ID, c.New); err != nil {
			return nil, err
		}
	}
	if err := k.Schedule(p.Faults, p.Heal); err != nil {
		return nil, err
	}
	var audit *push.Audit
	if p.System == "push" {
		audit = push.NewAudit(k.Now)
		k.OnTrace(audit.Note)
	}
	k.Run(p.End)
	o := &Outcome{}
	broken, err := invariants(k, audit)
	if err != nil {
		return nil, fmt.Errorf("%s, seed %d: %w", p.System, p.Seed, err)
	}
	if k.Broken() != nil {
		// A log that has broken its own invariants tells no one truth, and
		// whatever clients were told follows from that.
		o.Events, o.Failures = k.History(), broken
		return o, nil
	}
	truth, err := k.Truth()
	if err != nil {
		return nil, fmt.Errorf("%s, seed %d: %w", p.System, p.Seed, err)
	}
	if o.Events = k.History(); p.Workload != toys.Data {
		o.Events = leadership.Merge(o.Events, truth)
	}
	if o.Verdict, err = p.judge(ctx, o.Events); err != nil {
		return nil, fmt.Errorf("%s, seed %d: %w", p.System, p.Seed, err)
	}
	if o.Verdict != nil && k.Config.Trace {
		if p.Workload == toys.Data {
			toys.ExplainData(o.Verdict, truth)
		} else {
			toys.Explain(p.System, o.Verdict, k.Trace(), truth)
		}
	}
	o.Failures = append(broken, p.failures(o.Verdict, o.Events)...)
	slices.SortFunc(o.Failures, Failure.Compare)
	o.Failures = slices.Compact(o.Failures)
	return o, nil
}

// judge gives the verdict on a history, nil where there is nothing to judge.
func (p *Plan) judge(ctx context.Context, events []histories.Event) (*checker.Verdict, error) {
	var b histories.Builder
	b.Expect(len(events) / 2)
	for i := range events {
		if err := b.Add(&events[i]); err != nil {
			return nil, err
		}
	}
	h, err := b.History()
	if err != nil {
		return nil, err
	}
	o := (&toys.Trial{Config: toys.Config{System: p.System}, Workload: p.Workload}).Options()
	o.Promises = p.Require
	v, err := checker.CheckContext(ctx, h, o)
	if errors.Is(err, checker.ErrNothingChecked) {
		return nil, nil
	}
	return v, err
}

// Digest is the SHA-256 of the history as JSONL.
func (o *Outcome) Digest() (string, error) {
	var b bytes.Buffer
	w, err := histories.NewWriter(&b, histories.JSONL)
	if err != nil {
		return "", err
	}
	for i := range o.Events {
		if err := w.Write(&o.Events[i]); err != nil {
			return "", err
		}
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	sum := sha256.Sum256(b.Bytes())
	return hex.EncodeToString(sum[:]), nil
}
