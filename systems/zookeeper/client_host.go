package zookeeper

import (
	"errors"
	"sync"
	"time"
)

// reconnectPause is how long a session waits between two attempts to reach its
// server. The attempts go to a server that is often known to be down, so they
// are paced, yet the moment in which a server serves again is one that the
// checks are made for and must not be slept through.
const reconnectPause = 25 * time.Millisecond

// pinnedHost is a zk.HostProvider that knows one server for ever. The library's
// own provider, given one address, fails every queued request and sleeps a
// second before each attempt to reconnect; this one says that the list never
// starts over, so that queued requests wait for the connection instead.
//
// Next is the only place where the library's connection loop can be told to
// end while the server cannot be reached: after release, Next reports that the
// list starts over, and the loop then looks whether it should quit.
type pinnedHost struct {
	address string
	pause   time.Duration

	mu       sync.Mutex
	tried    bool
	released chan struct{}
	once     sync.Once
}

func newPinnedHost(address string) *pinnedHost {
	return &pinnedHost{address: address, pause: reconnectPause, released: make(chan struct{})}
}

// Init checks that the library was given the address it is pinned to.
func (h *pinnedHost) Init(servers []string) error {
	if len(servers) != 1 {
		return errors.New("a pinned session needs exactly one server")
	}
	return nil
}

// Len is always 1.
func (h *pinnedHost) Len() int { return 1 }

// Next gives the server, at once the first time and after a pause later on.
func (h *pinnedHost) Next() (server string, retryStart bool) {
	h.mu.Lock()
	again := h.tried
	h.tried = true
	h.mu.Unlock()
	if again {
		timer := time.NewTimer(h.pause)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-h.released:
		}
	}
	select {
	case <-h.released:
		return h.address, true
	default:
		return h.address, false
	}
}

// Connected is called after each successful handshake; the pause stays, since
// a server that has lost its quorum accepts a client only to drop it.
func (h *pinnedHost) Connected() {}

// release ends the waiting in Next, now and for ever.
func (h *pinnedHost) release() { h.once.Do(func() { close(h.released) }) }
