package toys

import (
	"context"
	"fmt"
	"time"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/sim"
	"github.com/stalemate-io/stalemate/workloads/data"
	"github.com/stalemate-io/stalemate/workloads/leadership"
)

// The workloads of a Trial.
const (
	Leadership = "leadership"
	Data       = "data"
)

// Trial is one run of a workload on one system under faults.
type Trial struct {
	Config
	// Workload is Leadership, the default, or Data.
	Workload string
	// Schedule gives the faults for a cluster.
	Schedule func(*Cluster) []sim.Fault
	// Warmup is how long the cluster has to itself, Load how long clients and
	// faults go on after that, Settle how long the healed cluster is left alone
	// before the final reads.
	Warmup, Load, Settle time.Duration
	// Clients and Think as in leadership.Options.
	Clients int
	Think   time.Duration
}

// Outcome is what a trial came to.
type Outcome struct {
	Verdict *checker.Verdict
	Events  []histories.Event
	Trace   []sim.Entry
	Truth   []leadership.Change
	Faults  []sim.Fault
	// Broken is the invariant of the system that broke, if any.
	Broken error
	// Simulated is how much time passed in the world.
	Simulated time.Duration
}

// Promises is what each path of a system promises to who asks who leads.
func Promises(system string) map[string]checker.Level {
	if system == "kraft" {
		return map[string]checker.Level{
			string(protocol.ReadBroker): checker.OrderedLag,
			string(protocol.ReadLeader): checker.OrderedLag,
			string(protocol.ReadQuorum): checker.Linearizable,
		}
	}
	return map[string]checker.Level{
		string(protocol.ReadBroker): checker.None,
		string(protocol.ReadLeader): checker.None,
	}
}

// Run runs the trial and judges it; with a Trace, each anomaly has its cause.
func (t Trial) Run(ctx context.Context) (*Outcome, error) {
	k, err := New(t.Config)
	if err != nil {
		return nil, err
	}
	heal := t.Warmup + t.Load
	o := &Outcome{Simulated: heal + t.Settle + 2*time.Second}
	if err := t.addClients(k, heal); err != nil {
		return nil, err
	}
	if t.Schedule != nil {
		o.Faults = t.Schedule(k)
	}
	if err := k.Schedule(o.Faults, heal); err != nil {
		return nil, err
	}
	k.Run(o.Simulated)
	o.Broken, o.Trace = k.Broken(), k.Trace()
	if o.Truth, err = k.Truth(); err != nil {
		return nil, fmt.Errorf("seed %d: %w", t.Seed, err)
	}
	if o.Events = k.History(); t.Workload != Data {
		// Of values, clients are all that writes; of leaders they are not.
		o.Events = leadership.Merge(o.Events, o.Truth)
	}
	if o.Verdict, err = judge(ctx, o.Events, t.Options()); err != nil {
		return nil, fmt.Errorf("%s, seed %d: %w", t.System, t.Seed, err)
	}
	t.Explain(o.Verdict, o)
	return o, nil
}

// Explain sets the causes of the anomalies of a verdict on the history of an
// outcome.
func (t *Trial) Explain(v *checker.Verdict, o *Outcome) {
	switch {
	case t.Workload == Data:
		ExplainData(v, o.Truth)
	case t.Trace:
		Explain(t.System, v, o.Trace, o.Truth)
	}
}

// Options is what the trial's history is held against.
func (t *Trial) Options() checker.Options {
	if t.Workload == Data {
		// A deposed leader serves what it has, in either system.
		return checker.Options{Model: "register", Promises: map[string]checker.Level{data.Path: checker.OrderedLag}}
	}
	return checker.Options{Model: "leadership", Promises: Promises(t.System)}
}

// Judge checks a merged history of leadership against what the system's paths
// promise.
func Judge(ctx context.Context, system string, events []histories.Event) (*checker.Verdict, error) {
	t := Trial{Config: Config{System: system}}
	return judge(ctx, events, t.Options())
}

// JudgeData checks a history of workload data.
func JudgeData(ctx context.Context, events []histories.Event) (*checker.Verdict, error) {
	t := Trial{Workload: Data}
	return judge(ctx, events, t.Options())
}

func judge(ctx context.Context, events []histories.Event, o checker.Options) (*checker.Verdict, error) {
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
	return checker.CheckContext(ctx, h, o)
}
