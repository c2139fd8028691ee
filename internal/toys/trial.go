package toys

import (
	"context"
	"fmt"
	"time"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/sim"
	"github.com/stalemate-io/stalemate/workloads/leadership"
)

// Trial is one run of the workload leadership on one system under faults.
type Trial struct {
	Config
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

// Promises is what each read path of a system promises.
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
	if err := addClients(k.World, leadership.Options{
		Brokers: k.Brokers, Controllers: k.Controllers, Partitions: k.Partitions, Paths: k.Paths,
		Clients: t.Clients, Think: t.Think, From: t.Warmup, Until: heal, Final: heal + t.Settle,
	}); err != nil {
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
	o.Events = leadership.Merge(k.History(), o.Truth)
	if o.Verdict, err = Judge(ctx, t.System, o.Events); err != nil {
		return nil, fmt.Errorf("%s, seed %d: %w", t.System, t.Seed, err)
	}
	if t.Trace {
		Explain(t.System, o.Verdict, o.Trace, o.Truth)
	}
	return o, nil
}

// Judge checks a merged history against what the system's paths promise.
func Judge(ctx context.Context, system string, events []histories.Event) (*checker.Verdict, error) {
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
	return checker.CheckContext(ctx, h, checker.Options{
		Model: "leadership", Promises: Promises(system),
	})
}
