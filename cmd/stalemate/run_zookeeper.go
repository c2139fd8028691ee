package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/nemesis"
	"github.com/stalemate-io/stalemate/systems"
	"github.com/stalemate-io/stalemate/systems/zookeeper"
	"github.com/stalemate-io/stalemate/workloads"
	"github.com/stalemate-io/stalemate/workloads/register"
)

// zookeeperSettings are the flags of run zookeeper.
type zookeeperSettings struct {
	on        string
	image     string
	addr      []string
	servers   int
	tickTime  time.Duration
	syncLimit int

	read    string
	rate    float64
	clients int
	keys    int
	length  time.Duration
	opTime  time.Duration
	settle  time.Duration
	seed    int64

	faults     string
	faultEvery time.Duration
	faultFor   time.Duration
	delay      time.Duration

	store   string
	name    string
	timeout time.Duration
	json    bool
}

// writeShare is the part of the operations that write.
const writeShare = 0.25

func newRunZooKeeper() *cobra.Command {
	var s zookeeperSettings
	c := &cobra.Command{
		Use:   "zookeeper",
		Short: "Run a real ZooKeeper ensemble and look for stale reads",
		Example: `  # Is a sync before a read enough? Pause the leader and see.
  stalemate run zookeeper --read sync --faults pause-leader --time 30s

  # All read paths side by side, two kinds of faults, small ticks.
  stalemate run zookeeper --read all --faults isolate-leader,slow-link --tick-time 1s

  # The same with each server in a container on a network of the run's own.
  stalemate run zookeeper --on docker --faults kill,pause,isolate-leader

  # An ensemble that somebody else runs; nothing is broken.
  stalemate run zookeeper --on connect --addr zk1:2181,zk2:2181,zk3:2181

  # The same operations, keys, fault times and targets once more.
  stalemate run zookeeper --faults kill-leader --seed 42`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if !c.Flags().Changed("seed") {
				s.seed = int64(rand.Uint32())
			}
			return runZooKeeper(c, s)
		},
	}
	s.bind(c.Flags())
	return c
}

// bind makes the flags, with their defaults, set the settings.
func (s *zookeeperSettings) bind(f *pflag.FlagSet) {
	f.StringVar(&s.on, "on", "local", "where the ensemble runs: local (processes of this machine), docker or connect")
	zookeeperImage(f, &s.image)
	f.StringSliceVar(&s.addr, "addr", nil, "client addresses of the servers, host:port,… (with --on connect)")
	f.IntVar(&s.servers, "servers", zookeeper.DefaultServers, "servers of a local ensemble: 1, 3 or 5")
	f.DurationVar(&s.tickTime, "tick-time", zookeeper.DefaultTickTime, "ZooKeeper's tickTime")
	f.IntVar(&s.syncLimit, "sync-limit", zookeeper.DefaultSyncLimit, "ZooKeeper's syncLimit, in ticks")
	f.StringVar(&s.read, "read", "all", "read paths: get, sync, write, check, watch, several with commas, or all")
	f.Float64Var(&s.rate, "rate", 400, "operations a second, over all clients")
	f.IntVar(&s.clients, "clients", 1, "writers on each server, and readers for each path on each server")
	f.IntVar(&s.keys, "keys", 5, "registers")
	f.DurationVar(&s.length, "time", 30*time.Second, "how long the clients run")
	f.DurationVar(&s.opTime, "op-timeout", 5*time.Second, "how long a client waits for an answer")
	f.DurationVar(&s.settle, "settle", 30*time.Second, "how long the servers may take to agree after the last fault")
	f.Int64Var(&s.seed, "seed", 0, "decides operations, keys, fault times and targets (default random)")
	f.StringVar(&s.faults, "faults", "none", "what to break: "+strings.Join(nemesis.Names(), ", ")+", several with commas, or none")
	f.DurationVar(&s.faultEvery, "fault-every", 0, "one fault in each such period (default: twice the fault and healthy time)")
	f.DurationVar(&s.faultFor, "fault-for", 0, "how long a fault lasts (default: syncLimit ticks and a second, longer than the servers' patience)")
	f.DurationVar(&s.delay, "delay", nemesis.DefaultDelay, "delay of a slow link")
	f.StringVar(&s.store, "store", "store", "folder in which runs are kept")
	f.StringVar(&s.name, "name", "zookeeper", "the run's name, a folder in the store")
	f.DurationVar(&s.timeout, "timeout", 0, "time limit of the check that follows the run (default: the checker's)")
	f.BoolVar(&s.json, "json", false, "print the verdict as JSON")
}

// zookeeperImage makes the flag that names the image of the servers.
func zookeeperImage(f *pflag.FlagSet, to *string) {
	f.StringVar(to, "zookeeper-image", "", "image of ZooKeeper's servers (with --on docker; default: what make images built, else "+zookeeper.OfficialImage+")")
}

// patience is how long the servers bear with each other's silence.
func (s zookeeperSettings) patience() time.Duration {
	return time.Duration(s.syncLimit) * s.tickTime
}

// healthy is how long the ensemble is left alone around each fault: what a
// paused leader does on waking, it does within a tick.
func (s zookeeperSettings) healthy() time.Duration { return s.tickTime + 500*time.Millisecond }

// withDefaults fills in what depends on other settings.
func (s zookeeperSettings) withDefaults() zookeeperSettings {
	if s.faultFor == 0 {
		s.faultFor = s.patience() + time.Second
	}
	if s.faultEvery == 0 {
		s.faultEvery = max(2*s.faultFor, s.faultFor+2*s.healthy())
	}
	return s
}

// plan is a checked set of settings.
type plan struct {
	settings zookeeperSettings
	paths    []systems.Path
	faults   []nemesis.Fault
	windows  []nemesis.Window
	options  register.Options
}

// plan checks the settings before anything is started.
func (s zookeeperSettings) plan() (p plan, err error) {
	s = s.withDefaults()
	p.settings = s
	switch {
	case s.on != "local" && s.on != "connect" && s.on != "docker":
		return p, fmt.Errorf("--on %s: expected local, docker or connect", s.on)
	case s.on != "docker" && s.image != "":
		return p, errors.New("--zookeeper-image goes with --on docker")
	case s.on == "connect" && len(s.addr) == 0:
		return p, errors.New("--on connect needs --addr host:port,…")
	case s.on != "connect" && len(s.addr) > 0:
		return p, errors.New("--addr goes with --on connect")
	}
	for _, a := range s.addr {
		if _, _, err := net.SplitHostPort(a); err != nil {
			return p, fmt.Errorf("--addr %s: expected host:port", a)
		}
	}
	if p.paths, err = zookeeper.ParsePaths(s.read); err != nil {
		return p, fmt.Errorf("--read: %w", err)
	}
	if p.faults, err = nemesis.Parse(s.faults, nemesis.Settings{Delay: s.delay}); err != nil {
		return p, fmt.Errorf("--faults: %w", err)
	}
	if s.on == "connect" && len(p.faults) > 0 {
		return p, errors.New("--faults: an ensemble that somebody else runs is not broken; use --on local")
	}
	schedule := nemesis.Schedule{Total: s.length, Every: s.faultEvery, For: s.faultFor, Healthy: s.healthy()}
	if p.windows, err = schedule.Windows(p.faults, workloads.Rand(uint64(s.seed), "fault times")); err != nil {
		return p, err
	}
	if s.length <= 0 {
		return p, fmt.Errorf("--time %v: expected more than nothing", s.length)
	}
	p.options = s.workload(p.paths)
	return p, p.options.Check()
}

// workload gives the settings of the registers.
func (s zookeeperSettings) workload(paths []systems.Path) register.Options {
	o := register.Options{
		Keys:    s.keys,
		Clients: s.clients,
		Final:   zookeeper.PathGet,
		Caches:  []string{zookeeper.PathWatch},
		Rate:    s.rate,
		Writes:  writeShare,
		Seed:    uint64(s.seed),
		Timeout: s.opTime,
		Settle:  s.settle,
	}
	for _, p := range paths {
		o.Paths = append(o.Paths, p.Name)
	}
	return o
}

// info is what run.json says of a run with these settings.
func (s zookeeperSettings) info(command []string, flags map[string]string) histories.RunInfo {
	return histories.RunInfo{
		Name:       s.name,
		System:     "zookeeper",
		Deployment: s.on,
		Settings:   flags,
		Seed:       s.seed,
		Versions:   map[string]string{"stalemate": version(), "go": runtime.Version()},
		Command:    command,
		Model:      "versioned-register",
		Promises:   zookeeper.Promises(s.keys),
	}
}

// flagValues gives every flag's value, with the defaults that depend on others
// filled in.
func (s zookeeperSettings) flagValues(flags *pflag.FlagSet) map[string]string {
	values := map[string]string{}
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" {
			values[f.Name] = f.Value.String()
		}
	})
	values["fault-for"], values["fault-every"] = s.faultFor.String(), s.faultEvery.String()
	values["seed"] = strconv.FormatInt(s.seed, 10)
	return values
}

// ensemble is what a run needs of ZooKeeper, whoever runs it.
type ensemble interface {
	systems.Cluster
	ClientAddr(node string) string
	Version() string
}

// registers gives the registers of one run on an ensemble.
func registers(e ensemble, run *histories.Run) *zookeeper.Registers {
	var servers []zookeeper.Server
	for _, node := range e.Nodes() {
		servers = append(servers, zookeeper.Server{Name: node, Address: e.ClientAddr(node)})
	}
	return zookeeper.NewRegisters(servers, registersName(run), zookeeper.DefaultSession)
}

// registersName tells the registers of one run from those of others.
func registersName(run *histories.Run) string {
	return strconv.FormatInt(run.Info.Started.UnixNano(), 36)
}

// runZooKeeper is the whole of stalemate run zookeeper.
func runZooKeeper(c *cobra.Command, s zookeeperSettings) (err error) {
	p, err := s.plan()
	if err != nil {
		return &exitError{exitUsage, err}
	}
	report := newProgress(c.ErrOrStderr())
	guard := newGuard(report)
	defer guard.release()
	run, err := p.createRun(commandLine(), c.Flags())
	if err != nil {
		return &exitError{exitFailed, err}
	}
	report.say("run %s, seed %d", run.Dir, s.seed)
	e, err := p.start(c.Context(), run.Path("nodes"), guard, report)
	if err == nil {
		err = errors.Join(p.record(c.Context(), e, run, report), e.Close())
	}
	if err == nil {
		if unread := keepLog(e, run); unread != nil {
			report.say("judged without the servers' own logs: %v", unread)
		}
	}
	if err = end(c.Context(), run, err); err != nil {
		return &exitError{exitFailed, fmt.Errorf("%w\n(what there is of the run is in %s)", err, run.Dir)}
	}
	return judge(c, run, s.timeout, s.json)
}

// createRun makes the folder of a run with these settings.
func (p plan) createRun(command []string, flags *pflag.FlagSet) (*histories.Run, error) {
	s := p.settings
	return histories.CreateRun(s.store, s.info(command, s.flagValues(flags)))
}

// start gives the ensemble to run against, with all it needs for the planned
// faults; dir is for what a local one keeps.
func (p plan) start(ctx context.Context, dir string, guard *guard, report *progress) (e ensemble, err error) {
	s := p.settings
	o := zookeeper.Options{Servers: s.servers, TickTime: s.tickTime, SyncLimit: s.syncLimit, Dir: dir}
	switch s.on {
	case "connect":
		report.say("connecting to %s", strings.Join(s.addr, ", "))
		e, err = zookeeper.Connect(ctx, s.addr)
	case "docker":
		report.say("starting %d ZooKeeper servers as containers", s.servers)
		e, err = zookeeper.LaunchContained(ctx, o, s.image)
	default:
		report.say("starting %d ZooKeeper servers", s.servers)
		e, err = zookeeper.Launch(ctx, o)
	}
	if err != nil {
		return nil, err
	}
	guard.holds(e)
	for _, f := range p.faults {
		if err := f.Available(e); err != nil {
			return nil, errors.Join(fmt.Errorf("fault %s: %w", f.Name(), err), e.Close())
		}
	}
	return e, nil
}

// record does the experiment on a running ensemble, in run's folder.
func (p plan) record(ctx context.Context, e ensemble, run *histories.Run, report *progress) (err error) {
	info := run.Info
	info.Versions["zookeeper"] = e.Version()
	if c, ok := e.(*zookeeper.Contained); ok {
		info.Versions["docker"], info.Versions["image"] = c.Engine(), c.Image()
	}
	if err := run.SetInfo(info); err != nil {
		return err
	}
	r := registers(e, run)
	defer func() { err = errors.Join(err, r.Close()) }()
	err = experiment{
		cluster: e,
		system:  r,
		options: p.options,
		length:  p.settings.length,
		windows: p.windows,
		healthy: p.settings.healthy(),
		report:  report,
	}.record(ctx, run)
	if p.settings.on == "connect" {
		cleaning, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.settings.opTime)
		defer cancel()
		if cleaned := r.Remove(cleaning); cleaned != nil {
			report.say("left behind on the ensemble: %s (%v)", r.Root(), cleaned)
		}
	}
	return err
}

// keepLog keeps with the run what an ensemble that has stopped wrote down, where
// its logs are at hand.
func keepLog(e ensemble, run *histories.Run) error {
	own, ok := e.(interface{ DataDirs() []string })
	if !ok {
		return nil // somebody else's, on machines of theirs
	}
	log, err := zookeeper.Log(own.DataDirs(), zookeeper.NewRegisters(nil, registersName(run), 0).Root())
	if err != nil {
		return err
	}
	text, err := histories.AppendLog(nil, log)
	if err != nil {
		return err
	}
	return run.WriteFile(histories.LogFile, text)
}

// end writes into run.json how the run ended and gives the error that it ended
// with, if any.
func end(ctx context.Context, run *histories.Run, failure error) error {
	outcome := histories.Finished
	if ctx.Err() != nil {
		outcome = histories.Interrupted
	}
	return errors.Join(failure, run.End(outcome, failure))
}
