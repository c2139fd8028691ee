package zookeeper

import (
	"sync"
	"time"
)

// reconnectPause is how long a session waits between two attempts to reach its
// server. The attempts go to a server that is often known to be down, so they
// are paced, yet the moment in which a server serves again is one that the
// checks are made for and must not be slept through.
const reconnectPause = 25 * time.Millisecond

// hosts is a zk.HostProvider that knows the same servers for ever, often only
// one. The library's own provider, given one address, fails every queued request
// and sleeps a second before each attempt to reconnect; this one says that the
// list never starts over, so that queued requests wait for the connection
// instead.
//
// Next is the only place where the library's connection loop can be told to
// end while no server can be reached: after release, Next reports that the
// list starts over, and the loop then looks whether it should quit.
type hosts struct {
	addresses []string
	pause     time.Duration

	mu       sync.Mutex
	tried    int
	released chan struct{}
	once     sync.Once
}

func newHosts(addresses ...string) *hosts {
	return &hosts{addresses: addresses, pause: reconnectPause, released: make(chan struct{})}
}

// Init does nothing: the addresses are known, and the library has shuffled its
// copy of them.
func (h *hosts) Init([]string) error { return nil }

// Len is the number of servers.
func (h *hosts) Len() int { return len(h.addresses) }

// Next gives the servers in turn, the first at once and each other after a pause.
func (h *hosts) Next() (server string, retryStart bool) {
	h.mu.Lock()
	attempt := h.tried
	h.tried++
	h.mu.Unlock()
	server = h.addresses[attempt%len(h.addresses)]
	if attempt > 0 {
		timer := time.NewTimer(h.pause)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-h.released:
		}
	}
	select {
	case <-h.released:
		return server, true
	default:
		return server, false
	}
}

// Connected is called after each successful handshake; the pause stays, since
// a server that has lost its quorum accepts a client only to drop it.
func (h *hosts) Connected() {}

// release ends the waiting in Next, now and for ever.
func (h *hosts) release() { h.once.Do(func() { close(h.released) }) }
