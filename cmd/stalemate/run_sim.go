package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/internal/toys"
	"github.com/stalemate-io/stalemate/nemesis"
	"github.com/stalemate-io/stalemate/systems/sim"
)

// simFlags are the settings of a run in the simulator.
type simFlags struct {
	trial   toys.Trial
	on      string
	trouble string
	store   string
	json    bool

	nodes string // of a cluster that runs already
	image string // of ZooKeeper's servers

	// Of processes only.
	faults               string
	faultFor, faultEvery time.Duration
}

// newRunSim runs a toy system, in the simulator or as processes.
func newRunSim(system, about string) *cobra.Command {
	f := simFlags{trial: toys.Trial{Config: toys.Config{System: system}}}
	c := &cobra.Command{
		Use:   system,
		Short: about,
		Long: about + `.

Three controllers, five brokers, twelve partitions and twenty clients are
simulated in virtual time: the same seed gives the same history, byte for byte.
With --on local they run in real time, each node a process of its own that is
killed, paused and cut off for real, with --on docker a container; --trouble is of
the simulator, --faults of both. With --on connect clients visit a cluster of stalemate node that somebody
else runs, whose topic t has --partitions partitions; nothing is broken there, and
what it committed is known only by what clients are told. Clients move leaders and ask who leads; what the system itself
committed is merged into the history afterwards.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	f.bind(c.Flags())
	return c
}

// bind makes the flags, with their defaults, set the settings.
func (f *simFlags) bind(fs *pflag.FlagSet) {
	t := &f.trial
	fs.StringVar(&f.on, "on", "sim", "where to run: sim, local for processes of this machine, docker, or connect for a cluster that runs already")
	fs.StringVar(&f.nodes, "nodes", "", "with --on connect, where each node is reached: c1=host:9001,b1=host:9092,…")
	if t.System == "push" {
		zookeeperImage(fs, &f.image)
	}
	fs.StringVar(&t.Workload, "workload", toys.Leadership, "what clients do: leadership (move leaders, ask who leads), or data (produce, fetch; in the simulator)")
	fs.StringVar(&f.trouble, "trouble", "storm", "what happens to a simulated cluster: none, "+familyNames())
	fs.StringVar(&f.faults, "faults", "kill,pause,cut", "what happens to processes, with commas: none, "+strings.Join(nemesis.Names(), ", ")+
		"; kill stands for all that begin with kill-, and so on")
	fs.DurationVar(&f.faultFor, "fault-for", 2*time.Second, "how long a fault of processes lasts")
	fs.DurationVar(&f.faultEvery, "fault-every", 0, "one fault of processes in each such period (default: two seconds more than it lasts)")
	fs.Uint64Var(&t.Seed, "seed", 1, "decides everything that is left to chance")
	fs.IntVar(&t.Controllers, "controllers", 3, "controllers")
	fs.IntVar(&t.Brokers, "brokers", 5, "brokers")
	fs.IntVar(&t.Partitions, "partitions", 12, "partitions")
	fs.IntVar(&t.Clients, "clients", 20, "clients")
	fs.DurationVar(&t.Load, "time", 20*time.Second, "time under load and faults")
	fs.DurationVar(&t.Settle, "settle", 12*time.Second, "time to settle before the final reads")
	fs.StringSliceVar(&t.Off, "guards-off", nil, "guards to switch off, beside those of the trouble")
	fs.StringSliceVar(&t.On, "guards-on", nil, "extra guards to switch on")
	fs.StringVar(&f.store, "store", "store", "folder that runs are kept in")
	fs.BoolVar(&f.json, "json", false, "print the verdict as JSON")
}

func (f *simFlags) run(c *cobra.Command) error {
	if f.image != "" && f.on != "docker" {
		return errors.New("--zookeeper-image goes with --on docker")
	}
	switch f.on {
	case "sim":
	case "local", "docker":
		if f.trial.Workload != toys.Leadership {
			return fmt.Errorf("--workload %s --on %s: expected leadership; other workloads run in the simulator", f.trial.Workload, f.on)
		}
		return f.runLocal(c)
	case "connect":
		return f.runConnect(c)
	default:
		return fmt.Errorf("--on %s: expected sim, local, docker or connect", f.on)
	}
	t, err := f.plan()
	if err != nil {
		return err
	}
	o, err := t.Run(c.Context())
	if err != nil {
		return &exitError{exitFailed, err}
	}
	run, err := f.record(c, t, o)
	if err != nil {
		return &exitError{exitFailed, err}
	}
	if o.Broken != nil {
		fmt.Fprintln(c.ErrOrStderr(), "the system broke an invariant of its own,", o.Broken)
	}
	text, err := verdictJSON(o.Verdict)
	if err == nil {
		err = run.WriteFile(histories.VerdictFile, text)
	}
	if err != nil {
		return &exitError{exitFailed, err}
	}
	return announce(c, run, o.Verdict, f.json)
}

// plan is what the flags say is to be simulated.
func (f *simFlags) plan() (toys.Trial, error) {
	t := f.trial
	t.Warmup, t.Trace = 6*time.Second, true
	if f.trouble == "none" {
		return t, nil
	}
	families, err := familiesNamed([]string{f.trouble})
	if err != nil {
		return t, err
	}
	t.Schedule = func(k *toys.Cluster) []sim.Fault { return families[0].Schedule(k, t.Warmup, t.Warmup+t.Load) }
	if t.System == "push" {
		t.Off = append(t.Off, families[0].Off...)
	}
	return t, nil
}

// record writes the folder of a run.
func (f *simFlags) record(c *cobra.Command, t toys.Trial, o *toys.Outcome) (run *histories.Run, err error) {
	promises := map[string]string{}
	judged := t.Options()
	for path, level := range judged.Promises {
		promises[path] = string(level)
	}
	run, err = histories.CreateRun(f.store, histories.RunInfo{
		Name: t.System + "-" + f.trouble, System: t.System, Deployment: "sim", Seed: int64(t.Seed), Model: judged.Model, Promises: promises,
		Settings: map[string]string{
			"trouble": f.trouble, "workload": t.Workload, "controllers": fmt.Sprint(t.Controllers), "brokers": fmt.Sprint(t.Brokers),
			"partitions": fmt.Sprint(t.Partitions), "clients": fmt.Sprint(t.Clients), "time": t.Load.String(),
			"settle": t.Settle.String(), "guards-off": strings.Join(t.Off, ","), "guards-on": strings.Join(t.On, ","),
		},
		Versions: map[string]string{"go": runtime.Version()}, Command: os.Args,
	})
	if err != nil {
		return nil, err
	}
	defer func() {
		outcome := histories.Finished
		if err != nil {
			outcome = histories.Broken
		}
		err = errors.Join(err, run.End(outcome, err))
	}()
	file, err := run.CreateHistory()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(writeEvents(file, o.Events), file.Close()); err != nil {
		return nil, err
	}
	var faults strings.Builder
	for i := range o.Faults {
		faults.WriteString(o.Faults[i].String() + "\n")
	}
	return run, run.WriteFile("faults.txt", []byte(faults.String()))
}
