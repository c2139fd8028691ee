package histories

import "strconv"

// Version is an order token that the system itself gave for what was written
// or read: a zxid, a znode version, a leader epoch, a log offset. Larger is
// newer within a key. The zero Version is unknown, which is not version 0.
type Version struct {
	n     int64
	known bool
}

// At is the known version n.
func At(n int64) Version { return Version{n: n, known: true} }

// Get gives the version, and whether it is known.
func (v Version) Get() (n int64, known bool) { return v.n, v.known }

// String gives the number, or "unknown".
func (v Version) String() string {
	if !v.known {
		return "unknown"
	}
	return strconv.FormatInt(v.n, 10)
}

// orUnknown gives the version in the form Operation holds it.
func (v Version) orUnknown() int64 {
	if !v.known {
		return UnknownVersion
	}
	return v.n
}
