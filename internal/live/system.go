package live

import (
	"context"
	"errors"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/processes"
	"github.com/stalemate-io/stalemate/systems/push"
	"github.com/stalemate-io/stalemate/systems/tcp"
	"github.com/stalemate-io/stalemate/systems/zookeeper"
	"github.com/stalemate-io/stalemate/workloads/leadership"
)

// System is a toy system that runs as processes, with the ZooKeeper ensemble that
// holds its state where it has one.
type System struct {
	*processes.Cluster
	store *zookeeper.Ensemble // nil for kraft
}

// Start starts a system of which nothing is left running where that fails. It
// keeps what it has in dir: each node's folder, and the ensemble's, called store.
func Start(ctx context.Context, settings processes.Settings, dir string) (s *System, err error) {
	s = &System{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	o := processes.Options{Settings: settings.WithDefaults(), Dir: dir}
	if settings.System == "push" {
		s.store, err = zookeeper.Launch(ctx, zookeeper.Options{
			Dir: storeIn(dir), TickTime: tickFor(o.SessionTimeout), SyncLimit: storeSyncLimit,
		})
		if err != nil {
			return s, err
		}
		o.Store = map[string]string{}
		for _, name := range s.store.Nodes() {
			o.Store[name] = s.store.ClientAddr(name)
		}
	}
	s.Cluster, err = processes.Launch(ctx, o)
	return s, err
}

// StartContained starts a system whose nodes are containers, as Start does. It has
// to be one that needs no ensemble.
func StartContained(ctx context.Context, settings processes.Settings, dir string) (*System, error) {
	c, err := processes.Launch(ctx, processes.Options{Settings: settings.WithDefaults(), Dir: dir, Containers: true})
	if err != nil {
		return nil, err
	}
	return &System{Cluster: c}, nil
}

// storeSyncLimit lets the store's own servers bear with each other for longer than
// a busy machine takes: what is looked at is the system on top of them.
const storeSyncLimit = 20

// tickFor gives a tick so short that a session ends soon after its timeout: servers
// look for expired ones once a tick.
func tickFor(session time.Duration) time.Duration {
	return max(100*time.Millisecond, (session / 12).Truncate(time.Millisecond))
}

// Store is the ensemble that holds the system's state, nil where it has none.
func (s *System) Store() *zookeeper.Ensemble { return s.store }

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

// Close kills every node and ends the store.
func (s *System) Close() error {
	var err error
	if s.Cluster != nil {
		err = s.Cluster.Close()
	}
	if s.store != nil {
		err = errors.Join(err, s.store.Close())
	}
	return err
}
