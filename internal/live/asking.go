package live

import (
	"time"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/tcp"
	"github.com/stalemate-io/stalemate/workloads/leadership"
)

// Recording gives a new client of a recorder.
func Recording(rec *histories.Recorder) leadership.Recording {
	return &recording{client: rec.Client(), tally: &tally{}}
}

// Asker is a client that sends one request after the other, and waits for each.
type Asker struct{ node *tcp.Node }

// asking is the machine of an Asker.
type asking struct{ env node.Env }

func (asking) Start()                                            {}
func (asking) Receive(node.ID, node.Message, func(node.Message)) {}

// NewAsker makes an asker of a cluster.
func NewAsker(c Cluster, id node.ID) (*Asker, error) {
	n, err := c.Client(id, func(env node.Env) node.Machine { return asking{env} }, 1)
	if err != nil {
		return nil, err
	}
	return &Asker{n}, nil
}

// Call sends a request and returns with the answer, or with what a machine's Call
// says where there is none within the timeout.
func (a *Asker) Call(to node.ID, m node.Message, timeout time.Duration) (node.Message, error) {
	type result struct {
		m   node.Message
		err error
	}
	done := make(chan result, 1)
	a.node.Post(func(n node.Machine) {
		n.(asking).env.Call(to, m, timeout, func(m node.Message, err error) { done <- result{m, err} })
	})
	select {
	case r := <-done:
		return r.m, r.err
	case <-a.node.Done():
		return nil, a.node.Err()
	}
}

// Close ends the asker's connections.
func (a *Asker) Close() error { return a.node.Close() }
