package scenarios

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/internal/live"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/processes"
	"github.com/stalemate-io/stalemate/systems/sim"
	"github.com/stalemate-io/stalemate/systems/tcp"
	"github.com/stalemate-io/stalemate/workloads/leadership"
)

// localSession is the session timeout, that of the simulator's clusters.
const localSession = 6 * time.Second

// Local has scenarios played by processes of this machine, or in containers of its
// Docker engine, push on a real ZooKeeper ensemble. Each cluster keeps what it has
// in a folder of its own below Dir.
type Local struct {
	Dir        string
	Containers bool
	// Started, if not nil, is told of each cluster while it runs.
	Started func(*live.System)
}

// start starts the cluster of the act of that number.
func (l *Local) start(ctx context.Context, number int, a *Act) (s *real, err error) {
	s = &real{ctx: ctx}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	s.system, err = live.Start(ctx, live.Options{
		Settings: processes.Settings{
			System: a.System, Controllers: controllerCount, Brokers: brokerCount, Partitions: partitionCount,
			SessionTimeout: localSession, Off: a.Off, On: a.On,
		},
		Dir:        filepath.Join(l.Dir, strconv.Itoa(number)+"-"+a.System),
		Containers: l.Containers, Proxied: true,
	})
	if err != nil {
		return s, err
	}
	if l.Started != nil {
		l.Started(s.system)
	}
	s.started = tcp.Now()
	s.recorder = histories.NewRecorderAt(&s.saw, func() int64 { return int64(s.now()) })
	s.breaker = live.NewBreaker(s.system, s.recorder.Note, s.started)
	s.asker, err = live.NewAsker(s.system, "x1")
	return s, err
}

// real is a cluster of processes or containers.
type real struct {
	ctx      context.Context
	system   *live.System
	breaker  *live.Breaker
	asker    *live.Asker
	recorder *histories.Recorder
	saw      bytes.Buffer
	started  time.Duration // by tcp.Now
	told     []sim.Entry
	seen     map[node.ID]int // how many lines of whose trace are told
	done     int             // how many of the breaker's entries are
	failure  error
}

func (s *real) nodes() (ids []node.ID) {
	return append(s.system.Options().ControllerIDs(), s.brokers()...)
}

func (s *real) brokers() []node.ID { return s.system.Options().BrokerIDs() }
func (s *real) now() time.Duration { return tcp.Now() - s.started }

func (s *real) active() node.ID {
	id, err := s.system.Active()
	s.failure = errors.Join(s.failure, err)
	return id
}

func (s *real) wait(d time.Duration) error {
	select {
	case <-time.After(d):
		return errors.Join(s.failure, s.system.Died())
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	}
}

func (s *real) call(to node.ID, m node.Message, timeout time.Duration, done func(node.Message, error)) error {
	answer, err := s.asker.Call(to, m, timeout)
	done(answer, err)
	return context.Cause(s.ctx)
}

func (s *real) fault(f sim.Fault) error         { return s.breaker.Inject(f) }
func (s *real) recording() leadership.Recording { return live.Recording(s.recorder) }
func (s *real) record(e histories.Event)        { s.recorder.Note(e) }

// trace adds what is new, in order of time, behind what was told before.
func (s *real) trace() ([]sim.Entry, error) {
	lines, err := s.system.Trace()
	if err != nil {
		return nil, err
	}
	if s.seen == nil {
		s.seen = map[node.ID]int{}
	}
	entries := s.breaker.Entries()
	fresh := slices.Clone(entries[s.done:])
	s.done = len(entries)
	count := map[node.ID]int{}
	for _, e := range live.Notes(lines, s.started) {
		if count[e.Node]++; count[e.Node] > s.seen[e.Node] {
			s.seen[e.Node]++
			fresh = append(fresh, e)
		}
	}
	slices.SortStableFunc(fresh, func(a, b sim.Entry) int { return cmp.Compare(a.At, b.At) })
	s.told = append(s.told, fresh...)
	return s.told, nil
}

func (s *real) truth() ([]leadership.Change, bool, error) { return nil, false, nil }

// end ends the processes without a word, so that nothing happens any more, and
// reads what they left.
func (s *real) end() ([]histories.Event, []leadership.Change, error) {
	err := errors.Join(s.failure, s.system.Died(), s.system.Close(), s.breaker.Close(), s.recorder.Close())
	if err != nil {
		return nil, nil, err
	}
	truth, _, err := s.system.Truth(s.started)
	if err != nil {
		return nil, nil, err
	}
	var events []histories.Event
	_, err = histories.ReadEvents(strings.NewReader(s.saw.String()), histories.ReadOptions{Format: histories.JSONL}, func(e *histories.Event) error {
		events = append(events, *e)
		return nil
	})
	return events, truth, err
}

func (s *real) close() error {
	var errs []error
	if s.breaker != nil {
		_ = s.breaker.Close() // of a cluster that may be gone; end tells
	}
	if s.asker != nil {
		errs = append(errs, s.asker.Close())
	}
	if s.system != nil {
		errs = append(errs, s.system.Close())
	}
	return errors.Join(errs...)
}
