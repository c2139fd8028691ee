package epochlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// NoEpoch is the epoch of a log that holds nothing.
const NoEpoch int32 = -1

// Batch is a run of records that one leader appended in one go. It is the unit
// of replication and of truncation: a log holds the whole of a batch or nothing
// of it. A batch is never changed once it is in a log, so logs and messages
// share it by pointer.
type Batch struct {
	// Base is the offset of the first record.
	Base int64
	// Epoch is the epoch of the leader that appended the batch.
	Epoch int32
	// Control marks records that belong to the replication protocol, not to
	// the state machine above it.
	Control bool
	// Records are the payloads, one offset each.
	Records [][]byte

	encoded []byte // for the disk; made by the log that the batch was born in
}

// End is the offset after the last record.
func (b *Batch) End() int64 { return b.Base + int64(len(b.Records)) }

// Equal reports whether two batches have the same place and content.
func (b *Batch) Equal(o *Batch) bool {
	return b == o || b.Base == o.Base && b.Epoch == o.Epoch && b.Control == o.Control &&
		slices.EqualFunc(b.Records, o.Records, bytes.Equal)
}

// encode gives the batch as one record of a node.Disk.
func (b *Batch) encode() []byte {
	n := 2 * binary.MaxVarintLen64
	for _, r := range b.Records {
		n += binary.MaxVarintLen32 + len(r)
	}
	out := make([]byte, 0, n)
	out = binary.AppendUvarint(out, uint64(b.Base))
	out = binary.AppendVarint(out, int64(b.Epoch))
	control := byte(0)
	if b.Control {
		control = 1
	}
	out = append(out, control)
	for _, r := range b.Records {
		out = binary.AppendUvarint(out, uint64(len(r)))
		out = append(out, r...)
	}
	return out
}

var errShort = errors.New("batch ends early")

func decode(p []byte) (*Batch, error) {
	base, n := binary.Uvarint(p)
	if n <= 0 {
		return nil, fmt.Errorf("base offset: %w", errShort)
	}
	p = p[n:]
	epoch, n := binary.Varint(p)
	if n <= 0 || len(p) == n {
		return nil, fmt.Errorf("epoch: %w", errShort)
	}
	b := &Batch{Base: int64(base), Epoch: int32(epoch), Control: p[n] == 1}
	for p = p[n+1:]; len(p) > 0; {
		size, n := binary.Uvarint(p)
		if n <= 0 || size > uint64(len(p)-n) {
			return nil, fmt.Errorf("record %d: %w", len(b.Records), errShort)
		}
		end := n + int(size)
		b.Records = append(b.Records, p[n:end:end])
		p = p[end:]
	}
	return b, nil
}
