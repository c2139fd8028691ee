package tcp

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
)

const (
	// maxCalls is how many requests to one peer may wait to be sent or
	// answered. What comes on top is refused.
	maxCalls = 1024
	// The pause before a peer is dialled again doubles from firstBackoff on.
	firstBackoff = 20 * time.Millisecond
	maxBackoff   = 500 * time.Millisecond
	dialTimeout  = 5 * time.Second
	// writeTimeout is for how long a peer may take nothing before its
	// connection is given up.
	writeTimeout = 10 * time.Second
)

// peer is another node, or for a client any node, that requests are sent to.
type peer struct {
	n       *Node
	address string

	mu      sync.Mutex
	wake    chan struct{} // has a token while somebody may have to look
	waiting []*call       // not sent yet, oldest first
	sent    map[int32]*call
	lastID  int32
	conn    net.Conn
	heard   time.Duration // when something last came in on conn
	running bool
}

// call is a request on its way.
type call struct {
	id      int32
	message node.Message
	frame   []byte
	sent    time.Duration
	timer   *time.Timer
	done    func(node.Message, error)
}

func newPeer(n *Node, address string) *peer {
	return &peer{n: n, address: address, wake: make(chan struct{}, 1), sent: map[int32]*call{}}
}

// call sends a request; done is posted to the loop.
func (p *peer) call(m node.Message, timeout time.Duration, done func(node.Message, error)) {
	c := &call{message: m, done: done}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastID++
	c.id = p.lastID
	var err error
	if len(p.waiting)+len(p.sent) >= maxCalls {
		err = node.ErrUnreachable
	} else {
		c.frame, err = p.n.config.Protocol.AppendRequest(nil, c.id, p.n.config.Self, m)
	}
	if err != nil {
		p.n.loop.post(func() { done(nil, err) })
		return
	}
	c.timer = time.AfterFunc(timeout, func() { p.expire(c) })
	p.waiting = append(p.waiting, c)
	if !p.running {
		p.running = true
		p.n.tasks.Go(p.run)
	}
	p.poke()
}

func (p *peer) poke() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// end gives a call its result, once it was taken out of waiting and sent.
func (p *peer) end(c *call, m node.Message, err error) {
	c.timer.Stop()
	p.n.loop.post(func() { c.done(m, err) })
}

// expire ends a call that ran out of time. If nothing at all came in since it was
// sent, the connection leads nowhere.
func (p *peer) expire(c *call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sent[c.id] == c {
		delete(p.sent, c.id)
		if p.conn != nil && p.heard < c.sent {
			p.conn.Close()
			p.conn = nil // what waits goes over the next one
		}
		p.end(c, nil, node.ErrTimeout)
		return
	}
	for i, w := range p.waiting {
		if w == c {
			p.waiting = append(p.waiting[:i:i], p.waiting[i+1:]...)
			p.end(c, nil, node.ErrTimeout)
			return
		}
	}
}

// run keeps a connection while there is something to send, until the node ends.
func (p *peer) run() {
	backoff := firstBackoff
	for p.wait(p.pending) {
		conn, err := p.dial()
		if err != nil {
			p.refuse(err)
		} else if p.serve(conn) {
			backoff = firstBackoff
			continue
		}
		pause := backoff/2 + rand.N(backoff/2)
		backoff = min(2*backoff, maxBackoff)
		select {
		case <-time.After(pause):
		case <-p.n.ctx.Done():
			return
		}
	}
}

// wait returns true once cond holds, false when the node ends.
func (p *peer) wait(cond func() bool) bool {
	for {
		p.mu.Lock()
		ok := cond()
		p.mu.Unlock()
		if p.n.ctx.Err() != nil {
			return false
		}
		if ok {
			return true
		}
		select {
		case <-p.wake:
		case <-p.n.ctx.Done():
			return false
		}
	}
}

func (p *peer) pending() bool { return len(p.waiting) > 0 }

func (p *peer) dial() (net.Conn, error) {
	d := net.Dialer{Timeout: dialTimeout}
	return d.DialContext(p.n.ctx, "tcp", p.address)
}

// refuse ends the waiting calls after a dial that failed: none of them was sent.
// Where the dial just got no answer they go on waiting, as requests to a host
// that is cut off do.
func (p *peer) refuse(err error) {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() || errors.Is(err, context.Canceled) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.waiting {
		p.end(c, nil, node.ErrUnreachable)
	}
	p.waiting = nil
}

// serve sends what waits and receives answers until the connection breaks, and
// reports whether it was good for anything.
func (p *peer) serve(conn net.Conn) (heard bool) {
	defer conn.Close()
	release := context.AfterFunc(p.n.ctx, func() { conn.Close() })
	defer release()
	p.mu.Lock()
	p.conn, p.heard = conn, 0
	p.mu.Unlock()
	broken := make(chan struct{})
	go func() {
		defer close(broken)
		p.receive(conn)
	}()
	p.send(conn, broken)
	conn.Close()
	<-broken
	p.mu.Lock()
	defer p.mu.Unlock()
	heard = p.heard > 0
	p.conn = nil
	for id, c := range p.sent {
		delete(p.sent, id)
		p.end(c, nil, node.ErrReset)
	}
	return heard
}

// send writes what waits, as much at once as there is, until the connection is
// given up.
func (p *peer) send(conn net.Conn, broken <-chan struct{}) {
	for {
		p.mu.Lock()
		if p.conn != conn {
			p.mu.Unlock()
			return
		}
		batch := make(net.Buffers, 0, len(p.waiting))
		for _, c := range p.waiting {
			batch = append(batch, c.frame)
			c.frame, c.sent = nil, Now()
			p.sent[c.id] = c
		}
		p.waiting = nil
		p.mu.Unlock()
		if len(batch) > 0 {
			if err := conn.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
				return
			}
			if _, err := batch.WriteTo(conn); err != nil {
				return
			}
		}
		select {
		case <-p.wake:
		case <-broken:
			return
		}
	}
}

// receive ends calls with the answers that come in.
func (p *peer) receive(conn net.Conn) {
	r := frameReader{conn: conn, limit: p.n.config.MaxFrame, whole: frameTimeout}
	for {
		frame, err := r.next()
		if err != nil {
			return
		}
		id, err := p.n.config.Protocol.ResponseID(frame)
		if err != nil {
			return
		}
		p.mu.Lock()
		p.heard = Now()
		c := p.sent[id]
		delete(p.sent, id)
		p.mu.Unlock()
		if c == nil {
			continue // its time was over
		}
		m, err := p.n.config.Protocol.ParseResponse(c.message, frame)
		p.end(c, m, err)
	}
}
