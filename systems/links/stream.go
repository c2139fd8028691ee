package links

import (
	"errors"
	"io"
	"sync"
	"time"
)

const (
	// readSize is how much is read at once.
	readSize = 32 << 10
	// holdLimit bounds what one direction of one connection holds back. With
	// the kernel's buffers on both sides it stands for a send buffer.
	holdLimit = 1 << 20
	// throttleStep divides a second: a throttled link moves at most this share
	// of its rate in one piece, so that it trickles instead of bursting.
	throttleStep = 20
)

// end is one side of a connection as a stream sees it.
type end interface {
	io.ReadWriter
	// CloseWrite tells the other side that nothing more will come.
	CloseWrite() error
	// Reset ends the connection in both directions at once.
	Reset()
}

// chunk is what arrived at once, or the news that the sender is done.
type chunk struct {
	bytes   []byte
	arrived time.Time
	last    bool // the sender closed its side
	reset   bool // with last: abruptly
}

// stream carries one direction of one connection across a link.
type stream struct {
	link *link
	src  end
	stop <-chan struct{} // closed when the mesh is

	mu      sync.Mutex
	dst     end // nil until the target is connected
	queue   []chunk
	held    int  // bytes in queue
	writing bool // the writer is handing a chunk on

	wake  chan struct{} // to the writer: the queue or dst has changed
	room  chan struct{} // to the reader: the queue has become shorter
	ended chan struct{} // closed when src is done, as far as the proxy knows
	gone  chan struct{} // closed when dst takes no more
	over  chan struct{} // closed when nothing more will be handed on
}

func newStream(l *link, src end, stop <-chan struct{}) *stream {
	return &stream{
		link:  l,
		src:   src,
		stop:  stop,
		wake:  make(chan struct{}, 1),
		room:  make(chan struct{}, 1),
		ended: make(chan struct{}),
		gone:  make(chan struct{}),
		over:  make(chan struct{}),
	}
}

// connect gives the stream the side it writes to.
func (s *stream) connect(dst end) {
	s.mu.Lock()
	s.dst = dst
	s.mu.Unlock()
	notify(s.wake)
}

// read takes bytes from src until it is done. greeting, where not nil, reads
// the first bytes of the connection and says what to send in their place.
func (s *stream) read(greeting func(io.Reader) ([]byte, error)) {
	defer close(s.ended)
	if greeting != nil {
		first, err := greeting(s.src)
		if len(first) > 0 {
			s.push(chunk{bytes: first, arrived: time.Now()})
		}
		if err != nil {
			s.push(chunk{last: true, reset: !errors.Is(err, io.EOF), arrived: time.Now()})
			return
		}
	}
	buf := make([]byte, readSize)
	for {
		n, err := s.src.Read(buf)
		if n > 0 && !s.forward(buf[:n]) {
			return
		}
		if err != nil {
			s.push(chunk{last: true, reset: !errors.Is(err, io.EOF), arrived: time.Now()})
			return
		}
	}
}

// forward hands b on. On a whole link with nothing waiting it does so itself,
// which saves a copy and a switch of goroutines; only the reader adds to the
// queue, so the order is kept.
func (s *stream) forward(b []byte) bool {
	s.mu.Lock()
	dst, direct := s.dst, s.dst != nil && len(s.queue) == 0 && !s.writing
	s.mu.Unlock()
	if direct && s.link.condition().whole() && !s.isGone() {
		if _, err := dst.Write(b); err != nil {
			s.breakOff()
		}
		return true
	}
	return s.push(chunk{bytes: append([]byte(nil), b...), arrived: time.Now()})
}

// push queues c for the writer, waiting for room. It is false when the mesh was
// closed.
func (s *stream) push(c chunk) bool {
	for {
		if s.isGone() && !c.last {
			return true // nobody is left to take it
		}
		s.mu.Lock()
		if c.last || s.held < holdLimit {
			s.queue = append(s.queue, c)
			s.held += len(c.bytes)
			s.mu.Unlock()
			notify(s.wake)
			return true
		}
		s.mu.Unlock()
		select {
		case <-s.room:
		case <-s.gone:
		case <-s.stop:
			return false
		}
	}
}

// write hands on what is queued, each chunk when the link lets it pass, until
// the last.
func (s *stream) write() {
	defer close(s.over)
	for {
		c, ok := s.next()
		if !ok {
			return
		}
		if !s.pass(c) {
			return
		}
		s.mu.Lock()
		s.writing = false
		s.mu.Unlock()
		if c.last {
			return
		}
	}
}

// next waits for a chunk and for a side to write it to.
func (s *stream) next() (chunk, bool) {
	for {
		s.mu.Lock()
		if len(s.queue) > 0 && s.dst != nil {
			c := s.queue[0]
			s.queue[0] = chunk{}
			s.queue = s.queue[1:]
			s.held -= len(c.bytes)
			s.writing = true
			s.mu.Unlock()
			notify(s.room)
			return c, true
		}
		s.mu.Unlock()
		select {
		case <-s.wake:
		case <-s.stop:
			return chunk{}, false
		}
	}
}

// pass hands one chunk on under the conditions of the link, which may change
// meanwhile and then hold at once, for this chunk too. It is false when the mesh
// was closed.
func (s *stream) pass(c chunk) bool {
	rest := c.bytes
	for !s.isGone() {
		now := time.Now()
		cond := s.link.condition()
		if cond.cut {
			if !s.await(cond, nil) {
				return false
			}
			continue
		}
		if wait := c.arrived.Add(cond.delay).Sub(now); wait > 0 {
			if !s.awaitFor(cond, wait) {
				return false
			}
			continue
		}
		piece := len(rest)
		if cond.rate > 0 && piece > 0 {
			piece = min(piece, max(1, cond.rate/throttleStep))
			passed := s.link.reserve(piece, cond.rate, now)
			if !s.awaitFor(cond, passed.Sub(now)) {
				return false
			}
			if s.link.condition() != cond {
				continue
			}
		}
		if piece > 0 {
			if _, err := s.dst.Write(rest[:piece]); err != nil {
				s.breakOff()
				break
			}
		}
		rest = rest[piece:]
		if len(rest) > 0 {
			continue
		}
		switch {
		case c.reset:
			s.dst.Reset()
		case c.last:
			// An error means that dst is gone already.
			_ = s.dst.CloseWrite()
		}
		break
	}
	return true
}

// await waits until the link changes, dst is gone or due fires. It is false
// when the mesh was closed.
func (s *stream) await(c *condition, due <-chan time.Time) bool {
	select {
	case <-c.changed:
	case <-s.gone:
	case <-due:
	case <-s.stop:
		return false
	}
	return true
}

func (s *stream) awaitFor(c *condition, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	return s.await(c, t.C)
}

// breakOff notes that dst takes no more. What src still sends is dropped; src
// learns of it by way of the opposite direction, as it would of a reset.
func (s *stream) breakOff() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.isGone() {
		close(s.gone)
	}
}

func (s *stream) isGone() bool {
	select {
	case <-s.gone:
		return true
	default:
		return false
	}
}

func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
