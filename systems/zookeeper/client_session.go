package zookeeper

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// closeWait is how long a session is given to say goodbye to its server before
// its connection is dropped.
const closeWait = 500 * time.Millisecond

// packetSize bounds a request and an answer. Registers are small, and the
// library otherwise sets 3 MB aside for every session.
const packetSize = 64 << 10

// session is one ZooKeeper session with one server, or with any of several. It
// differs from the library's Conn in what the library leaves to its users: it always ends in
// bounded time, also while its server is stopped or gone; it does not hold on
// to the socket of an expired session; and waiting for it has a context.
type session struct {
	*zk.Conn
	hosts *hosts
	done  <-chan zk.Event // closed once the library's loop has ended

	mu     sync.Mutex
	socket net.Conn
	closed bool
	first  chan struct{} // closed at the first StateHasSession
	once   sync.Once     // for first
	end    sync.Once     // for Close
}

// openSession starts a session with the servers at the addresses, which need not
// be there yet. events is called for every event, from the library's own
// goroutines: it must not block.
func openSession(addresses []string, timeout time.Duration, events func(zk.Event)) (*session, error) {
	s := &session{hosts: newHosts(addresses...), first: make(chan struct{})}
	observe := func(e zk.Event) {
		if e.State == zk.StateHasSession {
			s.once.Do(func() { close(s.first) })
		}
		if events != nil {
			events(e)
		}
	}
	conn, done, err := zk.Connect(addresses, timeout,
		zk.WithHostProvider(s.hosts),
		zk.WithDialer(s.dial),
		zk.WithEventCallback(observe),
		zk.WithLogger(silent{}),
		zk.WithLogInfo(false),
		zk.WithMaxBufferSize(packetSize),
		zk.WithMaxConnBufferSize(packetSize),
	)
	if err != nil {
		return nil, fmt.Errorf("session with %s: %w", strings.Join(addresses, ", "), err)
	}
	s.Conn, s.done = conn, done
	return s, nil
}

// dial opens the next socket and closes the last one, which the library leaves
// open when it learns that its session expired.
func (s *session) dial(network, address string, timeout time.Duration) (net.Conn, error) {
	socket, err := net.DialTimeout(network, address, timeout)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = socket.Close()
		return nil, net.ErrClosed
	}
	if s.socket != nil {
		_ = s.socket.Close()
	}
	s.socket = socket
	return socket, nil
}

// ready waits until the session is established for the first time.
func (s *session) ready(ctx context.Context) error {
	select {
	case <-s.first:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("no session with %s yet (%v): is the server up, and part of a quorum?", strings.Join(s.hosts.addresses, ", "), s.State())
	}
}

// Close ends the session: in good order where the server answers, by dropping
// the connection where it does not. The library's own Close bounds its wait for
// the server but not that of its connection loop, which is what holds on to
// everything; Close here returns when both have ended.
func (s *session) Close() error {
	s.end.Do(func() {
		goodbye := make(chan struct{})
		go func() {
			s.Conn.Close()
			close(goodbye)
		}()
		if !s.loopEnds(closeWait) {
			s.hosts.release()
			s.drop()
			for range s.done {
			}
		}
		<-goodbye
	})
	return nil
}

// loopEnds waits for the library's loop, and reports whether it ended in time.
func (s *session) loopEnds(within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	for {
		select {
		case _, open := <-s.done:
			if !open {
				return true
			}
		case <-timer.C:
			return false
		}
	}
}

// drop closes the socket and lets no other be opened.
func (s *session) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.socket != nil {
		_ = s.socket.Close()
	}
}

// silent is the logger of a library that must not write into our output.
type silent struct{}

func (silent) Printf(string, ...any) {}

// await runs f, which blocks in the library, and waits for it until ctx is over.
// f then goes on by itself until the library lets it go, which happens at the
// latest when the session is closed; its result is dropped, so that whatever it
// was doing stays unknown. f gets ctx to look at between two steps.
func await[T any](ctx context.Context, f func(context.Context) (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	results := make(chan result, 1)
	go func() {
		value, err := f(ctx)
		results <- result{value, err}
	}()
	select {
	case r := <-results:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ended(ctx)
	}
}
