package tcp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// A record of the journal is a header and a body. The header is
//
//	4 bytes  recordMark
//	4 bytes  length of the body
//	4 bytes  CRC-32C of the next field and the body
//	8 bytes  up to which byte the journal was durable when this was written
//
// all big-endian. The body is the kind of change, the name with its length
// before it, and the data, or for a truncation how many records are kept.
const (
	headerSize = 20
	recordMark = 0x73746c6a // "stlj"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var markBytes = binary.BigEndian.AppendUint32(nil, recordMark)

// size is at least the number of bytes that the change takes in a journal.
func (w *change) size() int {
	return headerSize + 1 + 2*binary.MaxVarintLen32 + len(w.name) + len(w.data)
}

// appendTo adds the change to a journal that is durable up to a byte.
func (w *change) appendTo(to []byte, durable int64) []byte {
	start := len(to)
	to = append(to, make([]byte, headerSize)...)
	to = append(to, byte(w.kind))
	to = binary.AppendUvarint(to, uint64(len(w.name)))
	to = append(to, w.name...)
	if w.kind == truncateLog {
		to = binary.AppendUvarint(to, uint64(w.keep))
	} else {
		to = append(to, w.data...)
	}
	header := to[start:]
	binary.BigEndian.PutUint32(header, recordMark)
	binary.BigEndian.PutUint32(header[4:], uint32(len(header)-headerSize))
	binary.BigEndian.PutUint64(header[12:], uint64(durable))
	binary.BigEndian.PutUint32(header[8:], crc32.Checksum(header[12:], castagnoli))
	return to
}

var errTorn = errors.New("no whole record")

// readRecord reads the change at the beginning of p, how many bytes it takes and
// up to which byte the journal was durable before it.
func readRecord(p []byte) (w change, n int, durable int64, err error) {
	if len(p) < headerSize || binary.BigEndian.Uint32(p) != recordMark {
		return w, 0, 0, errTorn
	}
	length := int64(binary.BigEndian.Uint32(p[4:]))
	if length > int64(len(p)-headerSize) {
		return w, 0, 0, errTorn
	}
	n = headerSize + int(length)
	if crc32.Checksum(p[12:n], castagnoli) != binary.BigEndian.Uint32(p[8:]) {
		return w, 0, 0, errTorn
	}
	w, err = readChange(p[headerSize:n:n])
	return w, n, int64(binary.BigEndian.Uint64(p[12:])), err
}

// readChange reads a body whose checksum is right. What it cannot make sense of
// was written by another program.
func readChange(p []byte) (change, error) {
	bad := func(what string) (change, error) {
		return change{}, fmt.Errorf("record with %s: expected one written by this version", what)
	}
	if len(p) == 0 {
		return bad("no kind")
	}
	w := change{kind: changeKind(p[0])}
	length, k := binary.Uvarint(p[1:])
	if k <= 0 || length > uint64(len(p)-1-k) {
		return bad("a broken name")
	}
	p = p[1+k:]
	w.name, p = string(p[:length]), p[length:]
	switch w.kind {
	case appendRecord, replaceFile:
		w.data = p
	case truncateLog:
		keep, k := binary.Uvarint(p)
		if k <= 0 || keep > 1<<40 {
			return bad("a broken truncation")
		}
		w.keep = int(keep)
	default:
		return bad(fmt.Sprintf("kind %d", w.kind))
	}
	return w, nil
}

// replay reads a journal into a content, and gives the byte up to which it is
// whole. What comes after is the torn end of writes that no Sync had made
// durable, unless a record behind it shows that what is broken was durable once:
// then the disk is damaged, and going on would lose what others were told is
// safe.
func replay(journal []byte) (c content, whole int, err error) {
	c = newContent()
	for whole < len(journal) {
		w, n, _, err := readRecord(journal[whole:])
		if errors.Is(err, errTorn) {
			break
		}
		if err != nil {
			return c, whole, fmt.Errorf("at byte %d: %w", whole, err)
		}
		c.apply(w)
		whole += n
	}
	for at := whole + 1; at < len(journal); at++ {
		next := bytes.Index(journal[at:], markBytes)
		if next < 0 {
			break
		}
		at += next
		if _, _, durable, err := readRecord(journal[at:]); err == nil && durable > int64(whole) {
			return c, whole, fmt.Errorf("damaged at byte %d, before byte %d up to which everything was durable: "+
				"restore the folder or remove it to begin with an empty disk", whole, durable)
		}
	}
	return c, whole, nil
}
