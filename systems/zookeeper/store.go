package zookeeper

import (
	"slices"
	"sync"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
)

// Store is a node's store in a real ensemble: one session at a time, a new one
// after each expiry. A session may move between the servers; nothing asked in
// one session is ever done in another.
//
// Requests go out one by one, each after the answer to the one before, which is
// what keeps answers, and the watches that fire between them, in the order in
// which the ensemble gave them.
type Store struct {
	addresses []string
	timeout   time.Duration
	post      func(func())

	mu      sync.Mutex
	queue   []storeRequest
	changed func(bool)

	wake chan struct{} // has room for one: something is in the queue
	quit chan struct{}
	once sync.Once
	done chan struct{}
}

var _ node.Store = (*Store)(nil)

// storeRequest is what a node asked for.
type storeRequest struct {
	// ask asks the ensemble, and gives the callback that tells the node what
	// came of it. Its error is only for the session to look at.
	ask  func(*storeSession) (func(), error)
	fail func(error)
}

// OpenStore starts to look for the servers at the addresses, of which there must
// be one at least. Callbacks are
// handed to post, which must run them one after the other, and not in this
// call. A session that is silent for longer than the timeout expires.
func OpenStore(addresses []string, timeout time.Duration, post func(func())) *Store {
	s := &Store{
		addresses: addresses, timeout: timeout, post: post,
		wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
	}
	go s.live()
	return s
}

// Close ends the session, and with it its ephemeral nodes. No callback is
// posted once it has returned.
func (s *Store) Close() error {
	s.once.Do(func() { close(s.quit) })
	<-s.done
	return nil
}

// OnSession implements node.Store.
func (s *Store) OnSession(f func(established bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed = f
}

// Get implements node.Store.
func (s *Store) Get(path string, watch func(), done func(node.Stat, []byte, error)) {
	s.request(storeRequest{
		fail: func(err error) { done(node.Stat{}, nil, err) },
		ask: func(e *storeSession) (func(), error) {
			stat, data, err := e.get(path, watch)
			return func() { done(stat, data, err) }, err
		},
	})
}

// Children implements node.Store.
func (s *Store) Children(path string, watch func(), done func([]string, error)) {
	s.request(storeRequest{
		fail: func(err error) { done(nil, err) },
		ask: func(e *storeSession) (func(), error) {
			names, err := e.children(path, watch)
			return func() { done(names, err) }, err
		},
	})
}

// Multi implements node.Store.
func (s *Store) Multi(ops []node.StoreOp, done func([]node.Stat, error)) {
	s.request(storeRequest{
		fail: func(err error) { done(nil, err) },
		ask: func(e *storeSession) (func(), error) {
			stats, err := e.multi(ops)
			return func() { done(stats, err) }, err
		},
	})
}

func (s *Store) request(r storeRequest) {
	s.mu.Lock()
	s.queue = append(s.queue, r)
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// next takes a request from the queue.
func (s *Store) next() (r storeRequest, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return r, false
	}
	r, s.queue = s.queue[0], s.queue[1:]
	return r, true
}

// putBack returns a request to the head of the queue.
func (s *Store) putBack(r storeRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = slices.Insert(s.queue, 0, r)
}

// live leads one session after the other until the store is closed.
func (s *Store) live() {
	defer close(s.done)
	for {
		e, ok := s.open()
		if !ok {
			return
		}
		s.tell(true)
		e.serve()
		_ = e.Close()
		select {
		case <-s.quit:
			return
		default:
		}
		s.tell(false)
		s.expireQueue()
	}
}

// tell reports the beginning or the end of a session.
func (s *Store) tell(established bool) {
	s.post(func() {
		s.mu.Lock()
		f := s.changed
		s.mu.Unlock()
		if f != nil {
			f(established)
		}
	})
}

// expireQueue fails what was asked in a session that is over. What the node
// asks once it knows of that stays for the next one.
func (s *Store) expireQueue() {
	s.mu.Lock()
	queue := s.queue
	s.queue = nil
	s.mu.Unlock()
	for _, r := range queue {
		s.post(func() { r.fail(node.ErrExpired) })
	}
}
