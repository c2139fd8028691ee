package zookeeper

import (
	"errors"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// errNotCached is why a cache does not answer.
var errNotCached = errors.New("the cache does not serve: not read yet in this session")

// cache is what an application keeps that would rather not ask ZooKeeper each
// time: a copy of each register, read with a watch, and read again whenever the
// watch fires. It stands for the broker-side and controller-side caches whose
// lag this tool is about.
//
// Like the caches in wide use it answers from what it has, connected or not: a
// disconnect sends nothing on a watch's channel (go-zookeeper issue 83), and
// most applications do not stop their work for one. Once connected again it
// reads every register anew. What it held goes with an expired session, since
// only within one session does the server promise never to step back.
type cache struct {
	session *session
	wait    sync.WaitGroup
	quit    chan struct{}
	once    sync.Once

	mu sync.Mutex
	// changed is closed and replaced at every new connection.
	changed chan struct{}
	entries map[string]reading
	// expiries counts the sessions that are over: what was asked in one of
	// them is not kept.
	expiries int
}

// openCache starts a cache of the registers keys, where znode gives a
// register's path.
func openCache(address string, timeout time.Duration, keys []string, znode func(string) string) (*cache, error) {
	c := &cache{
		quit:    make(chan struct{}),
		changed: make(chan struct{}),
		entries: make(map[string]reading, len(keys)),
	}
	var err error
	if c.session, err = openSession([]string{address}, timeout, c.observe); err != nil {
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
			close(c.changed)
			c.changed = make(chan struct{})
		}
	case zk.StateExpired:
		c.expiries++
		clear(c.entries)
	}
}

// follow keeps one register up to date until the cache is closed.
func (c *cache) follow(key string, read func() (reading, <-chan zk.Event, error)) {
	for {
		c.mu.Lock()
		expiries, changed := c.expiries, c.changed
		c.mu.Unlock()
		seen, events, err := read()
		if err == nil {
			c.mu.Lock()
			if c.expiries == expiries {
				c.entries[key] = seen
			}
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

// read gives what the cache holds.
func (c *cache) read(key string) (reading, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen, ok := c.entries[key]
	if !ok {
		return reading{}, errNotCached
	}
	return seen, nil
}

// Close ends the cache and its session.
func (c *cache) Close() error {
	c.once.Do(func() { close(c.quit) })
	err := c.session.Close()
	c.wait.Wait()
	return err
}
