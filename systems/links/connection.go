package links

import (
	"net"
	"sync"
	"time"
)

// redialEvery is how long the proxy waits between two attempts to reach a
// target that refuses, within its route's patience.
const redialEvery = 10 * time.Millisecond

// tcpEnd is a TCP connection as a stream uses it.
type tcpEnd struct{ *net.TCPConn }

func (e tcpEnd) Reset() {
	_ = e.SetLinger(0)
	_ = e.Close()
}

// serve carries one accepted connection until both directions are over.
func (m *Mesh) serve(r Route, accepted *net.TCPConn) {
	dialler := tcpEnd{accepted}
	there, back, err := m.between(r, accepted)
	if err != nil {
		dialler.Reset()
		return
	}
	stop := m.ctx.Done()

	var running sync.WaitGroup
	defer running.Wait()
	defer m.own(accepted)()
	forward := newStream(there, dialler, stop)
	if r.Frames != nil {
		running.Go(func() { forward.readFrames(r.Frames) })
	} else {
		running.Go(func() { forward.read(r.Greeting) })
	}

	// A handshake needs both directions. A target never hears of a dialler
	// that gave up before it was through.
	if !m.whole(forward, there, back) {
		dialler.Reset()
		return
	}
	conn, err := m.dial(r, forward.ended)
	if err != nil {
		forward.breakOff()
		dialler.Reset()
		return
	}
	target := tcpEnd{conn}
	defer m.own(conn)()
	backward := newStream(back, target, stop)
	backward.connect(dialler)
	forward.connect(target)
	running.Go(func() { backward.read(nil) })
	running.Go(forward.write)
	running.Go(backward.write)
	m.settle(forward, backward)
}

// between gives the two links that a connection lies on.
func (m *Mesh) between(r Route, accepted net.Conn) (there, back *link, err error) {
	from := r.From
	if r.Who != nil {
		if from, err = r.Who(accepted); err != nil {
			return nil, nil, err
		}
		if from == r.To {
			return newLink(), newLink(), nil
		}
	}
	if there, err = m.link(from, r.To); err == nil {
		back, err = m.link(r.To, from)
	}
	return there, back, err
}

// settle waits until both directions have handed on the end of their sender. A
// sender whose other side takes no more, and has said that it closed, is told by
// a reset, as a kernel would upon its next bytes.
func (m *Mesh) settle(a, b *stream) {
	aOver, bOver, aGone, bGone := a.over, b.over, a.gone, b.gone
	for aOver != nil || bOver != nil {
		select {
		case <-aOver:
			aOver = nil
		case <-bOver:
			bOver = nil
		case <-aGone:
			aGone = nil
		case <-bGone:
			bGone = nil
		case <-m.ctx.Done():
			return
		}
		if aGone == nil && bOver == nil {
			a.src.Reset()
		}
		if bGone == nil && aOver == nil {
			b.src.Reset()
		}
	}
}

// whole waits until neither direction is cut. It is false when the dialler gave
// up or the mesh was closed.
func (m *Mesh) whole(s *stream, ls ...*link) bool {
	for {
		var cut *condition
		for _, l := range ls {
			if c := l.condition(); c.cut {
				cut = c
			}
		}
		if cut == nil {
			return true
		}
		select {
		case <-cut.changed:
		case <-s.ended:
			return false
		case <-m.ctx.Done():
			return false
		}
	}
}

// dial connects to the route's target, trying again within the route's patience
// while the target refuses.
func (m *Mesh) dial(r Route, gaveUp <-chan struct{}) (*net.TCPConn, error) {
	deadline := time.Now().Add(r.Patience)
	for {
		var d net.Dialer
		conn, err := d.DialContext(m.ctx, "tcp", r.Target)
		if err == nil {
			return conn.(*net.TCPConn), nil
		}
		if !time.Now().Before(deadline) {
			return nil, err
		}
		select {
		case <-time.After(redialEvery):
		case <-gaveUp:
			return nil, err
		case <-m.ctx.Done():
			return nil, err
		}
	}
}
