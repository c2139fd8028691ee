package push

import (
	"encoding/binary"

	"github.com/stalemate-io/stalemate/systems/node"
)

// partitionLog is a replica's log: in memory, and on the disk under the
// partition's name.
type partitionLog struct {
	disk    node.Disk
	name    string
	records []Record
	// epochs says where each leader epoch begins, oldest first (KIP-101).
	epochs []epochStart
}

type epochStart struct {
	epoch int32
	start int64
}

func openLog(disk node.Disk, name string) *partitionLog {
	l := &partitionLog{disk: disk, name: name}
	for _, b := range disk.Records(name) {
		if len(b) == 12 {
			l.remember(Record{Epoch: int32(binary.BigEndian.Uint32(b)), Value: int64(binary.BigEndian.Uint64(b[4:]))})
		}
	}
	return l
}

// end is the offset after the last record: the log end offset.
func (l *partitionLog) end() int64 { return int64(len(l.records)) }

func (l *partitionLog) append(records ...Record) {
	for _, r := range records {
		b := make([]byte, 12)
		binary.BigEndian.PutUint32(b, uint32(r.Epoch))
		binary.BigEndian.PutUint64(b[4:], uint64(r.Value))
		l.disk.Append(l.name, b)
		l.remember(r)
	}
}

func (l *partitionLog) remember(r Record) {
	l.beginEpoch(r.Epoch)
	l.records = append(l.records, r)
}

// beginEpoch notes that records of an epoch follow. An epoch that got none
// gives its place to the next.
func (l *partitionLog) beginEpoch(epoch int32) {
	if n := len(l.epochs); n > 0 {
		last := &l.epochs[n-1]
		switch {
		case last.epoch == epoch:
			return
		case last.start == l.end():
			last.epoch = epoch
			return
		}
	}
	l.epochs = append(l.epochs, epochStart{epoch, l.end()})
}

// lastEpoch is the epoch of the last record, -1 in an empty log.
func (l *partitionLog) lastEpoch() int32 {
	if len(l.records) == 0 {
		return -1
	}
	return l.records[len(l.records)-1].Epoch
}

// endOf gives the largest epoch in the log at or below the given one, and the
// offset where it ends; -1 and 0 where there is none.
func (l *partitionLog) endOf(epoch int32) (int32, int64) {
	end := l.end()
	for i := len(l.epochs) - 1; i >= 0; i-- {
		if l.epochs[i].epoch <= epoch {
			return l.epochs[i].epoch, end
		}
		end = l.epochs[i].start
	}
	return -1, 0
}

// truncate keeps the records before an offset.
func (l *partitionLog) truncate(end int64) {
	end = max(end, 0)
	if end >= l.end() {
		return
	}
	l.records = l.records[:end:end]
	for len(l.epochs) > 0 && l.epochs[len(l.epochs)-1].start >= end {
		l.epochs = l.epochs[:len(l.epochs)-1]
	}
	l.disk.Truncate(l.name, int(end))
}
