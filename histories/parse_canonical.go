package histories

import (
	"encoding/binary"
	"math/bits"
)

// canonicalEvent reads a line of JSONL that has exactly the form in which a
// Recorder writes it: the fields in its order, no space between them, small
// integers, texts without escapes. Almost every line of almost every history
// is one, and read this way it costs a third. Any other line is left to the
// general parser, which also knows what was wrong with it: ok is false, and e
// holds nothing of use.
func canonicalEvent(line []byte, in *interner, e *Event) (ok bool) {
	s := scanner{line, true}
	*e = Event{Index: unknownIndex, Time: UnknownTime}
	s.literal(`{"index":`)
	e.Index = int(s.integer())
	if s.has(`,"time":`) {
		e.Time = s.integer()
	}
	s.literal(`,"process":`)
	e.Process.Client = int(s.integer())
	s.literal(`,"type":`)
	switch string(s.text()) {
	case "invoke":
		e.Type = Invoke
	case "ok":
		e.Type = OK
	case "fail":
		e.Type = Fail
	case "info":
		e.Type = Info
	default:
		return false
	}
	s.literal(`,"f":`)
	switch f := s.text(); string(f) {
	case "read":
		e.F = "read"
	case "write":
		e.F = "write"
	default:
		e.F = in.string(f)
	}
	if s.has(`,"key":`) {
		e.Key = s.value(in)
	}
	s.literal(`,"value":`)
	e.Value = s.value(in)
	if s.has(`,"node":`) {
		e.Node = in.string(s.text())
	}
	if s.has(`,"path":`) {
		e.Path = in.string(s.text())
	}
	if s.has(`,"version":`) {
		e.Version = At(s.integer())
	}
	return s.ok && len(s.rest) == 1 && s.rest[0] == '}'
}

// scanner takes a line apart from its front; ok turns false, and stays so, at
// the first thing that is not as expected.
type scanner struct {
	rest []byte
	ok   bool
}

// has passes a certain text if it is next.
func (s *scanner) has(text string) bool {
	if len(s.rest) < len(text) || string(s.rest[:len(text)]) != text {
		return false
	}
	s.rest = s.rest[len(text):]
	return true
}

func (s *scanner) literal(text string) { s.ok = s.has(text) && s.ok }

// integer passes a number from 0 with at most 18 digits, which cannot overflow.
func (s *scanner) integer() int64 {
	n, i := digits(s.rest)
	for i < len(s.rest) && s.rest[i]-'0' <= 9 {
		n = n*10 + int64(s.rest[i]-'0')
		i++
	}
	if i == 0 || i > 18 || s.rest[0] == '0' && i > 1 || i == len(s.rest) || s.rest[i] != ',' && s.rest[i] != '}' && s.rest[i] != ']' && s.rest[i] != ' ' {
		s.ok = false
		return 0
	}
	s.rest = s.rest[i:]
	return n
}

// digits gives the number that the decimal digits make with which b begins, and
// how many they are. It looks at eight bytes in one step and no further, and at
// nothing where there are not as many.
func digits(b []byte) (n int64, length int) {
	const (
		ones  = 0x0101010101010101
		highs = 0x80 * ones
	)
	if len(b) < 8 {
		return 0, 0
	}
	// Digits become 0 to 9, to which 0x76 can be added without a high bit.
	w := binary.LittleEndian.Uint64(b) ^ '0'*ones
	length = bits.TrailingZeros64(((w+0x76*ones)|w)&highs) / 8
	// What is no digit goes out at the top, zeros come in before the first
	// digit. Then neighbours are joined: to pairs, to fours, to all eight.
	w <<= 64 - 8*length
	w = w * (10<<8 + 1) >> 8
	w = (w & 0x00ff00ff00ff00ff) * (100<<16 + 1) >> 16
	w = (w & 0x0000ffff0000ffff) * (10000<<32 + 1) >> 32
	return int64(w), length
}

// text passes a string of printable ASCII without escapes and gives what is
// between its quotes.
func (s *scanner) text() []byte {
	if len(s.rest) == 0 || s.rest[0] != '"' {
		s.ok = false
		return nil
	}
	n := plainLength(s.rest[1:])
	if n+1 >= len(s.rest) || s.rest[n+1] != '"' {
		s.ok = false
		return nil
	}
	b := s.rest[1 : n+1]
	s.rest = s.rest[n+2:]
	return b
}

// plainLength is the number of leading bytes that stand for themselves in a
// JSON string: all of ASCII but control characters, quotes and backslashes.
// Eight bytes are looked at in one step.
func plainLength(b []byte) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x80 * ones
	)
	n := 0
	for ; n+8 <= len(b); n += 8 {
		w := binary.LittleEndian.Uint64(b[n:])
		quote, slash := w^'"'*ones, w^'\\'*ones
		// In each term the lowest high bit marks the first byte that is below
		// a bound: a space, or 1 after the exclusive or made it 0.
		odd := (w | (w-' '*ones)&^w | (quote-ones)&^quote | (slash-ones)&^slash) & highs
		if odd != 0 {
			return n + bits.TrailingZeros64(odd)/8
		}
	}
	for ; n < len(b); n++ {
		if c := b[n]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			break
		}
	}
	return n
}

// value passes null, an integer, a plain string, or a list of two integers, as
// a compare-and-set has.
func (s *scanner) value(in *interner) Value {
	if len(s.rest) == 0 {
		s.ok = false
		return Nil
	}
	switch c := s.rest[0]; {
	case c == '"':
		return Value{kind: StringKind, text: in.string(s.text())}
	case c == '[':
		s.rest = s.rest[1:]
		first := Int(s.integer())
		s.literal(",")
		second := Int(s.integer())
		s.literal("]")
		if !s.ok {
			return Nil
		}
		return List(first, second)
	case c-'0' <= 9:
		return Int(s.integer())
	}
	s.literal("null")
	return Nil
}
