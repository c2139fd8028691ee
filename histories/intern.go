package histories

import "encoding/binary"

// interner gives equal short texts one string, so that the few names and keys
// of a history are not allocated once an event. It is a cache of fixed size
// that forgets: memory stays bounded however many different texts come by.
type interner struct {
	slots [1024]string
}

const longestInterned = 64

func (in *interner) string(b []byte) string {
	if in == nil || len(b) == 0 || len(b) > longestInterned {
		return string(b)
	}
	slot := &in.slots[internHash(b)%uint64(len(in.slots))]
	if *slot != string(b) {
		*slot = string(b)
	}
	return *slot
}

// internHash mixes the length with the first and the last eight bytes, which
// is where names that are numbered differ.
func internHash(b []byte) uint64 {
	var head, tail uint64
	if len(b) >= 8 {
		head = binary.LittleEndian.Uint64(b)
		tail = binary.LittleEndian.Uint64(b[len(b)-8:])
	} else {
		for _, c := range b {
			head = head<<8 | uint64(c)
		}
	}
	h := (head ^ uint64(len(b))) * 0x9e3779b97f4a7c15
	h = (h ^ h>>29 ^ tail) * 0xbf58476d1ce4e5b9
	return h ^ h>>32
}
