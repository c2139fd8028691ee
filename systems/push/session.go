package push

import (
	"errors"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
)

// session is a node's dealing with the store within one session: it tries again
// after a lost connection, as Kafka's client does, and drops callbacks that come
// after the session has expired.
type session struct {
	env     node.Env
	store   node.Store
	backoff time.Duration
	// generation counts the sessions that have ended.
	generation uint64
	// outlived makes requests that the end of the session caught go on in the
	// next one; held are those.
	outlived bool
	held     []func()
}

// after runs f once d has passed, unless the session ends first.
func (s *session) after(d time.Duration, f func()) {
	generation := s.generation
	s.env.After(d, func() {
		if s.generation == generation {
			f()
		}
	})
}

// again runs f after the back-off, unless the session ends first.
func (s *session) again(f func()) { s.after(s.backoff, f) }

// passes tells whether a callback of an earlier moment is to go on. A lost
// connection makes it try again.
func (s *session) passes(generation uint64, err error, retry func()) bool {
	switch {
	case s.generation != generation:
		return false
	case errors.Is(err, node.ErrExpired):
		if s.outlived {
			s.held = append(s.held, retry)
		}
		return false
	case errors.Is(err, node.ErrSession):
		s.again(retry)
		return false
	}
	return true
}

// resume sends again, in a new session, what the end of the last one caught.
func (s *session) resume() {
	held := s.held
	s.held = nil
	for _, retry := range held {
		retry()
	}
}

// watcher drops a watch that fires after the session has ended.
func (s *session) watcher(watch func()) func() {
	if watch == nil {
		return nil
	}
	generation := s.generation
	return func() {
		if s.generation == generation {
			watch()
		}
	}
}

// get reads a node until the store answers. done is not called once the
// session has ended.
func (s *session) get(path string, watch func(), done func(node.Stat, []byte, error)) {
	generation := s.generation
	s.store.Get(path, s.watcher(watch), func(stat node.Stat, data []byte, err error) {
		if s.passes(generation, err, func() { s.get(path, watch, done) }) {
			done(stat, data, err)
		}
	})
}

// children lists the children of a node until the store answers; see get.
func (s *session) children(path string, watch func(), done func([]string, error)) {
	generation := s.generation
	s.store.Children(path, s.watcher(watch), func(names []string, err error) {
		if s.passes(generation, err, func() { s.children(path, watch, done) }) {
			done(names, err)
		}
	})
}

// multi writes until the store answers. When an answer was lost the write may
// be applied twice; a conditional one is then refused the second time.
func (s *session) multi(ops []node.StoreOp, done func([]node.Stat, error)) {
	generation := s.generation
	s.store.Multi(ops, func(stats []node.Stat, err error) {
		if s.passes(generation, err, func() { s.multi(ops, done) }) {
			done(stats, err)
		}
	})
}

// multiOnce is multi without the second attempt after a lost connection: done
// may get ErrSession.
func (s *session) multiOnce(ops []node.StoreOp, done func([]node.Stat, error)) {
	generation := s.generation
	s.store.Multi(ops, func(stats []node.Stat, err error) {
		lost := errors.Is(err, node.ErrSession)
		if lost && s.generation == generation || !lost && s.passes(generation, err, func() { s.multiOnce(ops, done) }) {
			done(stats, err)
		}
	})
}

// ensure creates nodes in order, where missing, and then calls done.
func (s *session) ensure(paths []string, done func()) {
	s.all(len(paths), func(i int, one func()) {
		s.multi([]node.StoreOp{{Kind: node.Create, Path: paths[i]}}, func([]node.Stat, error) { one() })
	}, done)
}

// all starts n things at once, as requests are pipelined on one connection, and
// calls done when each has called one.
func (s *session) all(n int, start func(i int, one func()), done func()) {
	if n == 0 {
		done()
		return
	}
	left := n
	one := func() {
		if left--; left == 0 {
			done()
		}
	}
	for i := range n {
		start(i, one)
	}
}

// failedOp gives the index of the operation that made a multi fail, -1 if none
// did.
func failedOp(err error) int {
	var op *node.OpError
	if errors.As(err, &op) {
		return op.Index
	}
	return -1
}
