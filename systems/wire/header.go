package wire

import (
	"encoding/binary"
	"errors"
	"math"
)

// header is what stands before every request.
type header struct {
	key, version int16
	correlation  int32
	client       string
}

var errShortHeader = errors.New("request ends within its header")

// parseHeader reads a header as far as all versions have it, and gives what follows.
// In flexible versions that begins with tagged fields.
func parseHeader(p []byte) (header, []byte, error) {
	if len(p) < 10 {
		return header{}, nil, errShortHeader
	}
	h := header{
		key:         int16(binary.BigEndian.Uint16(p)),
		version:     int16(binary.BigEndian.Uint16(p[2:])),
		correlation: int32(binary.BigEndian.Uint32(p[4:])),
	}
	n := int(int16(binary.BigEndian.Uint16(p[8:])))
	p = p[10:]
	if n > len(p) {
		return header{}, nil, errShortHeader
	}
	if n > 0 {
		h.client, p = string(p[:n]), p[n:]
	}
	return h, p, nil
}

// skipTags passes over the tagged fields that end the header of a flexible request
// or response.
func skipTags(p []byte) ([]byte, error) {
	next := func() (uint64, error) {
		v, n := binary.Uvarint(p)
		if n <= 0 || v > math.MaxInt32 {
			return 0, errors.New("tagged fields of the header end early")
		}
		p = p[n:]
		return v, nil
	}
	count, err := next()
	for ; count > 0 && err == nil; count-- {
		var size uint64
		if _, err = next(); err != nil {
			break
		}
		if size, err = next(); err != nil {
			break
		}
		if size > uint64(len(p)) {
			return nil, errors.New("tagged fields of the header end early")
		}
		p = p[size:]
	}
	return p, err
}

// finish puts the length before a frame that begins at start.
func finish(frame []byte, start int) []byte {
	binary.BigEndian.PutUint32(frame[start:], uint32(len(frame)-start-4))
	return frame
}
