package epochlog

import "slices"

// ops are what was done to a memDisk, in order. A crash keeps a prefix of them.
type memDisk struct {
	logs  map[string][][]byte
	files map[string][]byte
	ops   []func(*memDisk)
}

func newDisk() *memDisk { return &memDisk{logs: map[string][][]byte{}, files: map[string][]byte{}} }

func (d *memDisk) do(op func(*memDisk)) {
	d.ops = append(d.ops, op)
	op(d)
}

// crash gives the disk as it is if only the first n operations reached it.
func (d *memDisk) crash(n int) *memDisk {
	after := newDisk()
	for _, op := range d.ops[:n] {
		after.do(op)
	}
	return after
}

func (d *memDisk) Append(log string, records ...[]byte) {
	d.do(func(d *memDisk) { d.logs[log] = append(slices.Clip(d.logs[log]), records...) })
}

func (d *memDisk) Truncate(log string, n int) {
	d.do(func(d *memDisk) {
		if n < len(d.logs[log]) {
			d.logs[log] = d.logs[log][:n]
		}
	})
}

func (d *memDisk) Records(log string) [][]byte { return d.logs[log] }

func (d *memDisk) Write(file string, data []byte) {
	d.do(func(d *memDisk) { d.files[file] = data })
}

func (d *memDisk) Read(file string) []byte { return d.files[file] }

func (d *memDisk) Sync(done func()) { done() }
