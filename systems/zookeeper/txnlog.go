package zookeeper

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"io"
	"time"
)

// A server's transaction log is a row of files log.<zxid of the first record>:
// a header of 16 bytes, then records, then zeros up to the size that the file
// was given in advance. All numbers are big-endian.
//
//	header  magic "ZKLG" (4), version 2 (4), database id (8)
//	record  Adler-32 of the body (8), its length (4), the body, 'B' (1)
//	body    client id (8), cxid (4), zxid (8), time in ms (8), type (4), then
//	        what the type says, then perhaps a digest of the tree
//
// A server logs a proposal before it acknowledges it, so that what is committed
// is in the logs of a majority; what is in a log need not be committed. Zxids
// rise, but for what a server is sent once more when it joins a new leader and
// logs again.
const (
	txnMagic       = 0x5a4b4c47
	txnVersion     = 2
	txnHeaderBytes = 8 + 4 + 8 + 8 + 4
	// maxTxnBytes is far above jute.maxbuffer, the most that servers send.
	maxTxnBytes = 64 << 20
	endOfTxn    = 'B'
)

// txn is one record of a transaction log, as far as it changes znodes.
type txn struct {
	Zxid    int64
	Session int64
	Cxid    int32
	Time    time.Time // the leader's clock, to the millisecond
	Type    txnType
	Changes []znodeChange
}

// readTxnLog calls take with the records of one log file in order, and stops at
// take's first error. It ends as a server that reads its log does: at the first
// zeros, at the end of the file, or at a record that was not written to its
// end. torn tells the last of the three. A record that was written to its end
// and is not what was written is an error.
func readTxnLog(r io.Reader, take func(txn) error) (torn bool, err error) {
	in := bufio.NewReaderSize(r, 1<<16)
	var header [16]byte
	switch n, err := io.ReadFull(in, header[:]); {
	case n == 0 && err == io.EOF:
		return false, nil // made, and nothing written yet
	case errors.Is(err, io.ErrUnexpectedEOF):
		return true, nil
	case err != nil:
		return false, err
	}
	if magic := binary.BigEndian.Uint32(header[:]); magic != txnMagic {
		return false, fmt.Errorf("expected a ZooKeeper transaction log, which begins with ZKLG, found %q", header[:4])
	}
	if v := binary.BigEndian.Uint32(header[4:]); v != txnVersion {
		return false, fmt.Errorf("expected version %d of the transaction log, found %d", txnVersion, v)
	}
	at := int64(len(header))
	for {
		body, size, err := nextTxn(in)
		if err != nil || body == nil {
			return size > 0, atByte(err, at)
		}
		t, err := parseTxn(body)
		if err != nil {
			return false, atByte(err, at)
		}
		if err := take(t); err != nil {
			return false, err
		}
		at += size
	}
}

// atByte says at which byte of the file an error is.
func atByte(err error, at int64) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("record at byte %d: %w", at, err)
}

// nextTxn reads the body of the next record and the record's size. The body is
// nil at the end of what was written; the size is then above 0 where a record
// was begun there.
func nextTxn(in *bufio.Reader) (body []byte, size int64, err error) {
	const prefix = 8 + 4
	var head [prefix]byte
	n, err := io.ReadFull(in, head[:])
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil, int64(n), nil
	}
	if err != nil {
		return nil, 0, err
	}
	if head == [prefix]byte{} {
		return nil, 0, nil // zeros to the end
	}
	sum, length := binary.BigEndian.Uint64(head[:]), int32(binary.BigEndian.Uint32(head[8:]))
	switch {
	case length == 0:
		return nil, prefix, nil // the length had not been written yet
	case length < txnHeaderBytes || length > maxTxnBytes:
		return nil, 0, fmt.Errorf("expected a record of %d to %d bytes, found the length %d", txnHeaderBytes, maxTxnBytes, length)
	}
	// A broken length must not cost more memory than there is file.
	body, err = io.ReadAll(io.LimitReader(in, int64(length)+1))
	if err != nil {
		return nil, 0, err
	}
	if len(body) <= int(length) || body[length] != endOfTxn {
		return nil, prefix, nil
	}
	body = body[:length]
	if found := uint64(adler32.Checksum(body)); found != sum {
		return nil, 0, fmt.Errorf("expected the checksum %#x, found %#x: the log is damaged", sum, found)
	}
	return body, prefix + int64(length) + 1, nil
}
