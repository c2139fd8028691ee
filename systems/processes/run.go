package processes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/tcp"
	"github.com/stalemate-io/stalemate/systems/zookeeper"
)

const (
	// retireTimeout bounds how long a node takes to leave in good order.
	retireTimeout = 5 * time.Second
	// lastWords is how long a node that has left goes on, so that what it said
	// goes out.
	lastWords = 100 * time.Millisecond
)

// Run runs a node in this process until ctx is over, and then has it leave in
// good order. The error says why it could not run, or not go on.
func Run(ctx context.Context, c NodeConfig) (err error) {
	if err := c.check(); err != nil {
		return err
	}
	r, err := c.role()
	if err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("node %s: %w", c.Self, err)
	}
	config := tcp.Config{
		Self: c.Self, New: r.new, Protocol: wireProtocol(c.Cluster.System, c.Advertised),
		Peers: c.Peers, Listener: l, Dir: c.Disk, Store: c.store(),
	}
	if c.Trace != "" {
		trace, err := openTrace(c.Trace)
		if err != nil {
			return errors.Join(err, l.Close())
		}
		defer func() { err = errors.Join(err, trace.Close()) }()
		config.Trace = trace
	}
	n, err := tcp.Start(config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	select {
	case <-n.Done():
		return fmt.Errorf("node %s: %w", c.Self, n.Err())
	case <-ctx.Done():
	}
	if r.retire != nil {
		gone := make(chan struct{})
		n.Post(func(node.Machine) { r.retire(r.machine, c.Self, func() { close(gone) }) })
		select {
		case <-gone:
			time.Sleep(lastWords)
		case <-n.Done():
		case <-time.After(retireTimeout):
		}
	}
	return nil
}

// store opens the session of a node whose system has a coordination service.
func (c *NodeConfig) store() func(func(func())) (node.Store, error) {
	if len(c.Store) == 0 {
		return nil
	}
	return func(post func(func())) (node.Store, error) {
		return zookeeper.OpenStore(c.Store, c.Cluster.WithDefaults().SessionTimeout, post), nil
	}
}

// openTrace opens a trace to go on with, after its last whole line.
func openTrace(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("folder of the trace: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	if err := cutLine(f); err != nil {
		return nil, errors.Join(fmt.Errorf("trace %s: %w", path, err), f.Close())
	}
	return f, nil
}

// maxLine is more than a line of a trace ever has.
const maxLine = 64 << 10

// cutLine drops a last line that does not end.
func cutLine(f *os.File) error {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	start := max(0, size-maxLine)
	tail, err := io.ReadAll(io.NewSectionReader(f, start, size-start))
	if err != nil {
		return err
	}
	if end := start + int64(bytes.LastIndexByte(tail, '\n')+1); end < size {
		return f.Truncate(end)
	}
	return nil
}
