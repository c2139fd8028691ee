package zookeeper

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems/node"
)

// storeSession is one session of a Store.
type storeSession struct {
	*session
	store   *Store
	expired chan struct{}
	watches []storeWatch // that have not fired yet
	fresh   *storeWatch  // left by the request being served
}

type storeWatch struct {
	event <-chan zk.Event
	fire  func()
}

// open waits for a new session; ok is false once the store is closed.
func (s *Store) open() (e *storeSession, ok bool) {
	e = &storeSession{store: s, expired: make(chan struct{})}
	established, opened := make(chan struct{}), make(chan struct{})
	var first, last sync.Once
	session, err := openSession(s.addresses, s.timeout, func(event zk.Event) {
		switch event.State {
		case zk.StateHasSession:
			first.Do(func() { close(established) })
		case zk.StateExpired:
			last.Do(func() {
				// The library would go on under a new session, and send there
				// what was asked in this one.
				<-opened
				e.drop()
				e.hosts.release()
				close(e.expired)
			})
		}
	})
	if err != nil {
		return nil, false // without any address
	}
	e.session = session
	close(opened)
	select {
	case <-established:
		return e, true
	case <-s.quit:
		_ = e.Close()
		return nil, false
	}
}

// serve answers requests and tells of watches until the session has expired or
// the store is closed.
func (e *storeSession) serve() {
	for {
		for {
			select {
			case <-e.expired:
				return
			case <-e.store.quit:
				return
			default:
			}
			r, ok := e.store.next()
			if !ok {
				break
			}
			e.answer(r)
		}
		if !e.wait() {
			return
		}
	}
}

// answer serves one request. What the end of the session catches goes back to
// the queue, to fail with the rest of it.
func (e *storeSession) answer(r storeRequest) {
	tell, err := r.ask(e)
	if errors.Is(err, node.ErrSession) {
		select {
		case <-e.expired:
			e.store.putBack(r)
			return
		case <-e.store.quit:
			return
		default:
		}
	}
	// The library had told of a watch before it gave this answer.
	e.watches = slices.DeleteFunc(e.watches, func(w storeWatch) bool {
		select {
		case event := <-w.event:
			e.fire(w, event)
			return true
		default:
			return false
		}
	})
	e.store.post(tell)
	if e.fresh != nil {
		e.watches = append(e.watches, *e.fresh)
		e.fresh = nil
	}
}

// wait waits for a request, telling of the watches that fire meanwhile. It
// returns false where there will be none.
func (e *storeSession) wait() bool {
	for {
		cases := []reflect.SelectCase{receive(e.store.wake), receive(e.expired), receive(e.store.quit)}
		for _, w := range e.watches {
			cases = append(cases, receive(w.event))
		}
		chosen, event, _ := reflect.Select(cases)
		if chosen < 3 {
			return chosen == 0
		}
		i := chosen - 3
		e.fire(e.watches[i], event.Interface().(zk.Event))
		e.watches = slices.Delete(e.watches, i, i+1)
	}
}

func receive(channel any) reflect.SelectCase {
	return reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(channel)}
}

// fire tells of a watch, unless what ended it was the end of the session.
func (e *storeSession) fire(w storeWatch, event zk.Event) {
	if event.Type != zk.EventNotWatching {
		e.store.post(w.fire)
	}
}

// keep makes a watch the node's, if it asked for one.
func (e *storeSession) keep(event <-chan zk.Event, watch func()) {
	if watch != nil {
		e.fresh = &storeWatch{event, watch}
	}
}

func (e *storeSession) get(path string, watch func()) (node.Stat, []byte, error) {
	if watch == nil {
		data, stat, err := e.Conn.Get(path)
		return storeStat(stat, err), data, storeError(err)
	}
	for {
		data, stat, event, err := e.GetW(path)
		if err == nil {
			e.keep(event, watch)
			return storeStat(stat, nil), data, nil
		}
		if !errors.Is(err, zk.ErrNoNode) {
			return node.Stat{}, nil, storeError(err)
		}
		exists, _, event, err := e.ExistsW(path)
		if err != nil {
			return node.Stat{}, nil, storeError(err)
		}
		if !exists {
			e.keep(event, watch)
			return node.Stat{}, nil, node.ErrNoNode
		}
		// Created in between: read it, and let that watch fire for nobody.
	}
}

func (e *storeSession) children(path string, watch func()) ([]string, error) {
	if watch == nil {
		names, _, err := e.Conn.Children(path)
		slices.Sort(names)
		return names, storeError(err)
	}
	names, _, event, err := e.ChildrenW(path)
	if err == nil {
		e.keep(event, watch)
	}
	slices.Sort(names)
	return names, storeError(err)
}

func (e *storeSession) multi(ops []node.StoreOp) ([]node.Stat, error) {
	requests := make([]any, len(ops))
	for i, op := range ops {
		request, err := storeOp(op)
		if err != nil {
			return nil, &node.OpError{Index: i, Op: op, Err: err}
		}
		requests[i] = request
	}
	results, err := e.Multi(requests...)
	for i, r := range results {
		if r.Error != nil && i < len(ops) {
			return nil, &node.OpError{Index: i, Op: ops[i], Err: storeError(r.Error)}
		}
	}
	if err != nil {
		return nil, storeError(err)
	}
	if len(results) != len(ops) {
		return nil, fmt.Errorf("the store answers %d operations with %d results: %w", len(ops), len(results), node.ErrSession)
	}
	return e.stats(ops, results), nil
}

// stats gives the nodes' stats after a multi. The answer holds those of nodes
// that were set. All operations have one transaction id, so one of them tells
// that of the nodes that were created; where there is none, the nodes are asked.
func (e *storeSession) stats(ops []node.StoreOp, results []zk.MultiResponse) []node.Stat {
	stats := make([]node.Stat, len(ops))
	var zxid int64
	for i, r := range results {
		if ops[i].Kind == node.Set && r.Stat != nil {
			stats[i] = storeStat(r.Stat, nil)
			zxid = r.Stat.Mzxid
		}
	}
	for i, r := range results {
		if ops[i].Kind != node.Create {
			continue
		}
		if zxid == 0 {
			if exists, stat, err := e.Exists(r.String); err == nil && exists {
				zxid = stat.Czxid
			}
		}
		stats[i] = node.Stat{Czxid: zxid, Mzxid: zxid}
	}
	return stats
}

func storeOp(op node.StoreOp) (any, error) {
	switch op.Kind {
	case node.Create:
		r := &zk.CreateRequest{Path: op.Path, Data: op.Data, Acl: zk.WorldACL(zk.PermAll)}
		if op.Ephemeral {
			r.Flags |= zk.FlagEphemeral
		}
		if op.Sequential {
			r.Flags |= zk.FlagSequence
		}
		return r, nil
	case node.Set:
		return &zk.SetDataRequest{Path: op.Path, Data: op.Data, Version: op.Version}, nil
	case node.Delete:
		return &zk.DeleteRequest{Path: op.Path, Version: op.Version}, nil
	case node.Check:
		return &zk.CheckVersionRequest{Path: op.Path, Version: op.Version}, nil
	}
	return nil, fmt.Errorf("a store knows no %v", op.Kind)
}

func storeStat(s *zk.Stat, err error) node.Stat {
	if err != nil || s == nil {
		return node.Stat{}
	}
	return node.Stat{Czxid: s.Czxid, Mzxid: s.Mzxid, Version: s.Version}
}

// storeErrors are the answers of the ensemble that a node has a name for.
var storeErrors = []struct{ library, node error }{
	{zk.ErrNoNode, node.ErrNoNode},
	{zk.ErrNodeExists, node.ErrNodeExists},
	{zk.ErrBadVersion, node.ErrBadVersion},
	{zk.ErrNotEmpty, node.ErrNotEmpty},
}

// storeError gives an error of the library a node's name. A connection that was
// lost leaves the outcome unknown, and so does everything else that is not an
// answer. What the library says it did not send, it kept until the session was
// found to have expired.
func storeError(err error) error {
	if err == nil {
		return nil
	}
	for _, e := range storeErrors {
		if errors.Is(err, e.library) {
			return e.node
		}
	}
	if writeType(err) == histories.Fail && !errors.Is(err, zk.ErrNoServer) {
		return err
	}
	return fmt.Errorf("%w (%w)", node.ErrSession, err)
}
