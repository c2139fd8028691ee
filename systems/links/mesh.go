package links

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stalemate-io/stalemate/systems"
)

// Mesh holds the directed links between a fixed set of nodes and the proxies
// that their connections run through. It implements systems.Links: Cut, Delay
// and Throttle add up until Heal takes all of them away.
type Mesh struct {
	host   string // where its proxies listen
	nodes  []string
	links  map[pair]*link // never changed after New
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu        sync.Mutex
	listeners []net.Listener
	conns     map[net.Conn]struct{}
}

var _ systems.Links = (*Mesh)(nil)

type pair struct{ from, to string }

// Route is one address at which a node reaches another.
type Route struct {
	// From is the node that dials, To the one that is reached.
	From, To string
	// Who, if set, tells who has dialled a connection, where several nodes
	// reach To at the one address; From is empty then. A connection of nobody
	// known is reset. A node's connection to itself is on no link.
	Who func(net.Conn) (string, error)
	// Target is the host:port at which To listens.
	Target string
	// Greeting, if set, reads the first bytes that the dialler sends and
	// returns what To is to see in their place. It lets a protocol that
	// carries addresses in its hello be told the proxies' addresses. What it
	// returns with an error is passed on before the connection ends.
	Greeting func(io.Reader) ([]byte, error)
	// Frames, if set, says what becomes of each frame that the dialler sends,
	// which it is given without its length; answers pass as they are. It may be
	// called for several connections at once.
	Frames func(frame []byte) Fate
	// Patience is how long to try again while Target refuses connections.
	// The dialler, whose own connection the proxy has accepted already,
	// cannot see a refusal and try again itself.
	Patience time.Duration
}

// New makes whole links between all nodes, without any route yet. Its proxies listen
// on the loopback address.
func New(nodes ...string) *Mesh { return NewAt("127.0.0.1", nodes...) }

// NewAt makes the same with proxies that listen on another address of this machine,
// for nodes that do not share its loopback.
func NewAt(host string, nodes ...string) *Mesh {
	m := &Mesh{host: host, nodes: nodes, links: make(map[pair]*link), conns: make(map[net.Conn]struct{})}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	for _, from := range nodes {
		for _, to := range nodes {
			if from != to {
				m.links[pair{from, to}] = newLink()
			}
		}
	}
	return m
}

// Host is the address that its proxies listen on.
func (m *Mesh) Host() string { return m.host }

// Open starts a proxy for r on a free port of the mesh's address and returns the
// port, at which r.From is to dial instead of r.Target.
func (m *Mesh) Open(r Route) (port int, err error) {
	if r.Who == nil {
		if _, err := m.link(r.From, r.To); err != nil {
			return 0, err
		}
	} else if !slices.Contains(m.nodes, r.To) {
		return 0, fmt.Errorf("no node %q: want one of %v", r.To, m.nodes)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(m.host, "0"))
	if err != nil {
		return 0, fmt.Errorf("proxy for the link from %s to %s: %w", r.From, r.To, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ctx.Err() != nil {
		l.Close()
		return 0, errors.New("the links are closed")
	}
	m.listeners = append(m.listeners, l)
	m.wg.Go(func() { m.accept(r, l) })
	return l.Addr().(*net.TCPAddr).Port, nil
}

// acceptPause keeps a proxy that cannot accept (no descriptor is free, say)
// from spinning.
const acceptPause = 10 * time.Millisecond

func (m *Mesh) accept(r Route, l net.Listener) {
	for {
		conn, err := l.Accept()
		switch {
		case err == nil:
			m.wg.Go(func() { m.serve(r, conn.(*net.TCPConn)) })
		case errors.Is(err, net.ErrClosed):
			return
		default:
			time.Sleep(acceptPause)
		}
	}
}

// own makes Close close c, and returns what closes c otherwise.
func (m *Mesh) own(c net.Conn) (release func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ctx.Err() != nil {
		c.Close()
	}
	m.conns[c] = struct{}{}
	return func() {
		m.mu.Lock()
		delete(m.conns, c)
		m.mu.Unlock()
		c.Close()
	}
}

// Cut holds everything that from sends to to until Heal.
func (m *Mesh) Cut(from, to string) error {
	return m.change(from, to, func(c *condition) { c.cut = true })
}

// Delay makes everything that from sends to to arrive d later than it otherwise
// would. It costs latency only: bytes under way do not wait for each other.
func (m *Mesh) Delay(from, to string, d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("delay of the link from %s to %s is %v: want 0 or more", from, to, d)
	}
	return m.change(from, to, func(c *condition) { c.delay = d })
}

// Throttle lets at most bytesPerSecond pass from from to to, on all their
// connections together.
func (m *Mesh) Throttle(from, to string, bytesPerSecond int) error {
	if bytesPerSecond <= 0 {
		return fmt.Errorf("rate of the link from %s to %s is %d bytes per second: want more than 0; to stop everything, cut it", from, to, bytesPerSecond)
	}
	return m.change(from, to, func(c *condition) { c.rate = bytesPerSecond })
}

// Heal makes the link whole. What was held arrives now, in order.
func (m *Mesh) Heal(from, to string) error {
	return m.change(from, to, func(c *condition) { c.cut, c.delay, c.rate = false, 0, 0 })
}

func (m *Mesh) change(from, to string, f func(*condition)) error {
	l, err := m.link(from, to)
	if err != nil {
		return err
	}
	l.change(f)
	return nil
}

func (m *Mesh) link(from, to string) (*link, error) {
	if l, ok := m.links[pair{from, to}]; ok {
		return l, nil
	}
	return nil, fmt.Errorf("no link from %q to %q: want two different nodes of %s", from, to, strings.Join(m.nodes, ", "))
}

// Close ends every proxy and every connection through it, and waits until they
// have ended. It is safe to call twice.
func (m *Mesh) Close() error {
	m.mu.Lock()
	m.cancel()
	for _, l := range m.listeners {
		l.Close()
	}
	for c := range m.conns {
		c.Close()
	}
	m.mu.Unlock()
	m.wg.Wait()
	return nil
}
