package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/internal/live"
	"github.com/stalemate-io/stalemate/internal/toys"
	"github.com/stalemate-io/stalemate/nemesis"
	"github.com/stalemate-io/stalemate/systems/kafka"
	"github.com/stalemate-io/stalemate/workloads"
	"github.com/stalemate-io/stalemate/workloads/data"
)

// kafkaFlags are the settings of a run of real Kafka.
type kafkaFlags struct {
	options              kafka.Options
	on, faults, store    string
	faultFor, faultEvery time.Duration
	load, settle, think  time.Duration
	workload             string
	clients              int
	seed                 uint64
	name                 string // of the run, the mode by default
	json                 bool

	behind map[string]int64 // what toys.OffsetsBehind gives of the run
}

// newRunKafka runs real Kafka in one of its two modes.
func newRunKafka(mode kafka.Mode, about string) *cobra.Command {
	f := kafkaFlags{options: kafka.Options{Mode: mode}}
	c := &cobra.Command{
		Use:   string(mode),
		Short: about,
		Long: about + `.

Brokers and ` + map[kafka.Mode]string{kafka.ZooKeeper: "servers of ZooKeeper", kafka.KRaft: "controllers"}[mode] + ` are processes of this machine, or containers, with small heaps
and session time-outs shorter than Kafka's own; run.json holds every setting. Each broker is
asked by itself, past any client library's cache, who leads; clients move leaders
by reassignment and election. What the cluster committed is read from ` + map[kafka.Mode]string{kafka.ZooKeeper: "ZooKeeper's\ntransaction logs", kafka.KRaft: "the\ncontrollers' metadata logs"}[mode] + ` afterwards. Links are cut by proxies, which needs Linux and no
root; elsewhere nodes are killed and paused only. Between containers they are cut
by routes.

Kafka's jars come from "make kafka", or from KAFKA_HOME. With --on docker they come
from the image; "make kafka-images" builds one where no registry answers.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	o, fs := &f.options, c.Flags()
	fs.StringVar(&f.on, "on", "local", "where to run: local (processes of this machine) or docker")
	fs.StringVar(&o.Image, "image", "", "image of Kafka (with --on docker; default: what make kafka-images built, else "+mode.OfficialImage()+")")
	if mode == kafka.ZooKeeper {
		zookeeperImage(fs, &o.StoreImage)
	}
	fs.StringVar(&f.workload, "workload", toys.Leadership, "what clients do: leadership (move leaders, ask who leads), or data (produce, fetch)")
	fs.StringVar(&f.faults, "faults", "pause,kill,cut", "what happens, with commas: none, "+strings.Join(nemesis.Names(), ", "))
	fs.DurationVar(&f.faultFor, "fault-for", 6*time.Second, "how long a fault lasts")
	fs.DurationVar(&f.faultEvery, "fault-every", 0, "one fault in each such period (default: six seconds more than it lasts)")
	fs.DurationVar(&f.load, "time", 40*time.Second, "time under load and faults")
	fs.DurationVar(&f.settle, "settle", 35*time.Second, "time to settle before the final reads; Kafka waits 30s for a push to be answered")
	fs.DurationVar(&f.think, "think", 50*time.Millisecond, "mean time between two operations of a client")
	fs.IntVar(&f.clients, "clients", 15, "clients")
	fs.Uint64Var(&f.seed, "seed", 1, "decides what clients ask for and whom faults strike")
	fs.IntVar(&o.Brokers, "brokers", 3, "brokers")
	fs.IntVar(&o.Partitions, "partitions", 6, "partitions")
	fs.DurationVar(&o.SessionTimeout, "session-timeout", 4*time.Second, "silence after which a broker is taken for dead")
	if mode == kafka.ZooKeeper {
		fs.DurationVar(&o.PushTimeout, "push-timeout", 30*time.Second, "how long the controller waits for the answer to a push")
	}
	fs.StringVar(&o.Home, "kafka-home", "", "an unpacked release of Kafka (default: KAFKA_HOME, else what make kafka brought)")
	fs.StringVar(&f.store, "store", "store", "folder that runs are kept in")
	fs.BoolVar(&f.json, "json", false, "print the verdict as JSON")
	return c
}

// kafkaPromise is what a broker's answer is held to: KRaft promises one order, and
// the ZooKeeper era nothing.
func kafkaPromise(mode kafka.Mode) checker.Level {
	if mode == kafka.KRaft {
		return checker.OrderedLag
	}
	return checker.None
}

// kafkaHealthy is how long the cluster is left alone around a fault.
const kafkaHealthy = 3 * time.Second

func (f *kafkaFlags) run(c *cobra.Command) error {
	if err := f.check(); err != nil {
		return &exitError{exitUsage, err}
	}
	faults, err := nemesis.Parse(f.faults, nemesis.Settings{Hold: f.faultFor})
	if err != nil {
		return &exitError{exitUsage, err}
	}
	schedule := nemesis.Schedule{Total: f.load, Every: f.faultEvery, For: f.faultFor, Healthy: kafkaHealthy}
	if schedule.Every == 0 {
		schedule.Every = f.faultFor + 2*kafkaHealthy
	}
	windows, err := schedule.Windows(faults, workloads.Rand(f.seed, "fault times"))
	if err != nil {
		return &exitError{exitUsage, err}
	}
	run, verdict, err := f.do(c.Context(), newProgress(c.ErrOrStderr()), windows)
	if err != nil {
		return &exitError{exitFailed, err}
	}
	return announce(c, run, verdict, f.json)
}

// check says what cannot be run.
func (f *kafkaFlags) check() error {
	o := f.options
	switch {
	case f.on != "local" && f.on != "docker":
		return fmt.Errorf("--on %s: expected local or docker", f.on)
	case f.on == "local" && o.Image != "":
		return errors.New("--image goes with --on docker")
	case f.on == "local" && o.StoreImage != "":
		return errors.New("--zookeeper-image goes with --on docker")
	case f.on == "docker" && o.Home != "":
		return errors.New("--kafka-home goes with --on local; containers run from --image")
	case f.workload != toys.Leadership && f.workload != toys.Data:
		return fmt.Errorf("--workload %s: expected %s or %s", f.workload, toys.Leadership, toys.Data)
	}
	return nil
}

// do does a run and judges it.
func (f *kafkaFlags) do(ctx context.Context, report *progress, windows []nemesis.Window) (*histories.Run, *checker.Verdict, error) {
	if f.on == "local" { // before there is a run without them
		if _, err := kafka.Find(ctx, f.options.Mode, f.options.Home, ""); err != nil {
			return nil, nil, err
		}
	}
	run, err := f.create()
	if err != nil {
		return nil, nil, err
	}
	report.say("run %s, seed %d", run.Dir, f.seed)
	if err := end(ctx, run, f.drive(ctx, run, windows, report)); err != nil {
		return nil, nil, fmt.Errorf("%w\n(what there is of the run is in %s)", err, run.Dir)
	}
	verdict, err := checkRun(context.WithoutCancel(ctx), run, checker.Options{})
	return run, verdict, err
}

func (f *kafkaFlags) create() (*histories.Run, error) {
	o := f.options
	name, model := string(o.Mode), "leadership"
	promises := map[string]string{}
	for _, p := range kafka.Paths() {
		promises[string(p)] = string(kafkaPromise(o.Mode))
	}
	if f.workload == toys.Data {
		name, model = name+"-data", "register"
		promises = map[string]string{data.Path: string(checker.OrderedLag)}
	}
	if f.name != "" {
		name = f.name
	}
	settings := map[string]string{
		"workload": f.workload,
		"faults":   f.faults, "fault-for": f.faultFor.String(), "fault-every": f.faultEvery.String(),
		"brokers": fmt.Sprint(o.Brokers), "partitions": fmt.Sprint(o.Partitions), "clients": fmt.Sprint(f.clients),
		"time": f.load.String(), "settle": f.settle.String(), "session-timeout": o.SessionTimeout.String(),
	}
	if o.Mode == kafka.ZooKeeper {
		settings["push-timeout"] = o.PushTimeout.String()
	}
	return histories.CreateRun(f.store, histories.RunInfo{
		Name: name, System: string(o.Mode), Deployment: f.on, Seed: int64(f.seed), Model: model, Promises: promises,
		Settings: settings,
		Versions: map[string]string{"stalemate": version(), "go": runtime.Version()},
		Command:  commandLine(),
	})
}

// drive launches the cluster, does the experiment and completes the history with
// what the cluster committed. It leaves nothing running.
func (f *kafkaFlags) drive(ctx context.Context, run *histories.Run, windows []nemesis.Window, report *progress) (err error) {
	guard := newGuard(report)
	defer guard.release()
	o := f.options
	o.Dir, o.Containers = run.Path(live.NodesDir), f.on == "docker"
	report.say("starting Kafka (%s): %d brokers and 3 others", o.Mode, o.Brokers)
	cluster, err := kafka.Launch(ctx, o)
	if err != nil {
		return err
	}
	guard.holds(cluster)
	defer func() { err = errors.Join(err, cluster.Close()) }()
	info := run.Info
	maps.Copy(info.Versions, cluster.Versions())
	if err := run.SetInfo(info); err != nil {
		return err
	}
	create := live.CreateClients
	if f.workload == toys.Data {
		create = (*histories.Run).CreateHistory
	}
	saw, err := create(run)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, saw.Close()) }()
	options := cluster.Options()
	var began live.Moment
	x := f.experiment(cluster, windows, report)
	x.Began = func(start live.Moment) error {
		began = start
		return live.Beginning{Start: start, Kafka: &options}.Keep(run)
	}
	err = f.record(ctx, x, saw, report)
	if err != nil || f.workload == toys.Data {
		return err // of values, clients are all that writes
	}
	report.say("stopping the nodes and reading what they committed")
	reading, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	if err := cluster.Stop(reading); err != nil {
		return err
	}
	changes, err := cluster.Truth(reading)
	if err != nil {
		return err
	}
	truth := live.FromKafka(changes, began)
	events, err := live.CompleteRun(run, truth)
	if err != nil {
		return err
	}
	f.behind = toys.OffsetsBehind(events, truth)
	for path, n := range f.behind {
		report.say("answers over %s were at most %d records of the metadata log behind", path, n)
	}
	return nil
}

// experiment is what is done to a cluster.
func (f *kafkaFlags) experiment(cluster *kafka.Cluster, windows []nemesis.Window, report *progress) *live.Experiment {
	return &live.Experiment{
		Cluster: cluster, Workload: f.clientsOf(cluster.Options()),
		Load: f.load, Settle: f.settle, Windows: windows, Healthy: kafkaHealthy, Seed: f.seed, Watch: report.fault,
	}
}

// record does the experiment.
func (f *kafkaFlags) record(ctx context.Context, x *live.Experiment, saw io.Writer, report *progress) error {
	watching, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		report.follow(watching, f.load+f.settle, x.Counts, func() {})
	}()
	_, err := x.Record(ctx, saw)
	close(watching)
	<-watched
	return err
}

// clientsOf makes the workload for a cluster. Brokers hand on to the controller what
// is its to do; in ZooKeeper mode one of them is it.
func (f *kafkaFlags) clientsOf(o kafka.Options) live.Workload {
	if f.workload == toys.Data {
		return live.Data{Brokers: o.BrokerIDs(), Partitions: o.TopicPartitions(), Clients: f.clients, Think: f.think}
	}
	return live.Leadership{
		Brokers: o.BrokerIDs(), Controllers: o.BrokerIDs(), Partitions: o.TopicPartitions(),
		Paths: kafka.Paths(), Clients: f.clients, Think: f.think,
	}
}
