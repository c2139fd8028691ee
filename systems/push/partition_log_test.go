package push

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/stalemate-io/stalemate/systems/node"
)

// memoryDisk keeps what is written, synced or not.
type memoryDisk struct {
	node.Disk
	logs map[string][][]byte
}

func (d *memoryDisk) Append(log string, records ...[]byte) {
	d.logs[log] = append(d.logs[log], records...)
}
func (d *memoryDisk) Truncate(log string, n int)  { d.logs[log] = d.logs[log][:n] }
func (d *memoryDisk) Records(log string) [][]byte { return d.logs[log] }

// TestPartitionLogAgainstAList does random things to a log and holds it against
// the plain list of its records, also after reading it back from its disk.
func TestPartitionLogAgainstAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		disk := &memoryDisk{logs: map[string][][]byte{}}
		l := openLog(disk, "t-0")
		var list []Record
		epoch := int32(0)
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				epoch += int32(rapid.IntRange(1, 3).Draw(t, "by"))
				l.beginEpoch(epoch)
			case 1:
				end := rapid.Int64Range(-1, int64(len(list))+1).Draw(t, "end")
				l.truncate(end)
				list = list[:max(0, min(end, int64(len(list))))]
			case 2:
				l = openLog(disk, "t-0")
			default:
				r := Record{Epoch: epoch, Value: rapid.Int64().Draw(t, "value")}
				l.append(r)
				list = append(list, r)
			}
			if l.end() != int64(len(list)) {
				t.Fatalf("end %d, want %d", l.end(), len(list))
			}
			for i, r := range list {
				if l.records[i] != r {
					t.Fatalf("record %d is %v, want %v", i, l.records[i], r)
				}
			}
			for e := int32(-1); e <= epoch; e++ {
				// The largest epoch at or below e that has records ends before
				// the first record of a later one.
				want, end := int32(-1), int64(0)
				for i, r := range list {
					if r.Epoch <= e {
						want, end = r.Epoch, int64(i)+1
					}
				}
				got, gotEnd := l.endOf(e)
				if gotEnd != end || got < want || got > e {
					t.Fatalf("endOf(%d) = %d, %d; want %d, %d in %v (%v)", e, got, gotEnd, want, end, list, l.epochs)
				}
			}
		}
	})
}
