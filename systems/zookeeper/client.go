package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-zookeeper/zk"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems"
)

// errNewSession fails a read during which the session was replaced: whose
// read it was cannot be told.
var errNewSession = errors.New("the session expired during the read")

// client works on the registers of one run through one session with one server.
type client struct {
	registers *Registers
	node      string
	session   *session
	// noop is the znode that the write path writes to before it reads. It is
	// this client's own, so that nothing but the order of writes is asked of
	// the ensemble.
	noop string
}

var _ systems.Client = (*client)(nil)

// Prepare looks at the register: at value and version for a cas, which then
// says what it replaces, and at the version alone for a conditional write.
func (c *client) Prepare(ctx context.Context, op *systems.Op) error {
	znode := c.registers.znode(op.Key)
	if op.F == "cas" {
		seen, err := await(ctx, func(context.Context) (reading, error) { return get(c.session.Conn, znode) })
		op.Expected = seen.value
		op.ExpectedVersion, _ = seen.version.Get()
		return err
	}
	stat, err := await(ctx, func(context.Context) (*zk.Stat, error) {
		exists, stat, err := c.session.Exists(znode)
		if err == nil && !exists {
			err = zk.ErrNoNode
		}
		return stat, err
	})
	if err == nil {
		op.ExpectedVersion = int64(stat.Version)
	}
	return err
}

// Invoke does op once.
func (c *client) Invoke(ctx context.Context, op systems.Op) systems.Outcome {
	switch op.F {
	case "read":
		before := c.Identity()
		seen, err := await(ctx, func(ctx context.Context) (reading, error) { return c.read(ctx, op) })
		if err == nil && c.Identity() != before {
			err = errNewSession
		}
		return seen.outcome(err)
	case "write", "cas":
		version := int32(-1)
		if op.Conditional {
			version = int32(op.ExpectedVersion)
		}
		stat, err := await(ctx, func(context.Context) (*zk.Stat, error) {
			return c.session.Set(c.registers.znode(op.Key), encode(op.Value), version)
		})
		if err != nil {
			return systems.Outcome{Type: writeType(err), Err: err}
		}
		return systems.Outcome{Type: histories.OK, Version: histories.At(int64(stat.Version))}
	}
	return systems.Outcome{Type: histories.Fail,
		Err: fmt.Errorf("a ZooKeeper register knows read, write and cas, not %q", op.F)}
}

// read takes op's path to the register. It stops between two steps once ctx is
// over, so that an operation nobody waits for asks for nothing more.
func (c *client) read(ctx context.Context, op systems.Op) (reading, error) {
	znode := c.registers.znode(op.Key)
	var err error
	switch op.Path {
	case PathGet:
	case PathSync:
		_, err = c.session.Sync(znode)
	case PathWrite:
		_, err = c.session.Set(c.noop, nil, -1)
	case PathCheck:
		_, err = c.session.Multi(&zk.CheckVersionRequest{Path: znode, Version: -1})
	default:
		err = fmt.Errorf("no read path %q", op.Path)
	}
	if err != nil {
		return reading{}, err
	}
	if ctx.Err() != nil {
		return reading{}, ended(ctx)
	}
	return get(c.session.Conn, znode)
}

// Identity is the session's id.
func (c *client) Identity() string { return identity(c.session.Conn) }

// Close ends the session.
func (c *client) Close() error { return c.session.Close() }

// watcher reads from the watch-fed cache of a server. All watchers of a server
// share one cache, which is therefore the one who observes.
type watcher struct {
	node  string
	cache *cache
}

var _ systems.Client = (*watcher)(nil)

// Prepare does nothing: a cache takes no writes.
func (w *watcher) Prepare(context.Context, *systems.Op) error { return nil }

// Invoke reads what the cache holds.
func (w *watcher) Invoke(_ context.Context, op systems.Op) systems.Outcome {
	if op.F != "read" {
		return systems.Outcome{Type: histories.Fail,
			Err: fmt.Errorf("a watch-fed cache knows read, not %q", op.F)}
	}
	seen, err := w.cache.read(op.Key)
	return seen.outcome(err)
}

// Identity is the id of the cache's session.
func (w *watcher) Identity() string { return identity(w.cache.session.Conn) }

// Close leaves the cache to the others.
func (w *watcher) Close() error { return nil }

// reading is one register as it was seen.
type reading struct {
	value   histories.Value
	version histories.Version
}

// outcome makes an outcome of a reading, or of the error there was instead.
func (r reading) outcome(err error) systems.Outcome {
	if err != nil {
		return systems.Outcome{Type: readType(err), Err: err}
	}
	return systems.Outcome{Type: histories.OK, Value: r.value, Version: r.version}
}

// get reads a register from the server's memory.
func get(conn *zk.Conn, znode string) (reading, error) {
	data, stat, err := conn.Get(znode)
	if err != nil {
		return reading{}, err
	}
	return decode(data, stat)
}

// encode gives a register's value the form it has in a znode: decimal digits.
func encode(v histories.Value) []byte { return []byte(v.String()) }

// decode reads what encode wrote.
func decode(data []byte, stat *zk.Stat) (reading, error) {
	n, err := strconv.ParseInt(string(data), 10, 64)
	if err != nil {
		return reading{}, fmt.Errorf("znode holds %q, expected a number: does somebody else write to it?", data)
	}
	return reading{histories.Int(n), histories.At(int64(stat.Version))}, nil
}

func identity(conn *zk.Conn) string { return "0x" + strconv.FormatUint(uint64(conn.SessionID()), 16) }
