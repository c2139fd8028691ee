package zookeeper

import (
	"errors"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// The reasons for which a cache does not answer.
var (
	errCacheDown  = errors.New("the cache does not serve: its session is disconnected")
	errCacheStale = errors.New("the cache does not serve: not read again yet since its session was connected")
)

// cache is what an application keeps that would rather not ask ZooKeeper each
// time: a copy of each register, read with a watch, and read again whenever the
// watch fires. It stands for the broker-side and controller-side caches whose
// lag this tool is about.
//
// A plain disconnect sends nothing on a watch's channel (go-zookeeper issue 83),
// so the cache looks at the session's own events: it serves nothing while the
// session is disconnected, and after that each register only once it has been
// read anew.
type cache struct {
	session *session
	wait    sync.WaitGroup
	quit    chan struct{}
	once    sync.Once

	mu        sync.Mutex
	connected bool
	// generation counts connections; changed is closed and replaced whenever
	// it grows. What was read in an earlier generation is not served.
	generation int
	changed    chan struct{}
	entries    map[string]cacheEntry
}

type cacheEntry struct {
	reading
	generation int
}

// openCache starts a cache of the registers keys, where znode gives a
// register's path.
func openCache(address string, timeout time.Duration, keys []string, znode func(string) string) (*cache, error) {
	c := &cache{
		quit:    make(chan struct{}),
		changed: make(chan struct{}),
		entries: make(map[string]cacheEntry, len(keys)),
	}
	var err error
	if c.session, err = openSession(address, timeout, c.observe); err != nil {
		return nil, err
	}
	for _, key := range keys {
		c.wait.Go(func() {
			c.follow(key, func() (reading, <-chan zk.Event, error) {
				data, stat, events, err := c.session.GetW(znode(key))
				if err != nil {
					return reading{}, nil, err
				}
				seen, err := decode(data, stat)
				return seen, events, err
			})
		})
	}
	return c, nil
}

// observe follows the session's state. It is called from the library's own
// goroutines.
func (c *cache) observe(e zk.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch e.State {
	case zk.StateHasSession:
		if e.Type == zk.EventSession {
			c.connected = true
			c.generation++
			close(c.changed)
			c.changed = make(chan struct{})
		}
	case zk.StateDisconnected, zk.StateExpired, zk.StateConnecting:
		c.connected = false
	}
}

// follow keeps one register up to date until the cache is closed.
func (c *cache) follow(key string, read func() (reading, <-chan zk.Event, error)) {
	for {
		c.mu.Lock()
		generation, changed := c.generation, c.changed
		c.mu.Unlock()
		seen, events, err := read()
		if err == nil {
			c.mu.Lock()
			c.entries[key] = cacheEntry{seen, generation}
			c.mu.Unlock()
		}
		// Without a watch, only a new connection makes another try worthwhile.
		select {
		case <-events:
		case <-changed:
		case <-c.quit:
			return
		}
	}
}

// read gives what the cache holds, if it may be served.
func (c *cache) read(key string) (reading, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.connected {
		return reading{}, errCacheDown
	}
	entry, ok := c.entries[key]
	if !ok || entry.generation != c.generation {
		return reading{}, errCacheStale
	}
	return entry.reading, nil
}

// Close ends the cache and its session.
func (c *cache) Close() error {
	c.once.Do(func() { close(c.quit) })
	err := c.session.Close()
	c.wait.Wait()
	return err
}
