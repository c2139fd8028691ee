package tcp

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
)

// soon bounds what has to happen.
const soon = 10 * time.Second

// plain is a protocol of messages that are strings.
type plain struct{}

type envelope struct {
	ID   int32
	From node.ID
	Text string
}

func (plain) append(to []byte, e envelope) ([]byte, error) {
	text, err := json.Marshal(e)
	return append(binary.BigEndian.AppendUint32(to, uint32(len(text))), text...), err
}

func (plain) parse(frame []byte) (e envelope, err error) {
	err = json.Unmarshal(frame, &e)
	return e, err
}

func (p plain) AppendRequest(to []byte, id int32, from node.ID, m node.Message) ([]byte, error) {
	return p.append(to, envelope{id, from, m.(string)})
}

func (p plain) ParseRequest(frame []byte) (Request, error) {
	e, err := p.parse(frame)
	r := Request{ID: e.ID, From: e.From, Message: e.Text}
	if err == nil && e.Text == "hello" {
		r.Answer, err = p.append(nil, envelope{ID: e.ID, Text: "hello yourself"})
	}
	return r, err
}

func (p plain) AppendResponse(to []byte, r Request, m node.Message) ([]byte, error) {
	return p.append(to, envelope{ID: r.ID, Text: m.(string)})
}

func (p plain) ResponseID(frame []byte) (int32, error) {
	e, err := p.parse(frame)
	return e.ID, err
}

func (p plain) ParseResponse(_ node.Message, frame []byte) (node.Message, error) {
	e, err := p.parse(frame)
	return e.Text, err
}

// listener is a machine that answers "X" with "X!", "slow X" when the next request
// has come, and "silence" never. It counts its starts on its disk.
type listener struct {
	env    node.Env
	held   func()
	silent func() // called when "silence" has come, if set
	starts int
}

func newListener(env node.Env) node.Machine { return &listener{env: env} }

func (l *listener) Start() {
	l.env.Disk().Append("starts", []byte("once more"))
	l.starts = len(l.env.Disk().Records("starts"))
}

func (l *listener) Receive(from node.ID, m node.Message, reply func(node.Message)) {
	text := m.(string)
	l.env.Trace(node.Trace{What: "received", Peer: from, Why: text})
	held := l.held
	l.held = nil
	switch {
	case text == "silence":
		if l.silent != nil {
			l.silent()
		}
	case text == "starts":
		reply(fmt.Sprint(l.starts))
	case strings.HasPrefix(text, "slow "):
		l.held = func() { reply(text + "!") }
	default:
		reply(text + "!")
	}
	if held != nil {
		held()
	}
}

// idle is the machine of a client that a test lets call.
type idle struct{ env node.Env }

func (idle) Start()                                            {}
func (idle) Receive(node.ID, node.Message, func(node.Message)) {}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func boot(t *testing.T, c Config) *Node {
	t.Helper()
	c.Protocol = plain{}
	n, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// client is a node without an address that calls one other.
func client(t *testing.T, self node.ID, address string) *Node {
	t.Helper()
	return boot(t, Config{Self: self, Peers: map[node.ID]string{"b1": address}, New: func(e node.Env) node.Machine { return idle{e} }})
}

type result struct {
	m   node.Message
	err error
}

// ask sends a request and gives where its result will be.
func ask(n *Node, m string, timeout time.Duration) <-chan result {
	c := make(chan result, 1)
	n.Post(func(machine node.Machine) {
		machine.(idle).env.Call("b1", m, timeout, func(m node.Message, err error) { c <- result{m, err} })
	})
	return c
}

func expect(t *testing.T, c <-chan result, text string, err error) {
	t.Helper()
	select {
	case r := <-c:
		if err == nil && r.m != text || !errors.Is(r.err, err) {
			t.Fatalf("got %q, %v: want %q, %v", r.m, r.err, text, err)
		}
	case <-time.After(soon):
		t.Fatal("no result")
	}
}

func TestRequestsAreAnswered(t *testing.T) {
	l := listen(t)
	boot(t, Config{Self: "b1", New: newListener, Listener: l})
	c := client(t, "x1", l.Addr().String())
	expect(t, ask(c, "ping", soon), "ping!", nil)
	expect(t, ask(c, "hello", soon), "hello yourself", nil)
}

func TestRequestsOfAPeerGoSideBySideAndThoseOfOthersInTurn(t *testing.T) {
	l := listen(t)
	boot(t, Config{Self: "b1", New: newListener, Listener: l, Peers: map[node.ID]string{"b2": "127.0.0.1:1"}})

	peer := client(t, "b2", l.Addr().String())
	slow := ask(peer, "slow", soon) // a plain request of that name
	expect(t, slow, "slow!", nil)
	first, second := ask(peer, "slow one", soon), ask(peer, "two", soon)
	expect(t, second, "two!", nil)
	expect(t, first, "slow one!", nil)

	stranger := client(t, "x1", l.Addr().String())
	first, second = ask(stranger, "slow one", soon), ask(stranger, "two", soon)
	other := client(t, "x2", l.Addr().String())
	// Only a request on another connection can move the first.
	for len(first) == 0 {
		expect(t, ask(other, "push", soon), "push!", nil)
	}
	expect(t, first, "slow one!", nil)
	expect(t, second, "two!", nil)
}

func TestARequestThatGetsNoAnswerEndsInTime(t *testing.T) {
	l := listen(t)
	boot(t, Config{Self: "b1", New: newListener, Listener: l})
	c := client(t, "x1", l.Addr().String())
	expect(t, ask(c, "silence", 30*time.Millisecond), "", node.ErrTimeout)
	// The dead connection is given up, and the next one is good.
	expect(t, ask(c, "ping", soon), "ping!", nil)
}

func TestNobodyListens(t *testing.T) {
	l := listen(t)
	address := l.Addr().String()
	l.Close()
	c := client(t, "x1", address)
	expect(t, ask(c, "ping", soon), "", node.ErrUnreachable)
	expect(t, ask(c, "again", soon), "", node.ErrUnreachable)
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Skip("somebody has taken the port: ", err)
	}
	boot(t, Config{Self: "b1", New: newListener, Listener: l})
	expect(t, ask(c, "ping", soon), "ping!", nil)
}

func TestThePeerDiesWithTheRequestInHand(t *testing.T) {
	l := listen(t)
	arrived := make(chan struct{})
	b := boot(t, Config{Self: "b1", Listener: l, New: func(e node.Env) node.Machine {
		return &listener{env: e, silent: func() { close(arrived) }}
	}})
	c := client(t, "x1", l.Addr().String())
	held := ask(c, "slow", soon)
	expect(t, held, "slow!", nil)
	held = ask(c, "silence", soon)
	<-arrived
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	expect(t, held, "", node.ErrReset)
}

func TestWhoIsUnknownIsUnreachable(t *testing.T) {
	c := client(t, "x1", "127.0.0.1:1")
	got := make(chan error, 1)
	c.Post(func(m node.Machine) {
		m.(idle).env.Call("nobody", "ping", soon, func(_ node.Message, err error) { got <- err })
	})
	if err := <-got; !errors.Is(err, node.ErrUnreachable) {
		t.Error(err)
	}
}

func TestAStoppedTimerNeverRings(t *testing.T) {
	c := client(t, "x1", "127.0.0.1:1")
	rang := make(chan string, 9)
	c.Post(func(m node.Machine) {
		env := m.(idle).env
		due := env.After(0, func() { rang <- "stopped" }) // posted already when it is stopped
		due.Stop()
		env.After(time.Hour, func() { rang <- "much later" }).Stop()
		// By the time that the second of these rings, a stopped one would have.
		env.After(time.Millisecond, func() {
			rang <- "soon"
			env.After(time.Millisecond, func() { rang <- "later" })
		})
	})
	if a, b := <-rang, <-rang; a != "soon" || b != "later" {
		t.Errorf("rang %s, %s", a, b)
	}
}

func TestANodeBootsFromWhatItWroteAndTellsItsTrace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "trace.jsonl")
	trace, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer trace.Close()
	before := Now()
	for i := range 3 {
		l := listen(t)
		b := boot(t, Config{Self: "b1", New: newListener, Listener: l, Dir: dir, Trace: trace})
		expect(t, ask(client(t, "x1", l.Addr().String()), "starts", soon), fmt.Sprint(i+1), nil)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := trace.WriteString(`{"time":12,"no`); err != nil {
		t.Fatal(err)
	}
	entries, err := ReadTrace(path)
	if err != nil || len(entries) != 3 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	for _, e := range entries {
		if e.Time < before || e.Time > Now() || e.Node != "b1" || e.Trace() != (node.Trace{What: "received", Peer: "x1", Why: "starts"}) {
			t.Errorf("entry %+v", e)
		}
		before = e.Time
	}
}

func TestHostileBytesEndTheirConnectionAndNothingElse(t *testing.T) {
	l := listen(t)
	boot(t, Config{Self: "b1", New: newListener, Listener: l, MaxFrame: 1 << 20})
	tests := []struct {
		rule  string
		bytes []byte
		half  bool // the sender closes in the middle
	}{
		{"a frame that is too long", []byte{0x7f, 0xff, 0xff, 0xff}, false},
		{"a negative length", []byte{0xff, 0xff, 0xff, 0xff, 1, 2, 3}, false},
		{"a frame of nonsense", []byte{0, 0, 0, 3, 1, 2, 3}, false},
		{"an empty frame", []byte{0, 0, 0, 0}, false},
		{"half a length", []byte{0, 0}, true},
		{"half a frame", append([]byte{0, 0, 0xff, 0xff}, make([]byte, 100)...), true},
		{"text", []byte("GET / HTTP/1.1\r\n\r\n"), false},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			conn, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := conn.Write(test.bytes); err != nil {
				t.Fatal(err)
			}
			if test.half {
				if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
					t.Fatal(err)
				}
			}
			if err := conn.SetReadDeadline(time.Now().Add(soon)); err != nil {
				t.Fatal(err)
			}
			if n, err := conn.Read(make([]byte, 1)); n != 0 || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("read %d bytes, %v: want the end of the connection", n, err)
			}
			expect(t, ask(client(t, "x1", l.Addr().String()), "ping", soon), "ping!", nil)
		})
	}
}

// connected gives both ends of a connection.
func connected(t *testing.T) (here, there net.Conn) {
	t.Helper()
	l := listen(t)
	defer l.Close()
	there, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if here, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { here.Close(); there.Close() })
	return here, there
}

func TestAFrameTakesNoMoreMemoryThanHasArrived(t *testing.T) {
	here, there := connected(t)
	r := frameReader{conn: here, limit: 1 << 30, whole: soon}
	ended := make(chan error, 1)
	go func() {
		_, err := r.next()
		ended <- err
	}()
	claim := append([]byte{0x30, 0, 0, 0}, make([]byte, 1000)...)
	if _, err := there.Write(claim); err != nil {
		t.Fatal(err)
	}
	there.Close()
	if err := <-ended; !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("ended with %v", err)
	}
	if cap(r.buf) > 8*readSize {
		t.Errorf("%d bytes are held for %d", cap(r.buf), len(claim))
	}
}

func TestAFrameThatDripsIsGivenUp(t *testing.T) {
	here, there := connected(t)
	r := frameReader{conn: here, limit: 1 << 20, whole: 20 * time.Millisecond}
	ended := make(chan error, 1)
	go func() {
		_, err := r.next()
		here.Close()
		ended <- err
	}()
	drip := []byte{0, 0x10, 0, 0}
	for _, err := there.Write(drip); err == nil; _, err = there.Write(drip[:1]) {
	}
	if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("ended with %v", err)
	}
}
