package tcp

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
)

const (
	// frameTimeout is how long a frame may take from its first byte to its
	// last.
	frameTimeout = 10 * time.Second
	// answerTimeout is how long a client that is no peer is kept waiting for an
	// answer, during which nothing more is read from it.
	answerTimeout = 30 * time.Second
	// maxConnections is how many connections a node accepts at a time.
	maxConnections = 512
	// maxQueued is how many requests of one peer may wait for the loop; then no
	// more are read.
	maxQueued = 64
	// maxUnread is how many bytes of answers may wait for whoever asked to read
	// them; then the connection is closed.
	maxUnread = 16 << 20
	// acceptPause keeps a node that cannot accept (no descriptor is free, say)
	// from spinning.
	acceptPause = 10 * time.Millisecond
)

// accept serves whoever dials.
func (n *Node) accept() {
	free := make(chan struct{}, maxConnections)
	for {
		conn, err := n.listener.Accept()
		switch {
		case err == nil:
		case errors.Is(err, net.ErrClosed):
			return
		default:
			time.Sleep(acceptPause)
			continue
		}
		select {
		case free <- struct{}{}:
			n.tasks.Go(func() {
				n.serve(conn)
				<-free
			})
		default:
			conn.Close() // too many
		}
	}
}

// caller is a connection that requests come in on.
type caller struct {
	n    *Node
	conn net.Conn

	mu     sync.Mutex
	wake   sync.Cond
	unread net.Buffers // answers to be written
	size   int
	closed bool
}

// serve answers the requests of one connection until it ends.
func (n *Node) serve(conn net.Conn) {
	c := &caller{n: n, conn: conn}
	c.wake.L = &c.mu
	release := context.AfterFunc(n.ctx, c.close)
	defer release()
	var writing sync.WaitGroup
	writing.Go(c.write)
	c.read()
	c.close()
	writing.Wait()
}

func (c *caller) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.wake.Signal()
	c.conn.Close()
}

// read hands requests to the loop. Those of a peer go side by side; for anybody
// else the next is read when the one before is answered.
func (c *caller) read() {
	r := frameReader{conn: c.conn, limit: c.n.config.MaxFrame, whole: frameTimeout}
	queued := make(chan struct{}, maxQueued)
	for {
		frame, err := r.next()
		if err != nil {
			return
		}
		request, err := c.n.config.Protocol.ParseRequest(frame)
		if err != nil {
			return
		}
		if request.Answer != nil {
			c.answer(request.Answer)
			continue
		}
		select {
		case queued <- struct{}{}:
		case <-c.n.ctx.Done():
			return
		}
		answered := make(chan struct{})
		c.n.loop.post(func() {
			<-queued
			c.n.machine.Receive(request.From, request.Message, c.replier(request, answered))
		})
		if _, peer := c.n.peers[request.From]; peer {
			continue
		}
		if !c.await(answered) {
			return
		}
	}
}

// await waits for the answer to the last request. It is false when there will be
// none in good time: the caller has to begin anew, as it would have to with a
// broker that is gone.
func (c *caller) await(answered <-chan struct{}) bool {
	patience := time.NewTimer(answerTimeout)
	defer patience.Stop()
	select {
	case <-answered:
		return true
	case <-patience.C:
		return false
	case <-c.n.ctx.Done():
		return false
	}
}

// replier gives the function by which the machine answers a request.
func (c *caller) replier(r Request, answered chan<- struct{}) func(node.Message) {
	done := false
	return func(m node.Message) {
		if done {
			return
		}
		done = true
		defer close(answered)
		frame, err := c.n.config.Protocol.AppendResponse(nil, r, m)
		if err != nil {
			c.n.fail(err)
			return
		}
		c.answer(frame)
	}
}

// answer queues a frame, an empty one where a request has no answer. It never
// waits.
func (c *caller) answer(frame []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || len(frame) == 0 {
		return
	}
	if c.size += len(frame); c.size > maxUnread {
		c.closed = true
		c.conn.Close()
	} else {
		c.unread = append(c.unread, frame)
	}
	c.wake.Signal()
}

// write sends answers as they come.
func (c *caller) write() {
	for {
		c.mu.Lock()
		for len(c.unread) == 0 && !c.closed {
			c.wake.Wait()
		}
		batch, size, closed := c.unread, c.size, c.closed
		c.unread = nil
		c.mu.Unlock()
		if closed {
			return
		}
		if err := c.conn.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
			return
		}
		if _, err := batch.WriteTo(c.conn); err != nil {
			c.close()
			return
		}
		c.mu.Lock()
		c.size -= size
		c.mu.Unlock()
	}
}
