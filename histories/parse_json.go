package histories

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"unicode/utf8"
)

// ParseJSON reads one value from JSON text, in the form that Value.AppendJSON
// writes. The error says at which offset what was expected.
func ParseJSON(text string) (Value, error) {
	p := jsonParser{buf: []byte(text), final: true}
	v, err := p.value()
	if err == nil {
		if _, more := p.skip(); more {
			err = p.fail("expected the end after one value")
		}
	}
	if err != nil {
		return Nil, fmt.Errorf("JSON %s, byte %d: %w", quoteShort(text), errPos(err), err)
	}
	return v, nil
}

// jsonParser reads JSON (RFC 8259) from a buffer, strictly. Where the buffer is
// not the final one, a value that touches its end may go on, and is an error
// marked as cut.
type jsonParser struct {
	buf    []byte
	pos    int
	final  bool
	depth  int
	intern *interner
}

func (p *jsonParser) fail(format string, a ...any) error {
	return &syntaxError{pos: p.pos, message: fmt.Sprintf(format, a...)}
}

func (p *jsonParser) cut(inside string) error {
	return &syntaxError{pos: len(p.buf), message: "expected the rest of " + inside + ", found the end of the text", cut: true}
}

// skip passes whitespace and gives the byte that follows; more is false at the
// end of the buffer.
func (p *jsonParser) skip() (c byte, more bool) {
	for p.pos < len(p.buf) {
		switch c := p.buf[p.pos]; c {
		case ' ', '\t', '\r', '\n':
			p.pos++
		default:
			return c, true
		}
	}
	return 0, false
}

// expect passes one certain byte.
func (p *jsonParser) expect(want byte, inside string) error {
	c, more := p.skip()
	if !more {
		return p.cut(inside)
	}
	if c != want {
		return p.fail("expected %q in %s, found %s", want, inside, p.found())
	}
	p.pos++
	return nil
}

// found shows what stands at pos.
func (p *jsonParser) found() string {
	return quoteShort(string(p.buf[p.pos:min(p.pos+12, len(p.buf))]))
}

func (p *jsonParser) value() (Value, error) {
	c, more := p.skip()
	if !more {
		return Nil, p.cut("a value")
	}
	switch c {
	case '"':
		b, err := p.text()
		return Value{kind: StringKind, text: p.intern.string(b)}, err
	case '{':
		return p.object()
	case '[':
		return p.array()
	case 't':
		return Bool(true), p.word("true")
	case 'f':
		return Bool(false), p.word("false")
	case 'n':
		return Nil, p.word("null")
	}
	if c == '-' || c >= '0' && c <= '9' {
		return p.number()
	}
	return Nil, p.fail("expected a JSON value, found %s", p.found())
}

func (p *jsonParser) word(w string) error {
	rest := p.buf[p.pos:]
	if len(rest) < len(w) && string(rest) == w[:len(rest)] {
		return p.cut("a value")
	}
	if len(rest) < len(w) || string(rest[:len(w)]) != w {
		return p.fail("expected a JSON value, found %s", p.found())
	}
	p.pos += len(w)
	return nil
}

// text reads a string literal. What it gives may be a part of the buffer.
func (p *jsonParser) text() ([]byte, error) {
	start := p.pos + 1
	ascii := byte(0)
	for i, c := range p.buf[start:] {
		switch {
		case c == '"':
			b := p.buf[start : start+i]
			if ascii >= utf8.RuneSelf && !utf8.Valid(b) {
				return nil, p.fail("expected UTF-8 in the string, found other bytes")
			}
			p.pos = start + i + 1
			return b, nil
		case c == '\\':
			return p.escaped(start, start+i)
		case c < ' ':
			p.pos = start + i
			return nil, p.fail("expected no control character in a string, found %q", c)
		}
		ascii |= c
	}
	return nil, p.cut("a string")
}

// escaped reads on from the first backslash, at i.
func (p *jsonParser) escaped(start, i int) ([]byte, error) {
	text := slices.Clone(p.buf[start:i])
	for i < len(p.buf) {
		c := p.buf[i]
		switch {
		case c == '"':
			if !utf8.Valid(text) {
				return nil, p.fail("expected UTF-8 in the string, found other bytes")
			}
			p.pos = i + 1
			return text, nil
		case c < ' ':
			p.pos = i
			return nil, p.fail("expected no control character in a string, found %q", c)
		case c != '\\':
			text = append(text, c)
			i++
			continue
		}
		r, size := unescape(p.buf[i:])
		if size > 0 && p.buf[i+1] >= '0' && p.buf[i+1] <= '7' {
			size = -1 // octal is EDN's
		}
		switch {
		case size == 0:
			return nil, p.cut("a string")
		case size < 0:
			p.pos = i
			return nil, p.fail(`expected one of the escapes \n \t \r \b \f \/ \" \\ \uXXXX, found %s`, p.found())
		}
		text = utf8.AppendRune(text, r)
		i += size
	}
	return nil, p.cut("a string")
}

// number reads an integer, of any size, or a float.
func (p *jsonParser) number() (Value, error) {
	start, i := p.pos, p.pos
	if p.buf[i] == '-' {
		i++
	}
	first := i
	n := int64(0)
	for i < len(p.buf) && p.buf[i] >= '0' && p.buf[i] <= '9' {
		n = n*10 + int64(p.buf[i]-'0')
		i++
	}
	digits := i - first
	float := false
	for i < len(p.buf) && numberByte(p.buf[i]) {
		float = true
		i++
	}
	if i == len(p.buf) && !p.final {
		return Nil, p.cut("a number")
	}
	token := p.buf[start:i]
	if digits == 0 || digits > 1 && p.buf[first] == '0' {
		return Nil, p.fail("expected a number, found %s", quoteShort(string(token)))
	}
	p.pos = i
	switch {
	case float:
		return p.float(start, first+digits, token)
	case digits > 18:
		big, _ := new(big.Int).SetString(string(token), 10)
		return BigInt(big), nil
	case first > start:
		n = -n
	}
	return Int(n), nil
}

func numberByte(c byte) bool {
	return c >= '0' && c <= '9' || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-'
}

// float checks what follows the integer part, which Go would take more kindly.
func (p *jsonParser) float(start, i int, token []byte) (Value, error) {
	end := start + len(token)
	digits := func() bool {
		from := i
		for i < end && p.buf[i] >= '0' && p.buf[i] <= '9' {
			i++
		}
		return i > from
	}
	ok := true
	if p.buf[i] == '.' {
		i++
		ok = digits()
	}
	if ok && i < end && (p.buf[i] == 'e' || p.buf[i] == 'E') {
		i++
		if i < end && (p.buf[i] == '+' || p.buf[i] == '-') {
			i++
		}
		ok = digits()
	}
	f, err := strconv.ParseFloat(string(token), 64)
	if !ok || i < end || err != nil {
		p.pos = start
		return Nil, p.fail("expected a number, found %s", quoteShort(string(token)))
	}
	return Float(f), nil
}

func (p *jsonParser) enter() error {
	if p.depth++; p.depth > deepest {
		return p.fail("values nest deeper than %d levels", deepest)
	}
	return nil
}

func (p *jsonParser) array() (Value, error) {
	if err := p.enter(); err != nil {
		return Nil, err
	}
	p.pos++
	text := []byte{'['}
	c, more := p.skip()
	if more && c == ']' {
		p.pos++
		p.depth--
		return Value{kind: ListKind, text: "[]"}, nil
	}
	for {
		v, err := p.value()
		if err != nil {
			return Nil, err
		}
		text = v.AppendEDN(text)
		c, more := p.skip()
		switch {
		case !more:
			return Nil, p.cut("an array")
		case c == ']':
			p.pos++
			p.depth--
			return Value{kind: ListKind, text: string(append(text, ']'))}, nil
		case c != ',':
			return Nil, p.fail("expected ',' or ']' in an array, found %s", p.found())
		}
		p.pos++
		text = append(text, ' ')
	}
}

func (p *jsonParser) object() (Value, error) {
	if err := p.enter(); err != nil {
		return Nil, err
	}
	start := p.pos
	var entries []mapEntry
	var last Value
	for first := true; ; first = false {
		name, more, err := p.field(first)
		if err != nil {
			return Nil, err
		}
		if !more {
			break
		}
		key := String(string(name)).EDN()
		if last, err = p.value(); err != nil {
			return Nil, err
		}
		entries = append(entries, mapEntry{key, last.EDN()})
	}
	p.depth--
	if len(entries) == 1 && entries[0].key == `"`+ednField+`"` && last.kind == StringKind {
		v, err := ParseEDN(last.text)
		if err != nil {
			p.pos = start
			return Nil, p.fail("expected EDN in the field %q: %v", ednField, err)
		}
		return v, nil
	}
	text, repeated := mapText(entries)
	if repeated {
		p.pos = start
		return Nil, p.fail("expected every field of an object once, found one twice")
	}
	return Value{kind: MapKind, text: text}, nil
}

// field reads the name of an object's next field and its colon. At the first
// one pos is at the brace, which it passes; more is false at the end of the
// object, which it passes too.
func (p *jsonParser) field(first bool) (name []byte, more bool, err error) {
	if first {
		p.pos++
	}
	c, ok := p.skip()
	if !ok {
		return nil, false, p.cut("an object")
	}
	if c == '}' {
		p.pos++
		return nil, false, nil
	}
	if !first {
		if c != ',' {
			return nil, false, p.fail("expected ',' or '}' in an object, found %s", p.found())
		}
		p.pos++
		if c, ok = p.skip(); !ok {
			return nil, false, p.cut("an object")
		}
	}
	if c != '"' {
		return nil, false, p.fail("expected a field's name in quotes, found %s", p.found())
	}
	if name, err = p.text(); err != nil {
		return nil, false, err
	}
	return name, true, p.expect(':', "an object")
}
