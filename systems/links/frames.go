package links

import (
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"time"
)

// Fate is what becomes of a frame on a link, beside what the link does to all
// bytes. The zero Fate lets it pass.
type Fate struct {
	// Lose drops the frame: its receiver never hears of it.
	Lose bool
	// Delay holds the frame back while those behind it pass. A frame that is
	// held arrives even after its sender has closed the connection, as one does
	// that the receiver's kernel has taken and the receiver not read yet.
	Delay time.Duration
	// Double has the frame arrive twice: once in its place, and after Delay.
	Double bool
}

// maxFrame is the size of a frame from which on a connection is taken for one
// without frames.
const maxFrame = 64 << 20

// readFrames is read for a connection of frames: four bytes of length,
// big-endian, and as many bytes as they say. judge says what becomes of each.
func (s *stream) readFrames(judge func(frame []byte) Fate) {
	defer close(s.ended)
	var late sync.WaitGroup
	held := false
	for {
		frame, err := readFrame(s.src)
		if err != nil {
			late.Wait() // for frames on their way, the end comes after them
			if len(frame) > 0 {
				s.push(chunk{bytes: frame, arrived: time.Now()})
			}
			// A reset would have the receiver's kernel throw away what arrived
			// late.
			s.push(chunk{last: true, reset: !held && !errors.Is(err, io.EOF), arrived: time.Now()})
			return
		}
		fate := judge(frame[4:])
		if fate.Lose {
			continue
		}
		if fate.Delay > 0 {
			held = true
			late.Go(func() { s.pushLate(frame, fate.Delay) })
			if !fate.Double {
				continue
			}
		}
		s.push(chunk{bytes: frame, arrived: time.Now()})
		if fate.Double && fate.Delay == 0 {
			s.push(chunk{bytes: frame, arrived: time.Now()})
		}
	}
}

// pushLate pushes a frame once d has passed.
func (s *stream) pushLate(frame []byte, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		s.push(chunk{bytes: frame, arrived: time.Now()})
	case <-s.gone:
	case <-s.stop:
	}
}

// errNoFrames is a connection that carries something else than frames.
var errNoFrames = errors.New("the length of a frame is out of range")

// readFrame reads a frame with its length. With an error it gives what there is
// of one.
func readFrame(r io.Reader) ([]byte, error) {
	var length [4]byte
	if n, err := io.ReadFull(r, length[:]); err != nil {
		return length[:n], plainEnd(err)
	}
	n := binary.BigEndian.Uint32(length[:])
	if n > maxFrame {
		return length[:], errNoFrames
	}
	// Memory grows with what arrives, not with what is claimed.
	frame := append(make([]byte, 0, 4+min(int(n), readSize)), length[:]...)
	for len(frame) < 4+int(n) {
		had := len(frame)
		frame = append(frame, make([]byte, min(4+int(n)-had, readSize))...)
		k, err := io.ReadFull(r, frame[had:])
		if err != nil {
			return frame[:had+k], plainEnd(err)
		}
	}
	return frame, nil
}

// plainEnd takes an end in the middle of a frame for an end.
func plainEnd(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return io.EOF
	}
	return err
}
