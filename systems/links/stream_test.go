package links

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// sender is the end that a stream reads from: what is put in comes out, without
// a socket, so that time is virtual.
type sender struct {
	io.Reader
	w *io.PipeWriter
}

func newSender() *sender {
	r, w := io.Pipe()
	return &sender{r, w}
}

func (s *sender) Write([]byte) (int, error) { return 0, errors.New("not written to in these tests") }
func (s *sender) CloseWrite() error         { return nil }
func (s *sender) Reset()                    {}

// receiver is the end that a stream writes to. It notes what came and when.
type receiver struct {
	begin time.Time

	mu     sync.Mutex
	got    []arrival
	closed string // "", "closed" or "reset"
	at     time.Duration
	broken bool
}

type arrival struct {
	text string
	at   time.Duration
}

func (r *receiver) Read([]byte) (int, error) { select {} }

func (r *receiver) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken {
		return 0, errors.New("broken pipe")
	}
	r.got = append(r.got, arrival{string(b), time.Since(r.begin)})
	return len(b), nil
}

func (r *receiver) CloseWrite() error { r.end("closed"); return nil }
func (r *receiver) Reset()            { r.end("reset") }

func (r *receiver) end(how string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed, r.at = how, time.Since(r.begin)
}

func (r *receiver) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b bytes.Buffer
	for _, a := range r.got {
		b.WriteString(a.text)
	}
	return b.String()
}

// bench is a stream under test, with virtual time.
type bench struct {
	*stream
	src  *sender
	dst  *receiver
	stop chan struct{}
}

func inVirtualTime(t *testing.T, test func(t *testing.T, b *bench)) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{src: newSender(), dst: &receiver{begin: time.Now()}, stop: make(chan struct{})}
		b.stream = newStream(newLink(), b.src, b.stop)
		b.connect(b.dst)
		go b.read(nil)
		go b.write()
		test(t, b)
		b.src.w.Close()
		close(b.stop)
		synctest.Wait()
	})
}

func (b *bench) send(text string) { b.src.w.Write([]byte(text)) }

func (b *bench) set(f func(*condition)) { b.link.change(f) }

func (b *bench) expect(t *testing.T, want ...arrival) {
	t.Helper()
	synctest.Wait()
	b.dst.mu.Lock()
	defer b.dst.mu.Unlock()
	if len(b.dst.got) != len(want) {
		t.Fatalf("arrived: %v, want %v", b.dst.got, want)
	}
	for i := range want {
		if b.dst.got[i] != want[i] {
			t.Errorf("arrival %d: %v, want %v", i, b.dst.got[i], want[i])
		}
	}
}

const ms = time.Millisecond

func TestAWholeLinkPassesAtOnce(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench) {
		b.send("a")
		b.send("b")
		b.expect(t, arrival{"a", 0}, arrival{"b", 0})
	})
}

func TestADelayAddsLatencyAndDoesNotQueue(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench) {
		b.set(func(c *condition) { c.delay = 100 * ms })
		b.send("a")
		time.Sleep(10 * ms)
		b.send("b")
		time.Sleep(10 * ms)
		b.send("c")
		time.Sleep(time.Second)
		b.expect(t, arrival{"a", 100 * ms}, arrival{"b", 110 * ms}, arrival{"c", 120 * ms})
	})
}

func TestAShorterDelayHoldsForBytesUnderWayAndKeepsTheirOrder(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench) {
		b.set(func(c *condition) { c.delay = time.Hour })
		b.send("a")
		b.send("b")
		time.Sleep(50 * ms)
		b.set(func(c *condition) { c.delay = 0 })
		b.send("c")
		b.expect(t, arrival{"a", 50 * ms}, arrival{"b", 50 * ms}, arrival{"c", 50 * ms})
	})
}

func TestACutHoldsBytesUntilHealAndKeepsTheirOrder(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench) {
		b.send("a")
		synctest.Wait()
		b.set(func(c *condition) { c.cut = true })
		b.send("b")
		b.send("c")
		time.Sleep(time.Hour)
		b.expect(t, arrival{"a", 0})
		b.set(func(c *condition) { c.cut = false })
		b.expect(t, arrival{"a", 0}, arrival{"b", time.Hour}, arrival{"c", time.Hour})
	})
}

func TestACutHoldsTheNewsThatTheSenderIsGone(t *testing.T) {
	for _, c := range []struct {
		rule string
		err  error
		want string
	}{
		{"a close arrives as a close", io.EOF, "closed"},
		{"a reset arrives as a reset", errors.New("connection reset"), "reset"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, b *bench) {
				b.set(func(c *condition) { c.cut = true })
				b.send("last words")
				b.src.w.CloseWithError(c.err)
				time.Sleep(time.Minute)
				synctest.Wait()
				if b.dst.closed != "" {
					t.Fatalf("the receiver's connection is %s across a cut link", b.dst.closed)
				}
				b.set(func(c *condition) { c.cut = false })
				b.expect(t, arrival{"last words", time.Minute})
				if b.dst.closed != c.want || b.dst.at != time.Minute {
					t.Errorf("%s after %v: want %s after 1m", b.dst.closed, b.dst.at, c.want)
				}
			})
		})
	}
}

func TestACutStopsASenderThatGoesOn(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench) {
		b.set(func(c *condition) { c.cut = true })
		sent := make(chan int)
		piece := bytes.Repeat([]byte("x"), readSize)
		go func() {
			n := 0
			for range 4 * holdLimit / readSize {
				m, err := b.src.w.Write(piece)
				n += m
				if err != nil {
					break
				}
			}
			sent <- n
		}()
		synctest.Wait()
		b.mu.Lock()
		held := b.held
		b.mu.Unlock()
		if held < holdLimit || held > holdLimit+readSize {
			t.Errorf("%d bytes are held: want about %d", held, holdLimit)
		}
		b.set(func(c *condition) { c.cut = false })
		if n := <-sent; n != 4*holdLimit {
			t.Errorf("%d bytes were sent: want %d", n, 4*holdLimit)
		}
		synctest.Wait()
		if n := len(b.dst.text()); n != 4*holdLimit {
			t.Errorf("%d bytes arrived: want %d", n, 4*holdLimit)
		}
	})
}

func TestAThrottledLinkTakesItsTime(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench) {
		b.set(func(c *condition) { c.rate = 1000 })
		b.send(string(bytes.Repeat([]byte("x"), 500)))
		time.Sleep(250*ms - 1)
		synctest.Wait()
		if n := len(b.dst.text()); n != 200 {
			t.Errorf("%d bytes after 250 ms at 1000 bytes a second: want 200, four pieces of 50", n)
		}
		time.Sleep(250*ms + 1)
		synctest.Wait()
		if n := len(b.dst.text()); n != 500 {
			t.Errorf("%d bytes after 500 ms: want 500", n)
		}
	})
}

func TestHealEndsAThrottleForBytesUnderWay(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench) {
		b.set(func(c *condition) { c.rate = 1 })
		b.send("abcdef")
		time.Sleep(2 * time.Second)
		b.set(func(c *condition) { c.rate = 0 })
		synctest.Wait()
		if got := b.dst.text(); got != "abcdef" {
			t.Errorf("%q arrived: want all", got)
		}
		if last := b.dst.got[len(b.dst.got)-1].at; last != 2*time.Second {
			t.Errorf("the last byte arrived after %v: want 2s", last)
		}
	})
}

func TestThrottleIsSharedByTheConnectionsOfALink(t *testing.T) {
	l := newLink()
	now := time.Now()
	if first := l.reserve(100, 1000, now); first.Sub(now) != 100*ms {
		t.Errorf("100 bytes at 1000 a second pass after %v: want 100ms", first.Sub(now))
	}
	if second := l.reserve(100, 1000, now); second.Sub(now) != 200*ms {
		t.Errorf("another 100 pass after %v: want 200ms", second.Sub(now))
	}
	if third := l.reserve(100, 1000, now.Add(time.Second)); third.Sub(now) != 1100*ms {
		t.Errorf("100 more a second later pass after %v: want 1.1s", third.Sub(now))
	}
}

func TestASenderWhoseReceiverIsGoneIsNotBlocked(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench) {
		b.dst.broken = true
		for range 4 * holdLimit / readSize {
			b.send(string(make([]byte, readSize)))
		}
		b.src.w.Close()
		<-b.over
	})
}
