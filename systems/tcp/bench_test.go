package tcp

import (
	"net"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
)

// A call there and back, one at a time: what the driver adds to an operation.
func BenchmarkCall(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server, err := Start(Config{Self: "b1", New: newListener, Protocol: plain{}, Listener: l})
	if err != nil {
		b.Fatal(err)
	}
	defer server.Close()
	c, err := Start(Config{
		Self: "x1", New: func(e node.Env) node.Machine { return idle{e} }, Protocol: plain{},
		Peers: map[node.ID]string{"b1": l.Addr().String()},
	})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	for b.Loop() {
		if r := <-ask(c, "ping", soon); r.err != nil {
			b.Fatal(r.err)
		}
	}
}

// Records that many wait for at once share the fsyncs.
func BenchmarkAppendAndSync(b *testing.B) {
	j, content, _, err := openJournal(b.TempDir(), func(err error) { b.Error(err) })
	if err != nil {
		b.Fatal(err)
	}
	defer j.close()
	d := newDisk(j, content, func(f func()) { f() })
	record := make([]byte, 200)
	const together = 64
	done := make(chan struct{}, together)
	begin := time.Now()
	for b.Loop() {
		for range together {
			d.Append("log", record)
			d.Sync(func() { done <- struct{}{} })
		}
		for range together {
			<-done
		}
	}
	b.ReportMetric(float64(b.N)*together/time.Since(begin).Seconds(), "records/s")
}
