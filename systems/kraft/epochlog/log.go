// Package epochlog is one replica's copy of a replicated log in the manner of
// Kafka: batches of records, each stamped with the epoch of the leader that
// appended it. Offsets and epochs together decide where two copies part
// (KIP-101, KIP-595): a follower sends its end offset and the epoch of its last
// record, and the leader answers either with what follows or with the point up
// to which the two logs can agree.
package epochlog

import (
	"encoding/binary"
	"fmt"
	"math"
	"sort"
	"strconv"

	"github.com/stalemate-io/stalemate/systems/node"
)

// Log is a log on a node's disk with all of it in memory too. It is not safe for
// concurrent use.
type Log struct {
	disk    node.Disk
	name    string
	batches []*Batch
	start   int64
	epochs  epochs
	durable int64
	cuts    int // how often the end was cut or replaced

	// The log lives in numbered segments, so that its beginning can be
	// dropped; dropped counts the batches of the first segment that are no
	// longer part of the log but still on disk.
	first    int // number of the first segment
	segments []segment
	dropped  int
}

// maxSegments is more than a log ever has at once.
const maxSegments = 1 << 20

// segment is a piece of the log on disk.
type segment struct {
	name    string
	batches int
}

// newSegments gives empty segments from a number on.
func (l *Log) newSegments(number, count int) []segment {
	s := make([]segment, count)
	for i := range s {
		s[i].name = l.segmentName(number + i)
	}
	return s
}

func (l *Log) segmentName(number int) string { return l.name + "." + strconv.Itoa(number) }

// Open reads the log of that name from the disk; it is empty if there is none.
func Open(disk node.Disk, name string) (*Log, error) {
	l := &Log{disk: disk, name: name}
	l.segments = l.newSegments(0, 1)
	if meta := disk.Read(name + ".start"); meta != nil {
		if err := l.decodeStart(meta); err != nil {
			return nil, err
		}
	}
	end := int64(math.MinInt64)
	for i := range l.segments {
		for _, p := range disk.Records(l.segments[i].name) {
			b, err := decode(p)
			if err != nil {
				return nil, fmt.Errorf("log %s: after offset %d: %w", name, end, err)
			}
			if end != math.MinInt64 && b.Base != end {
				return nil, fmt.Errorf("log %s: batch at offset %d, expected %d", name, b.Base, end)
			}
			end = b.End()
			l.segments[i].batches++
			if b.Base < l.start {
				l.dropped++
				continue
			}
			l.batches = append(l.batches, b)
			l.epochs.append(b.Epoch, b.Base)
		}
	}
	l.durable = l.End()
	return l, nil
}

func (l *Log) encodeStart() []byte {
	out := binary.AppendUvarint(nil, uint64(l.first))
	out = binary.AppendUvarint(out, uint64(len(l.segments)))
	out = binary.AppendUvarint(out, uint64(l.start))
	before := NoEpoch
	if len(l.epochs) > 0 {
		before = l.epochs[0].epoch
	}
	return binary.AppendVarint(out, int64(before))
}

func (l *Log) decodeStart(p []byte) error {
	var v [4]int64
	for i := range v {
		u, n := binary.Uvarint(p)
		if i == 3 {
			v[i], n = binary.Varint(p)
		} else {
			v[i] = int64(u)
		}
		if n <= 0 {
			return fmt.Errorf("log %s: file %s.start: %w", l.name, l.name, errShort)
		}
		p = p[n:]
	}
	if v[0] < 0 || v[1] < 1 || v[1] > maxSegments || v[2] < 0 {
		return fmt.Errorf("log %s: file %s.start names segment %d of %d and offset %d", l.name, l.name, v[0], v[1], v[2])
	}
	l.first, l.segments, l.start = int(v[0]), l.newSegments(int(v[0]), int(v[1])), v[2]
	l.epochs = epochsBefore(l.start, int32(v[3]))
	return nil
}

// Start is the offset at which the log begins; what came before is in a snapshot.
func (l *Log) Start() int64 { return l.start }

// End is the log end offset: that of the next record.
func (l *Log) End() int64 {
	if n := len(l.batches); n > 0 {
		return l.batches[n-1].End()
	}
	return l.start
}

// LastEpoch is the epoch of the last record, or of the last one before Start if
// the log holds none; NoEpoch if there never was one.
func (l *Log) LastEpoch() int32 {
	if n := len(l.batches); n > 0 {
		return l.batches[n-1].Epoch
	}
	if len(l.epochs) > 0 {
		return l.epochs[0].epoch
	}
	return NoEpoch
}

// Durable is the offset before which everything survives a crash.
func (l *Log) Durable() int64 { return l.durable }

// Cuts counts how often the end of the log was cut off or replaced. While it
// stays the same, what was in the log still is.
func (l *Log) Cuts() int { return l.cuts }

// Append adds a batch at the end. Its base must be End and its epoch no lower
// than LastEpoch.
func (l *Log) Append(b *Batch) error {
	if b.Base != l.End() || b.Epoch < l.LastEpoch() || len(b.Records) == 0 {
		return fmt.Errorf("log %s ends at offset %d in epoch %d: cannot append %d records at offset %d in epoch %d",
			l.name, l.End(), l.LastEpoch(), len(b.Records), b.Base, b.Epoch)
	}
	l.batches = append(l.batches, b)
	l.epochs.append(b.Epoch, b.Base)
	if b.encoded == nil {
		b.encoded = b.encode()
	}
	last := &l.segments[len(l.segments)-1]
	last.batches++
	l.disk.Append(last.name, b.encoded)
	return nil
}

// Sync makes the log as it is now durable and then calls done.
func (l *Log) Sync(done func()) {
	end, cuts := l.End(), l.cuts
	l.disk.Sync(func() {
		if l.cuts == cuts {
			l.durable = max(l.durable, end)
		}
		done()
	})
}

// index gives the position in batches of the first one at or after the offset.
func (l *Log) index(offset int64) int {
	return sort.Search(len(l.batches), func(i int) bool { return l.batches[i].Base >= offset })
}

// From gives up to limit batches from the offset on, which must be where a batch
// begins. The caller changes nothing.
func (l *Log) From(offset int64, limit int) []*Batch {
	i := l.index(offset)
	j := min(len(l.batches), i+limit)
	return l.batches[i:j:j]
}

// At gives the batch that begins at the offset, nil if none does.
func (l *Log) At(offset int64) *Batch {
	if i := l.index(offset); i < len(l.batches) && l.batches[i].Base == offset {
		return l.batches[i]
	}
	return nil
}

// EndOf gives the largest epoch in the log that is not above the given one, and
// where it ends; NoEpoch and Start if there is none.
func (l *Log) EndOf(epoch int32) EpochEnd {
	i := l.epochs.floor(epoch)
	switch {
	case i < 0:
		return EpochEnd{NoEpoch, l.start}
	case i == len(l.epochs)-1:
		return EpochEnd{l.epochs[i].epoch, l.End()}
	}
	return EpochEnd{l.epochs[i].epoch, l.epochs[i+1].start}
}

// Match is what a leader finds when it looks for a follower's position.
type Match uint8

// The outcomes of Log.Match.
const (
	// Matches: the follower's log is a prefix of this one.
	Matches Match = iota
	// Diverges: the follower must truncate first.
	Diverges
	// BeforeStart: the position is no longer in the log; a snapshot is needed.
	BeforeStart
)

// Match looks for a follower's position, its end offset and the epoch of its
// last record, by the rule of KIP-595. If the logs have parted, it gives the
// last point at which they may still agree.
func (l *Log) Match(offset int64, lastEpoch int32) (Match, EpochEnd) {
	switch {
	case offset < l.start:
		return BeforeStart, EpochEnd{}
	case offset == 0:
		return Matches, EpochEnd{}
	case l.start > 0 && lastEpoch < l.epochs[0].epoch:
		return BeforeStart, EpochEnd{}
	}
	if e := l.EndOf(lastEpoch); e.Epoch != lastEpoch || e.End < offset {
		return Diverges, e
	}
	return Matches, EpochEnd{}
}

// TruncationPoint gives the offset to truncate to on hearing from the leader
// where the logs may still agree.
func (l *Log) TruncationPoint(leader EpochEnd) int64 {
	mine := l.EndOf(leader.Epoch)
	if mine.Epoch == leader.Epoch {
		return min(mine.End, leader.End)
	}
	return mine.End
}

// Truncate drops every batch that ends after the offset.
func (l *Log) Truncate(to int64) {
	keep := l.index(to)
	if keep > 0 && l.batches[keep-1].End() > to {
		keep--
	}
	if keep == len(l.batches) {
		return
	}
	l.batches = l.batches[:keep:keep]
	l.epochs.truncate(l.End(), l.start)
	l.cuts++
	l.durable = min(l.durable, l.End())
	// The last segment first: a crash in between must not leave a gap.
	surplus := -l.dropped - keep
	for _, g := range l.segments {
		surplus += g.batches
	}
	for i := len(l.segments) - 1; surplus > 0; i-- {
		g := &l.segments[i]
		if cut := min(surplus, g.batches); cut > 0 {
			g.batches -= cut
			surplus -= cut
			l.disk.Truncate(g.name, g.batches)
		}
	}
}

// Compact makes the log begin at the offset, up to which a snapshot now holds
// everything; epoch is that of the record before. New records go to a new
// segment, and segments that lie before the offset as a whole are dropped.
func (l *Log) Compact(offset int64, epoch int32) {
	if offset <= l.start {
		return
	}
	gone := l.index(offset)
	l.batches = append([]*Batch(nil), l.batches[gone:]...)
	l.start = offset
	l.epochs.compact(offset, epoch)
	l.dropped += gone
	l.segments = append(l.segments, l.newSegments(l.first+len(l.segments), 1)...)
	old := l.first
	for len(l.segments) > 1 && l.segments[0].batches <= l.dropped {
		l.dropped -= l.segments[0].batches
		l.segments = l.segments[1:]
		l.first++
	}
	l.saveStart(old)
}

// Reset forgets all records and goes on from the end of a snapshot.
func (l *Log) Reset(offset int64, epoch int32) {
	old := l.first
	l.first += len(l.segments)
	l.segments, l.dropped = l.newSegments(l.first, 1), 0
	l.batches, l.start, l.durable = nil, offset, 0
	l.epochs = epochsBefore(offset, epoch)
	l.cuts++
	l.saveStart(old)
}

// saveStart writes where the log begins and then empties the segments before.
// The order matters: a crash in between leaves segments that nobody reads.
func (l *Log) saveStart(old int) {
	l.disk.Write(l.name+".start", l.encodeStart())
	for n := old; n < l.first; n++ {
		l.disk.Truncate(l.segmentName(n), 0)
	}
}

// Before gives the batch that ends at the offset, nil if the log has none.
func (l *Log) Before(offset int64) *Batch {
	if i := l.index(offset) - 1; i >= 0 && l.batches[i].End() == offset {
		return l.batches[i]
	}
	return nil
}
