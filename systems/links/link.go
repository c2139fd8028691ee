package links

import (
	"sync"
	"sync/atomic"
	"time"
)

// condition is the state of a directed link. It is never changed, only
// replaced; changed is closed when that happens.
type condition struct {
	cut     bool
	delay   time.Duration
	rate    int // bytes per second; 0 is unlimited
	changed chan struct{}
}

func (c *condition) whole() bool { return !c.cut && c.delay == 0 && c.rate == 0 }

// link is one direction between two nodes, shared by all their connections.
type link struct {
	now atomic.Pointer[condition]

	mu   sync.Mutex
	free time.Time // when the last byte granted by reserve has passed
}

func newLink() *link {
	l := &link{}
	l.now.Store(&condition{changed: make(chan struct{})})
	return l
}

func (l *link) condition() *condition { return l.now.Load() }

// change replaces the link's condition and wakes all who wait on the old one.
func (l *link) change(f func(*condition)) {
	l.mu.Lock()
	old := l.now.Load()
	next := &condition{cut: old.cut, delay: old.delay, rate: old.rate, changed: make(chan struct{})}
	f(next)
	l.free = time.Time{}
	l.now.Store(next)
	l.mu.Unlock()
	close(old.changed)
}

// reserve books the passage of n bytes at rate bytes per second behind all that
// was booked before, and says when they will have passed.
func (l *link) reserve(n, rate int, now time.Time) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.free.Before(now) {
		l.free = now
	}
	l.free = l.free.Add(time.Duration(n) * time.Second / time.Duration(rate))
	return l.free
}
