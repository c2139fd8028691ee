package tcp

import "sync"

// loop runs functions one after the other on one goroutine: a node's callbacks.
type loop struct {
	mu     sync.Mutex
	wake   sync.Cond
	queue  []func()
	closed bool
	done   chan struct{}
}

func newLoop() *loop {
	l := &loop{done: make(chan struct{})}
	l.wake.L = &l.mu
	return l
}

// post has f run after all that was posted before. It never waits; when the loop
// is closed it does nothing.
func (l *loop) post(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.queue = append(l.queue, f)
		l.wake.Signal()
	}
}

// run runs what is posted until the loop is closed.
func (l *loop) run() {
	defer close(l.done)
	var batch []func()
	for {
		l.mu.Lock()
		for len(l.queue) == 0 && !l.closed {
			l.wake.Wait()
		}
		if l.closed {
			l.mu.Unlock()
			return
		}
		batch, l.queue = l.queue, batch[:0]
		l.mu.Unlock()
		for i, f := range batch {
			if batch[i] = nil; l.over() {
				return
			}
			f()
		}
	}
}

func (l *loop) over() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

// stop drops what waits; what runs goes on to its end.
func (l *loop) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.wake.Signal()
}

// close stops the loop and returns when what runs has returned.
func (l *loop) close() {
	l.stop()
	<-l.done
}
