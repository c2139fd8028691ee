package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// batch is a record batch of format 2 (KIP-98) without compression, keys, headers
// and times.
type batch struct {
	base    int64 // offset of the first record
	epoch   int32 // leader epoch in which it was appended
	control bool
	values  [][]byte
}

const (
	batchHeader = 61 // bytes from the first offset to the number of records
	batchPrefix = 12 // bytes before those that the length counts
	checksumAt  = 17 // where the checksum stands; it covers what follows
	magic       = 2

	attributeCompression = 0x07
	attributeControl     = 0x20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// append adds the batch to a buffer.
func (b *batch) append(to []byte) []byte {
	start := len(to)
	attributes := int16(0)
	if b.control {
		attributes = attributeControl
	}
	h := kmsg.RecordBatch{
		FirstOffset: b.base, PartitionLeaderEpoch: b.epoch, Magic: magic, Attributes: attributes,
		LastOffsetDelta: int32(len(b.values)) - 1, FirstTimestamp: -1, MaxTimestamp: -1,
		ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1, NumRecords: int32(len(b.values)),
	}
	to = h.AppendTo(to)
	for i, v := range b.values {
		r := kmsg.Record{OffsetDelta: int32(i), Value: v}
		r.Length = recordLength(&r)
		to = r.AppendTo(to)
	}
	out := to[start:]
	binary.BigEndian.PutUint32(out[8:], uint32(len(out)-batchPrefix))
	binary.BigEndian.PutUint32(out[checksumAt:], crc32.Checksum(out[checksumAt+4:], castagnoli))
	return to
}

// recordLength is the length of a record as it stands before it.
func recordLength(r *kmsg.Record) int32 {
	n := 1 + 1 // attributes, time delta of 0
	n += varintLength(int64(r.OffsetDelta))
	n += varintLength(-1) // no key
	if r.Value == nil {
		n += varintLength(-1)
	} else {
		n += varintLength(int64(len(r.Value))) + len(r.Value)
	}
	return int32(n + 1) // no headers
}

func varintLength(v int64) int {
	var b [binary.MaxVarintLen64]byte
	return binary.PutVarint(b[:], v)
}

// parseBatches reads a sequence of batches. Values share memory with p.
func parseBatches(p []byte) ([]batch, error) {
	var out []batch
	for len(p) > 0 {
		b, n, err := parseBatch(p)
		if err != nil {
			return nil, fmt.Errorf("record batch %d: %w", len(out), err)
		}
		out, p = append(out, b), p[n:]
	}
	return out, nil
}

func parseBatch(p []byte) (batch, int, error) {
	if len(p) < batchHeader {
		return batch{}, 0, fmt.Errorf("%d bytes: expected at least %d", len(p), batchHeader)
	}
	size := int64(batchPrefix) + int64(int32(binary.BigEndian.Uint32(p[8:])))
	if size < batchHeader || size > int64(len(p)) {
		return batch{}, 0, fmt.Errorf("length %d in %d bytes", size, len(p))
	}
	p = p[:size]
	if p[16] != magic {
		return batch{}, 0, fmt.Errorf("format %d: expected %d, which clients use since Kafka 0.11", p[16], magic)
	}
	if sum := crc32.Checksum(p[checksumAt+4:], castagnoli); sum != binary.BigEndian.Uint32(p[checksumAt:]) {
		return batch{}, 0, errors.New("checksum does not match")
	}
	attributes := binary.BigEndian.Uint16(p[21:])
	if attributes&attributeCompression != 0 {
		return batch{}, 0, errors.New("compressed: expected no compression")
	}
	b := batch{
		base:    int64(binary.BigEndian.Uint64(p)),
		epoch:   int32(binary.BigEndian.Uint32(p[12:])),
		control: attributes&attributeControl != 0,
	}
	count, rest := int32(binary.BigEndian.Uint32(p[57:])), p[batchHeader:]
	// A record takes seven bytes at the least.
	if count < 0 || int64(count) > int64(len(rest))/7 {
		return batch{}, 0, fmt.Errorf("%d records in %d bytes", count, len(rest))
	}
	b.values = make([][]byte, 0, count)
	for range count {
		length, n := binary.Varint(rest)
		if n <= 0 || length < 0 || length > int64(len(rest)-n) {
			return batch{}, 0, fmt.Errorf("record %d ends early", len(b.values))
		}
		value, err := recordValue(rest[n:n+int(length)], len(b.values))
		if err != nil {
			return batch{}, 0, fmt.Errorf("record %d: %w", len(b.values), err)
		}
		b.values, rest = append(b.values, value), rest[n+int(length):]
	}
	if len(rest) > 0 {
		return batch{}, 0, fmt.Errorf("%d bytes after the last record", len(rest))
	}
	return b, int(size), nil
}

// recordValue gives the value of a record; the key and the headers go unread.
func recordValue(p []byte, index int) ([]byte, error) {
	short := errors.New("ends early")
	if len(p) == 0 {
		return nil, short
	}
	p = p[1:]
	next := func() (int64, bool) {
		v, n := binary.Varint(p)
		if n <= 0 {
			return 0, false
		}
		p = p[n:]
		return v, true
	}
	if _, ok := next(); !ok {
		return nil, short
	}
	if delta, ok := next(); !ok || delta != int64(index) {
		return nil, fmt.Errorf("offset delta %d: expected %d", delta, index)
	}
	part := func() ([]byte, bool) {
		n, ok := next()
		switch {
		case !ok || n > int64(len(p)):
			return nil, false
		case n < 0:
			return nil, true
		}
		out := p[:n:n]
		p = p[n:]
		return out, true
	}
	if _, ok := part(); !ok {
		return nil, short
	}
	value, ok := part()
	if !ok {
		return nil, short
	}
	return value, nil
}

// appendValues adds a batch of numbers, written as decimal text so that anybody's
// consumer can print them.
func appendValues(to []byte, base int64, epoch int32, values []int64) []byte {
	if len(values) == 0 {
		return to
	}
	b := batch{base: base, epoch: epoch, values: make([][]byte, len(values))}
	for i, v := range values {
		b.values[i] = strconv.AppendInt(nil, v, 10)
	}
	return b.append(to)
}

// number reads a value as a number.
func numberOf(value []byte) (int64, error) {
	v, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("value %.40q: expected a decimal number from %d to %d", value, math.MinInt64, math.MaxInt64)
	}
	return v, nil
}
