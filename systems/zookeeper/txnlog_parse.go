package zookeeper

import (
	"encoding/binary"
	"fmt"
	"time"
)

// txnType is the type of a transaction: the code of the request that it came
// of.
type txnType int32

const (
	txnCreate          txnType = 1
	txnDelete          txnType = 2
	txnSetData         txnType = 5
	txnMulti           txnType = 14
	txnCreate2         txnType = 15
	txnCreateContainer txnType = 19
	txnDeleteContainer txnType = 20
	txnCreateTTL       txnType = 21
)

// changeKind is what a transaction does to one znode.
type changeKind uint8

const (
	znodeCreated changeKind = iota + 1
	znodeSet
	znodeDeleted
)

// znodeChange is one change of one znode's data.
type znodeChange struct {
	Kind changeKind
	Path string
	Data []byte
	// Version is the znode's from then on; a new znode's is 0.
	Version int32
}

// parseTxn reads the body of a record. Types that change no znode's data, known
// or not, give none.
func parseTxn(body []byte) (txn, error) {
	f := juteReader{rest: body}
	t := txn{Session: f.long(), Cxid: f.int(), Zxid: f.long(), Time: time.UnixMilli(f.long()), Type: txnType(f.int())}
	t.Changes = f.changes(t.Type, nil)
	if f.err != nil {
		return txn{}, fmt.Errorf("zxid %#x, type %d: %w", t.Zxid, t.Type, f.err)
	}
	return t, nil
}

// juteReader reads ZooKeeper's serial form. After an error everything it reads
// is zero.
type juteReader struct {
	rest []byte
	err  error
}

func (f *juteReader) take(n int, what string) []byte {
	if f.err == nil && n > len(f.rest) {
		f.err = fmt.Errorf("expected %d bytes for %s, found %d", n, what, len(f.rest))
	}
	if f.err != nil {
		return nil
	}
	b := f.rest[:n]
	f.rest = f.rest[n:]
	return b
}

func (f *juteReader) int() int32 {
	if b := f.take(4, "a number"); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (f *juteReader) long() int64 {
	if b := f.take(8, "a number"); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// buffer reads bytes behind their length, which is -1 where there are none.
func (f *juteReader) buffer(what string) []byte {
	n := f.int()
	if n < 0 {
		if n != -1 && f.err == nil {
			f.err = fmt.Errorf("expected the length of %s, found %d", what, n)
		}
		return nil
	}
	return f.take(int(n), what)
}

// changes appends what a transaction of one type does.
func (f *juteReader) changes(kind txnType, to []znodeChange) []znodeChange {
	switch kind {
	case txnCreate, txnCreate2, txnCreateContainer, txnCreateTTL:
		// What follows, who may do what and how long it lives, changes no data.
		return append(to, znodeChange{Kind: znodeCreated, Path: string(f.buffer("a path")), Data: f.buffer("data")})
	case txnDelete, txnDeleteContainer:
		return append(to, znodeChange{Kind: znodeDeleted, Path: string(f.buffer("a path"))})
	case txnSetData:
		return append(to, znodeChange{Kind: znodeSet, Path: string(f.buffer("a path")), Data: f.buffer("data"), Version: f.int()})
	case txnMulti:
		return f.multi(to)
	}
	return to
}

// multi appends what the parts of a multi do: all of them or, where it failed,
// none, each part then being an error.
func (f *juteReader) multi(to []znodeChange) []znodeChange {
	for n := f.int(); n > 0 && f.err == nil; n-- {
		kind := txnType(f.int())
		part := juteReader{rest: f.buffer("a part of a multi"), err: f.err}
		if kind == txnMulti {
			f.err = fmt.Errorf("found a multi inside a multi")
			break
		}
		to = part.changes(kind, to)
		if f.err == nil {
			f.err = part.err
		}
	}
	return to
}
