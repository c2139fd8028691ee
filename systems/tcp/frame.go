package tcp

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"
)

// frameReader reads frames from a connection. It takes no more memory than bytes
// have arrived, whatever length a frame claims.
type frameReader struct {
	conn  net.Conn
	limit int           // bytes a frame may have
	whole time.Duration // from the first byte of a frame to its last
	buf   []byte        // read and not consumed
}

// readSize is how much is read at once, and how much of a frame is allocated
// before any of it is there.
const readSize = 16 << 10

// next gives the next frame without its length. It is the caller's.
func (r *frameReader) next() ([]byte, error) {
	if len(r.buf) == 0 {
		// Between frames a connection may be silent for ever.
		if err := r.fill(time.Time{}); err != nil {
			return nil, err
		}
	}
	deadline := time.Now().Add(r.whole)
	for len(r.buf) < 4 {
		if err := r.fill(deadline); err != nil {
			return nil, truncated(err)
		}
	}
	length := int64(binary.BigEndian.Uint32(r.buf))
	if length > int64(r.limit) {
		return nil, fmt.Errorf("frame of %d bytes: expected at most %d", length, r.limit)
	}
	end := 4 + int(length)
	for len(r.buf) < end {
		if err := r.fill(deadline); err != nil {
			return nil, truncated(err)
		}
	}
	frame := append([]byte(nil), r.buf[4:end]...)
	r.buf = append(r.buf[:0], r.buf[end:]...)
	if cap(r.buf) > 4*readSize && len(r.buf) < readSize {
		r.buf = append(make([]byte, 0, readSize), r.buf...)
	}
	return frame, nil
}

func (r *frameReader) fill(deadline time.Time) error {
	if err := r.conn.SetReadDeadline(deadline); err != nil {
		return err
	}
	n := len(r.buf)
	if cap(r.buf)-n < readSize {
		grown := make([]byte, n, max(2*n, n+readSize))
		copy(grown, r.buf)
		r.buf = grown
	}
	k, err := r.conn.Read(r.buf[n:cap(r.buf)])
	r.buf = r.buf[:n+k]
	if k > 0 {
		return nil
	}
	return err
}

// truncated tells an end in the middle of a frame from one between frames.
func truncated(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
