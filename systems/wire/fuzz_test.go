package wire

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"
)

// examples are one frame of each kind of request, and of its answer.
func examples(p *Protocol, kinds ...map[string]func(*rapid.T) exchanged) (requests, answers [][]byte, messages []node.Message) {
	for _, list := range kinds {
		for _, draw := range list {
			x := rapid.Custom(draw).Example(1)
			frame, err := p.AppendRequest(nil, 1, "b1", x.request)
			if err != nil {
				panic(err)
			}
			r, err := p.ParseRequest(frame[4:])
			if err != nil {
				panic(err)
			}
			answer, err := p.AppendResponse(nil, r, x.answer)
			if err != nil {
				panic(err)
			}
			requests, answers, messages = append(requests, frame[4:]), append(answers, answer[4:]), append(messages, x.request)
		}
	}
	return requests, answers, messages
}

// FuzzRequest hands any bytes to a server. What it takes for a request must be one
// that it can put into a frame again.
func FuzzRequest(f *testing.F) {
	push, kraft := Push(testCluster), Kraft(testCluster)
	for p, kinds := range map[*Protocol]map[string]func(*rapid.T) exchanged{push: pushMessages, kraft: kraftMessages} {
		requests, _, _ := examples(p, kinds, clientMessages)
		for _, r := range requests {
			f.Add(r)
		}
	}
	for _, k := range push.served {
		for v := k.MinVersion; v <= k.MaxVersion; v++ {
			q := kmsg.RequestForKey(k.ApiKey)
			q.SetVersion(v)
			f.Add(kmsg.NewRequestFormatter(kmsg.FormatterClientID("rdkafka")).AppendRequest(nil, q, 7)[4:])
		}
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		for _, p := range []*Protocol{push, kraft} {
			r, err := p.ParseRequest(frame)
			if err != nil {
				if r.Answer != nil || r.Message != nil {
					t.Fatalf("an error (%v) and something to go on with: %+v", err, r)
				}
				continue
			}
			if (r.Answer == nil) == (r.Message == nil) {
				t.Fatalf("expected a message or an answer: %+v", r)
			}
			if _, ours := p.byMessage[reflect.TypeOf(r.Message)]; !ours || r.Message == nil {
				continue
			}
			again, err := p.AppendRequest(nil, r.ID, r.From, r.Message)
			if err != nil {
				t.Fatalf("%+v came in and does not go out: %v", r.Message, err)
			}
			if _, err := p.ParseRequest(again[4:]); err != nil {
				t.Fatalf("%+v came in, and not again: %v", r.Message, err)
			}
		}
	})
}

// FuzzResponse hands any bytes to a node that waits for an answer.
func FuzzResponse(f *testing.F) {
	push, kraft := Push(testCluster), Kraft(testCluster)
	type asked struct {
		p *Protocol
		m node.Message
	}
	var all []asked
	for p, kinds := range map[*Protocol]map[string]func(*rapid.T) exchanged{push: pushMessages, kraft: kraftMessages} {
		_, answers, messages := examples(p, kinds, clientMessages)
		for i := range answers {
			f.Add(answers[i])
			all = append(all, asked{p, messages[i]})
		}
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		for _, a := range all {
			m, err := a.p.ParseResponse(a.m, frame)
			if (m == nil) == (err == nil) {
				t.Fatalf("expected an answer or an error: %+v, %v", m, err)
			}
		}
	})
}

// FuzzBatches hands any bytes to the reader of record batches.
func FuzzBatches(f *testing.F) {
	f.Add(appendValues(nil, 7, 3, []int64{1, -5, 1 << 40}))
	f.Add((&batch{base: 1, epoch: 2, control: true, values: [][]byte{nil, {}, {1}}}).append(nil))
	f.Fuzz(func(t *testing.T, p []byte) {
		batches, err := parseBatches(p)
		if err != nil {
			return
		}
		var again []byte
		for i := range batches {
			again = batches[i].append(again)
		}
		second, err := parseBatches(again)
		if err != nil || len(second) != len(batches) {
			t.Fatalf("%d batches came in and %d go out: %v", len(batches), len(second), err)
		}
		for i := range batches {
			if !bytes.Equal(bytes.Join(batches[i].values, nil), bytes.Join(second[i].values, nil)) {
				t.Fatalf("batch %d: %v came in, %v go out", i, batches[i], second[i])
			}
		}
	})
}

// TestAHostileRequestTakesBoundedMemory cuts requests wherever they can be cut and
// goes on with the length of a list that has as many entries as may fit into the bytes
// that are left: a struct is made for each.
func TestAHostileRequestTakesBoundedMemory(t *testing.T) {
	const size = 8 << 10
	var worst uint64
	var where []byte
	for p, kinds := range map[*Protocol]map[string]func(*rapid.T) exchanged{Push(testCluster): pushMessages, Kraft(testCluster): kraftMessages} {
		requests, _, _ := examples(p, kinds, clientMessages)
		for _, r := range requests {
			for n := 10; n <= len(r); n++ {
				for _, entry := range []int{1, 2, 3, 4, 6, 9, 13, 20, 30} { // bytes that an entry takes
					claim := binary.AppendUvarint(bytes.Clone(r[:n]), uint64(size/entry))
					claim = append(claim, make([]byte, size)...)
					if used := allocated(func() { _, _ = p.ParseRequest(claim) }); used > worst {
						worst, where = used, r[:n]
					}
				}
			}
		}
	}
	t.Logf("at worst %d bytes of memory for each byte of a request: after %x", worst/size, where)
	if worst > perByte*size {
		t.Errorf("a request of %d bytes took %d, after %x; expected at most %d for each byte", size, worst, where, perByte)
	}
	if worst < 8*size {
		t.Errorf("no request took more than %d bytes: the attack has missed", worst)
	}
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestBytesThatAreNoRequestEndTheConnection sends noise, cut requests and requests
// with single bytes changed.
func TestBytesThatAreNoRequestEndTheConnection(t *testing.T) {
	p := Push(testCluster)
	requests, _, _ := examples(p, pushMessages, clientMessages)
	random := rand.New(rand.NewPCG(1, 2))
	for _, r := range requests {
		for n := range r {
			if got, err := p.ParseRequest(r[:n]); err == nil && got.Answer == nil && n < 10 {
				t.Errorf("%d bytes of %x are taken for a request", n, r)
			}
		}
		for range 200 {
			bad := bytes.Clone(r)
			bad[random.IntN(len(bad))] ^= byte(1 + random.IntN(255))
			_, _ = p.ParseRequest(bad) // whatever it is, it is no panic
		}
	}
	large := append(bytes.Clone(requests[0]), make([]byte, maxRequest)...)
	for _, bad := range [][]byte{large, nil, {}, {0}, bytes.Repeat([]byte{0xff}, 64), bytes.Repeat([]byte("GET / HTTP/1.1\r\n"), 4)} {
		if r, err := p.ParseRequest(bad); err == nil {
			t.Errorf("%q is taken for a request: %+v", bad, r)
		}
	}
}
