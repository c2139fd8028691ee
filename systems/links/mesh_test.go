package links

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// soon bounds what has to happen; quiet is how long one listens to find that
// nothing does, which a fault in the code under test could only make pass.
const (
	soon  = 10 * time.Second
	quiet = 50 * time.Millisecond
)

// twoNodes is a mesh of a and b in which a reaches b through a proxy.
type twoNodes struct {
	*Mesh
	t      *testing.T
	port   int
	target net.Listener
}

func newTwoNodes(t *testing.T, r Route) *twoNodes {
	t.Helper()
	// Registered first, checked last.
	t.Cleanup(func() { goleak.VerifyNone(t) })
	target, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { target.Close() })
	m := New("a", "b")
	t.Cleanup(func() { m.Close() })
	r.From, r.To = "a", "b"
	if r.Target == "" {
		r.Target = target.Addr().String()
	}
	port, err := m.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	return &twoNodes{m, t, port, target}
}

func (n *twoNodes) dial() *net.TCPConn {
	n.t.Helper()
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", n.port))
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() { c.Close() })
	return c.(*net.TCPConn)
}

func (n *twoNodes) accept() *net.TCPConn {
	n.t.Helper()
	n.target.(*net.TCPListener).SetDeadline(time.Now().Add(soon))
	c, err := n.target.Accept()
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() { c.Close() })
	return c.(*net.TCPConn)
}

// connect gives both sides of a connection from a to b.
func (n *twoNodes) connect() (a, b *net.TCPConn) { a = n.dial(); return a, n.accept() }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func hear(t *testing.T, c net.Conn, want string) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(soon))
	got := make([]byte, len(want))
	if n, err := io.ReadFull(c, got); err != nil || string(got) != want {
		t.Fatalf("heard %q, %v: want %q", got[:n], err, want)
	}
}

func hearNothing(t *testing.T, c net.Conn) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(quiet))
	var b [1]byte
	if n, err := c.Read(b[:]); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("heard %d bytes, %v: want nothing", n, err)
	}
}

func hearEnd(t *testing.T, c net.Conn) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(soon))
	var b [1]byte
	if n, err := c.Read(b[:]); n != 0 || (!errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET)) {
		t.Fatalf("heard %d bytes, %v: want the end", n, err)
	}
}

func say(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

func TestWhoDialsDecidesTheLink(t *testing.T) {
	defer goleak.VerifyNone(t)
	target, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer target.Close()
	m := New("a", "b")
	defer m.Close()
	from := make(chan string, 1)
	port, err := m.Open(Route{To: "b", Target: target.Addr().String(), Who: func(net.Conn) (string, error) {
		if who := <-from; who != "" {
			return who, nil
		}
		return "", errors.New("a stranger")
	}})
	must(t, err)
	n := &twoNodes{m, t, port, target}
	must(t, m.Cut("a", "b"))
	for _, who := range []string{"", "c"} {
		from <- who
		// The reset may come before the dialler has seen its connection.
		if c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			hearEnd(t, c)
			c.Close()
		}
	}
	from <- "b" // to itself, which nothing can cut
	own := n.dial()
	say(t, own, "own")
	hear(t, n.accept(), "own")
	from <- "a"
	cut := n.dial()
	say(t, cut, "hello")
	must(t, m.Heal("a", "b"))
	hear(t, n.accept(), "hello")
	if _, err := m.Open(Route{To: "c", Who: func(net.Conn) (string, error) { return "a", nil }}); err == nil {
		t.Error("a proxy in front of nobody")
	}
}

func TestBothDirectionsPass(t *testing.T) {
	n := newTwoNodes(t, Route{})
	a, b := n.connect()
	say(t, a, "question")
	hear(t, b, "question")
	say(t, b, "answer")
	hear(t, a, "answer")
	must(t, a.CloseWrite())
	hearEnd(t, b)
	say(t, b, "goodbye")
	hear(t, a, "goodbye")
	must(t, b.Close())
	hearEnd(t, a)
}

func TestACutInOneDirectionLeavesTheOtherWhole(t *testing.T) {
	n := newTwoNodes(t, Route{})
	a, b := n.connect()
	must(t, n.Cut("a", "b"))
	say(t, a, "held")
	say(t, b, "heard")
	hear(t, a, "heard")
	hearNothing(t, b)
	must(t, n.Heal("a", "b"))
	hear(t, b, "held")
}

func TestACutHoldsForTheAnswersToWhoDialled(t *testing.T) {
	n := newTwoNodes(t, Route{})
	a, b := n.connect()
	must(t, n.Cut("b", "a"))
	say(t, a, "question")
	hear(t, b, "question")
	say(t, b, "answer")
	hearNothing(t, a)
	must(t, n.Heal("b", "a"))
	hear(t, a, "answer")
}

func TestAConnectionDialledAcrossACutGoesOnAtHeal(t *testing.T) {
	for _, direction := range [][2]string{{"a", "b"}, {"b", "a"}} {
		t.Run(direction[0]+" to "+direction[1], func(t *testing.T) {
			n := newTwoNodes(t, Route{})
			must(t, n.Cut(direction[0], direction[1]))
			a := n.dial()
			say(t, a, "hello")
			n.target.(*net.TCPListener).SetDeadline(time.Now().Add(quiet))
			if _, err := n.target.Accept(); err == nil {
				t.Fatal("the target was dialled across the cut")
			}
			must(t, n.Heal(direction[0], direction[1]))
			hear(t, n.accept(), "hello")
		})
	}
}

func TestATargetNeverHearsOfADiallerThatGaveUpDuringACut(t *testing.T) {
	n := newTwoNodes(t, Route{})
	must(t, n.Cut("a", "b"))
	lost := n.dial()
	say(t, lost, "lost")
	awaitConnections(t, n.Mesh, 1)
	must(t, lost.Close())
	// The proxy has let the connection go once it is closed from its side.
	awaitConnections(t, n.Mesh, 0)
	must(t, n.Heal("a", "b"))
	say(t, n.dial(), "found")
	hear(t, n.accept(), "found")
}

func TestTheEndOfAPeerIsNotNoticedAcrossACut(t *testing.T) {
	n := newTwoNodes(t, Route{})
	a, b := n.connect()
	must(t, n.Cut("a", "b"))
	must(t, a.Close())
	hearNothing(t, b)
	must(t, n.Heal("a", "b"))
	hearEnd(t, b)
}

func TestASenderLearnsThatItsPeerIsGone(t *testing.T) {
	n := newTwoNodes(t, Route{})
	a, b := n.connect()
	must(t, b.SetLinger(0))
	must(t, b.Close())
	hearEnd(t, a)
	must(t, a.Close())
	awaitConnections(t, n.Mesh, 0)
}

func TestATargetThatRefusesResetsTheDialler(t *testing.T) {
	n := newTwoNodes(t, Route{Target: closedPort(t)})
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", n.port))
	if errors.Is(err, syscall.ECONNRESET) {
		return // reset before Dial had returned
	}
	must(t, err)
	defer c.Close()
	hearEnd(t, c)
}

func TestATargetThatBeginsToListenWithinThePatienceIsReached(t *testing.T) {
	target := closedPort(t)
	n := newTwoNodes(t, Route{Target: target, Patience: soon})
	a := n.dial()
	say(t, a, "early")
	hearNothing(t, a)
	l, err := net.Listen("tcp", target)
	if err != nil {
		t.Skip(err) // somebody took the port
	}
	defer l.Close()
	n.target = l
	hear(t, n.accept(), "early")
}

func closedPort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().String()
}

func TestAGreetingIsReplaced(t *testing.T) {
	n := newTwoNodes(t, Route{Greeting: func(r io.Reader) ([]byte, error) {
		line := make([]byte, len("I am a\n"))
		_, err := io.ReadFull(r, line)
		return []byte(strings.ToUpper(string(line))), err
	}})
	a, b := n.connect()
	say(t, a, "I am")
	say(t, a, " a\nand more")
	hear(t, b, "I AM A\nand more")
}

func TestMuchDataPassesUnchangedWhileTheLinkChanges(t *testing.T) {
	n := newTwoNodes(t, Route{})
	a, b := n.connect()
	const lines = 50_000
	go func() {
		w := bufio.NewWriter(a)
		for i := range lines {
			fmt.Fprintln(w, i)
			if i%5000 == 0 {
				n.Cut("a", "b")
				n.Delay("a", "b", time.Millisecond)
			}
			if i%5000 == 2500 {
				n.Heal("a", "b")
			}
		}
		w.Flush()
		n.Heal("a", "b")
		a.CloseWrite()
	}()
	b.SetReadDeadline(time.Now().Add(3 * soon))
	in := bufio.NewScanner(b)
	for i := range lines {
		if !in.Scan() || in.Text() != fmt.Sprint(i) {
			t.Fatalf("line %d is %q, %v", i, in.Text(), in.Err())
		}
	}
	if in.Scan() {
		t.Errorf("a line too much: %q", in.Text())
	}
}

func TestCloseEndsConnectionsHeldByACut(t *testing.T) {
	n := newTwoNodes(t, Route{})
	a, b := n.connect()
	must(t, n.Cut("a", "b"))
	say(t, a, "held")
	waiting := n.dial()
	must(t, n.Close())
	must(t, n.Close())
	hearEnd(t, a)
	hearEnd(t, b)
	hearEnd(t, waiting)
	if _, err := n.Open(Route{From: "a", To: "b"}); err == nil {
		t.Error("a route was opened after Close")
	}
}

func TestBadLinksAreRefused(t *testing.T) {
	m := New("a", "b")
	defer m.Close()
	for _, c := range []struct {
		rule string
		err  error
		want string
	}{
		{"a node that is none", m.Cut("a", "c"), "a, b"},
		{"a node and itself", m.Heal("a", "a"), "two different nodes"},
		{"a negative delay", m.Delay("a", "b", -1), "0 or more"},
		{"a rate of nothing", m.Throttle("a", "b", 0), "cut it"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%s: %v: want an error that says %q", c.rule, c.err, c.want)
		}
	}
}

// awaitConnections waits until the mesh has n connections.
func awaitConnections(t *testing.T, m *Mesh, n int) {
	t.Helper()
	for begin := time.Now(); ; time.Sleep(time.Millisecond) {
		m.mu.Lock()
		now := len(m.conns)
		m.mu.Unlock()
		if now == n {
			return
		}
		if time.Since(begin) > soon {
			t.Fatalf("the mesh has %d connections: want %d", now, n)
		}
	}
}

func BenchmarkRoundTrip(b *testing.B) {
	for _, through := range []string{"proxy", "direct"} {
		b.Run(through, func(b *testing.B) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			go func() {
				c, err := l.Accept()
				if err == nil {
					io.Copy(c, c)
					c.Close()
				}
			}()
			m := New("a", "b")
			defer m.Close()
			addr := l.Addr().String()
			if through == "proxy" {
				port, err := m.Open(Route{From: "a", To: "b", Target: addr})
				if err != nil {
					b.Fatal(err)
				}
				addr = fmt.Sprintf("127.0.0.1:%d", port)
			}
			c, err := net.Dial("tcp", addr)
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			message := make([]byte, 100)
			for b.Loop() {
				if _, err := c.Write(message); err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(c, message); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
