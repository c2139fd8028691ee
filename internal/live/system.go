package live

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/stalemate-io/stalemate/systems/docker"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/processes"
	"github.com/stalemate-io/stalemate/systems/push"
	"github.com/stalemate-io/stalemate/systems/tcp"
	"github.com/stalemate-io/stalemate/systems/zookeeper"
	"github.com/stalemate-io/stalemate/workloads/leadership"
)

// System is a toy system that runs as processes or in containers, with the ZooKeeper
// ensemble that holds its state where it has one.
type System struct {
	*processes.Cluster
	store io.Closer     // nil for kraft
	space *docker.Space // nil for processes
}

// Options say what system to start, and where.
type Options struct {
	processes.Settings
	// Dir is the folder of what the system keeps: each node's folder, and the
	// ensemble's, called store.
	Dir string
	// Containers makes each node, and each server of the ensemble, a container of
	// the Docker engine that the environment names. Image is the servers', as in
	// zookeeper.LaunchIn.
	Containers bool
	Image      string
	// Proxied is processes.Options.Proxied.
	Proxied bool
}

// Start starts a system of which nothing is left running where that fails.
func Start(ctx context.Context, o Options) (s *System, err error) {
	s = &System{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	launch := processes.Options{Settings: o.WithDefaults(), Dir: o.Dir, Proxied: o.Proxied}
	if o.Containers {
		if s.space, err = docker.OpenSpace(ctx); err != nil {
			return s, err
		}
		launch.Space = s.space
	}
	if o.System == "push" {
		if launch.Store, err = s.startStore(ctx, o, launch.SessionTimeout); err != nil {
			return s, err
		}
	}
	s.Cluster, err = processes.Launch(ctx, launch)
	return s, err
}

// startStore starts the ensemble and gives the addresses at which nodes, or proxies
// for them, reach its servers.
func (s *System) startStore(ctx context.Context, o Options, session time.Duration) (map[string]string, error) {
	options := zookeeper.Options{Dir: storeIn(o.Dir), TickTime: tickFor(session), SyncLimit: storeSyncLimit}
	if s.space != nil {
		e, err := zookeeper.LaunchIn(ctx, s.space, options, o.Image)
		if err != nil {
			return nil, err
		}
		s.store = e
		return addresses(e.Nodes(), e.Inside), nil
	}
	e, err := zookeeper.Launch(ctx, options)
	if err != nil {
		return nil, err
	}
	s.store = e
	return addresses(e.Nodes(), e.ClientAddr), nil
}

func addresses(names []string, of func(string) string) map[string]string {
	all := map[string]string{}
	for _, name := range names {
		all[name] = of(name)
	}
	return all
}

// storeSyncLimit lets the store's own servers bear with each other for longer than
// a busy machine takes: what is looked at is the system on top of them.
const storeSyncLimit = 20

// tickFor gives a tick so short that a session ends soon after its timeout: servers
// look for expired ones once a tick.
func tickFor(session time.Duration) time.Duration {
	return max(100*time.Millisecond, (session / 12).Truncate(time.Millisecond))
}

// Active is the controller that was elected last, by the traces of all: one that
// was deposed and has not noticed is not meant.
func (s *System) Active() (node.ID, error) {
	trace, err := s.Trace()
	if err != nil {
		return "", err
	}
	elected := push.TraceElected
	if s.store == nil {
		elected = "active"
	}
	active, epoch := node.ID(""), int32(-1)
	for i := range trace {
		if e := &trace[i]; e.What == elected && e.Epoch >= epoch {
			active, epoch = e.Node, e.Epoch
		}
	}
	if active == "" {
		return "", errors.New("no controller was elected yet")
	}
	return active, nil
}

// Stop has every node leave in good order, and then ends the store, so that what
// they committed can be read.
func (s *System) Stop(ctx context.Context) error {
	if err := s.Cluster.Stop(ctx); err != nil || s.store == nil {
		return err
	}
	return s.store.Close()
}

// Truth gives what a stopped system has committed, with times since a start, and
// the trace of its nodes.
func (s *System) Truth(start time.Duration) ([]leadership.Change, []tcp.Entry, error) {
	return Truth(s.Remains(), Moment{Mono: start, Wall: time.Now().Add(start - tcp.Now())})
}

// FromPush gives the changes in a store as the workload's truth, with times since
// a start. What was committed before then was so at the start.
func FromPush(changes []push.Change, start time.Duration) []leadership.Change {
	var truth []leadership.Change
	for _, c := range changes {
		if c.Moved {
			truth = append(truth, leadership.Change{
				Partition: c.Partition, Leader: c.Leader, Epoch: c.LeaderEpoch, Order: c.Zxid, At: max(0, c.At-start),
			})
		}
	}
	return truth
}

// Close kills every node, ends the store and removes the containers.
func (s *System) Close() error {
	var err error
	if s.Cluster != nil {
		err = s.Cluster.Close()
	}
	if s.store != nil {
		err = errors.Join(err, s.store.Close())
	}
	if s.space != nil {
		err = errors.Join(err, s.space.Close())
	}
	return err
}
