package tcp

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net"
	"sync"

	"github.com/stalemate-io/stalemate/systems/node"
)

// Config says which node is to run, and where.
type Config struct {
	Self     node.ID
	New      node.New
	Protocol Protocol
	// Peers are the addresses, host:port, at which this node reaches others.
	Peers map[node.ID]string
	// Listener is where the node is reached; nil for a client, which nobody
	// calls. The node closes it.
	Listener net.Listener
	// Dir is the folder of the node's disk; empty for one in memory, which
	// dies with the node.
	Dir string
	// Seed makes the node's random numbers; 0 stands for one that differs at
	// every boot. Nodes whose names for themselves must differ between two
	// boots, such as a broker's incarnation, need the 0.
	Seed uint64
	// Store opens the node's session with a coordination service, whose
	// callbacks go through post; nil where there is none. Where the store is an
	// io.Closer, the session ends with the node.
	Store func(post func(func())) (node.Store, error)
	// Trace is where the node's trace goes, a JSON object a line (see Entry);
	// nil for none.
	Trace io.Writer
	// MaxFrame is the largest frame that is read, in bytes. Default 16 MiB.
	MaxFrame int
}

// Node is a node that runs.
type Node struct {
	config   Config
	loop     *loop
	machine  node.Machine // the loop's
	disk     *disk
	journal  *journal
	store    node.Store
	trace    tracer
	peers    map[node.ID]*peer
	listener net.Listener
	tasks    sync.WaitGroup

	ctx    context.Context
	cancel context.CancelCauseFunc

	closing sync.Once
	closed  error
}

// Start boots a node. It runs until Close, or until something happens that it
// cannot go on after, such as a disk that is full; then Done is closed and Err
// says why.
func Start(c Config) (*Node, error) {
	if c.MaxFrame == 0 {
		c.MaxFrame = 16 << 20
	}
	n := &Node{config: c, loop: newLoop(), listener: c.Listener, peers: map[node.ID]*peer{}}
	n.ctx, n.cancel = context.WithCancelCause(context.Background())
	n.trace = tracer{self: c.Self, to: c.Trace, fail: n.fail}
	for id, address := range c.Peers {
		n.peers[id] = newPeer(n, address)
	}
	go n.loop.run()
	if err := n.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("node %s: %w", c.Self, err), n.Close())
	}
	n.loop.post(n.boot)
	if n.listener != nil {
		n.tasks.Go(n.accept)
	}
	return n, nil
}

// open opens what the machine boots from.
func (n *Node) open() error {
	content := newContent()
	if n.config.Dir != "" {
		var torn int
		var err error
		if n.journal, content, torn, err = openJournal(n.config.Dir, n.fail); err != nil {
			return err
		}
		if torn > 0 {
			n.trace.write(node.Trace{What: "disk-torn", Version: int64(torn), Why: "bytes of writes that a crash cut off were dropped"})
		}
	}
	n.disk = newDisk(n.journal, content, n.loop.post)
	if n.config.Store == nil {
		return nil
	}
	var err error
	n.store, err = n.config.Store(n.loop.post)
	return err
}

// boot makes the machine, on the loop as everything it does.
func (n *Node) boot() {
	seed := n.config.Seed
	if seed == 0 {
		seed = rand.Uint64()
	}
	name := fnv.New64a()
	_, _ = io.WriteString(name, string(n.config.Self))
	n.machine = n.config.New(&env{n: n, rand: rand.New(rand.NewPCG(seed, name.Sum64()))})
	n.machine.Start()
}

// Post has f run on the node's loop. The machine may be looked at there.
func (n *Node) Post(f func(node.Machine)) { n.loop.post(func() { f(n.machine) }) }

// Done is closed when the node can no longer run.
func (n *Node) Done() <-chan struct{} { return n.ctx.Done() }

// Err says why the node ended by itself, nil where it did not.
func (n *Node) Err() error {
	if err := context.Cause(n.ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// fail ends the node from within. Who started it still has to close it.
func (n *Node) fail(err error) {
	n.loop.stop()
	n.cancel(err)
}

// Close ends the node: what it has written becomes durable, and then everything
// stops. It is safe to call twice.
func (n *Node) Close() error {
	n.closing.Do(func() { n.closed = n.close() })
	return n.closed
}

func (n *Node) close() error {
	// The loop first: a request that finds it closed is dropped, as by a
	// crash.
	n.loop.close()
	n.cancel(nil)
	var errs []error
	if n.listener != nil {
		if err := n.listener.Close(); !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	n.tasks.Wait()
	if c, ok := n.store.(io.Closer); ok {
		errs = append(errs, c.Close())
	}
	if n.journal != nil {
		errs = append(errs, n.journal.close())
	}
	return errors.Join(errs...)
}
