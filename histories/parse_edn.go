package histories

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// deepest is how far values may nest. The recursion of the parsers is bounded
// by it, and no history comes near.
const deepest = 200

// ParseEDN reads one value from EDN text. The error says at which offset what
// was expected.
func ParseEDN(text string) (Value, error) {
	p := ednParser{buf: []byte(text), final: true}
	v, found, err := p.next(0)
	if err == nil && !found {
		err = p.fail("expected a value, found nothing")
	}
	if err == nil {
		if _, more, err2 := p.next(0); err2 != nil || more {
			err = p.fail("expected the end after one value")
		}
	}
	if err != nil {
		return Nil, fmt.Errorf("EDN %s, byte %d: %w", quoteShort(text), errPos(err), err)
	}
	return v, nil
}

func errPos(err error) int {
	if e, ok := err.(*syntaxError); ok {
		return e.pos
	}
	return 0
}

// ednParser reads EDN values from a buffer. Where the buffer is not the final
// one, a value that touches its end may go on, and is an error marked as cut.
type ednParser struct {
	buf    []byte
	pos    int
	final  bool
	depth  int
	intern *interner
	name   []byte // the event's field in hand
}

func (p *ednParser) fail(format string, a ...any) error {
	return &syntaxError{pos: p.pos, message: fmt.Sprintf(format, a...)}
}

func (p *ednParser) cut(inside string) error {
	return &syntaxError{pos: len(p.buf), message: "expected the rest of " + inside + ", found the end of the text", cut: true}
}

// next reads the next value before the delimiter end, which it consumes, giving
// found = false; an end of 0 stands for the end of the buffer.
func (p *ednParser) next(end byte) (v Value, found bool, err error) {
	c, ok, err := p.skip()
	if err != nil {
		return Nil, false, err
	}
	if !ok {
		if end == 0 {
			return Nil, false, nil
		}
		return Nil, false, p.cut("a form that ends in " + string(end))
	}
	if c == end && end != 0 {
		p.pos++
		return Nil, false, nil
	}
	v, err = p.value(c)
	return v, err == nil, err
}

// skip passes whitespace, commas, comments and discarded forms. It gives the
// byte that follows; ok is false at the end of the buffer.
func (p *ednParser) skip() (c byte, ok bool, err error) {
	for p.pos < len(p.buf) {
		c := p.buf[p.pos]
		switch {
		case ednSpace[c]:
			p.pos++
		case c == ';':
			n := bytes.IndexByte(p.buf[p.pos:], '\n')
			if n < 0 {
				if !p.final {
					return 0, false, p.cut("a comment")
				}
				p.pos = len(p.buf)
				return 0, false, nil
			}
			p.pos += n + 1
		case c == '#' && p.pos+1 < len(p.buf) && p.buf[p.pos+1] == '_':
			if err := p.discard(); err != nil {
				return 0, false, err
			}
		default:
			return c, true, nil
		}
	}
	return 0, false, nil
}

func (p *ednParser) discard() error {
	if err := p.enter(); err != nil {
		return err
	}
	p.pos += 2
	c, ok, err := p.skip()
	if err == nil && !ok {
		err = p.cut("a discarded form")
	}
	if err == nil {
		_, err = p.value(c)
	}
	p.depth--
	return err
}

func (p *ednParser) enter() error {
	if p.depth++; p.depth > deepest {
		return p.fail("values nest deeper than %d levels", deepest)
	}
	return nil
}

var ednSpace, ednDelimiter [256]bool

func init() {
	for _, c := range " \t\r\n\f\v," {
		ednSpace[c], ednDelimiter[c] = true, true
	}
	for _, c := range `;"()[]{}` {
		ednDelimiter[c] = true
	}
}

// value reads the value that starts with c, the byte at pos.
func (p *ednParser) value(c byte) (Value, error) {
	switch c {
	case '"':
		s, err := p.stringText()
		return Value{kind: StringKind, text: s}, err
	case '[':
		return p.list(']')
	case '(':
		return p.list(')')
	case '{':
		return p.mapValue()
	case '#':
		return p.dispatch()
	case '\\':
		return p.char()
	case ')', ']', '}':
		return Nil, p.fail("expected a value, found %q", c)
	}
	token, err := p.token()
	if err != nil {
		return Nil, err
	}
	if c == ':' {
		if len(token) == 1 {
			p.pos--
			return Nil, p.fail("expected a keyword's name after the colon")
		}
		return Value{kind: KeywordKind, text: p.intern.string(token[1:])}, nil
	}
	if c >= '0' && c <= '9' || (c == '-' || c == '+') && len(token) > 1 && token[1] >= '0' && token[1] <= '9' {
		v, ok := ednNumber(token)
		if !ok {
			p.pos -= len(token)
			return Nil, p.fail("expected a number, found %s", quoteShort(string(token)))
		}
		return v, nil
	}
	switch string(token) {
	case "nil":
		return Nil, nil
	case "true":
		return Bool(true), nil
	case "false":
		return Bool(false), nil
	}
	if strings.IndexByte("^@`~'", c) >= 0 {
		p.pos -= len(token)
		return Nil, p.fail("expected a value, found %s, which is Clojure code and not EDN", quoteShort(string(token)))
	}
	return Symbol(p.intern.string(token)), nil
}

// token reads up to the next delimiter.
func (p *ednParser) token() ([]byte, error) {
	start, i := p.pos, p.pos
	ascii := byte(0)
	for i < len(p.buf) && !ednDelimiter[p.buf[i]] {
		ascii |= p.buf[i]
		i++
	}
	if i == len(p.buf) && !p.final {
		return nil, p.cut("a token")
	}
	token := p.buf[start:i]
	if ascii >= utf8.RuneSelf && !utf8.Valid(token) {
		return nil, p.fail("expected UTF-8, found other bytes")
	}
	p.pos = i
	return token, nil
}

// stringText reads a string literal.
func (p *ednParser) stringText() (string, error) {
	start := p.pos + 1
	ascii := byte(0)
	for i := start; i < len(p.buf); i++ {
		c := p.buf[i]
		switch c {
		case '"':
			if ascii >= utf8.RuneSelf && !utf8.Valid(p.buf[start:i]) {
				return "", p.fail("expected UTF-8 in the string, found other bytes")
			}
			p.pos = i + 1
			return p.intern.string(p.buf[start:i]), nil
		case '\\':
			return p.escapedText(start, i)
		}
		ascii |= c
	}
	return "", p.cut("a string")
}

// escapedText reads on from the first backslash, at i.
func (p *ednParser) escapedText(start, i int) (string, error) {
	text := slices.Clone(p.buf[start:i])
	for i < len(p.buf) {
		c := p.buf[i]
		if c == '"' {
			if !utf8.Valid(text) {
				return "", p.fail("expected UTF-8 in the string, found other bytes")
			}
			p.pos = i + 1
			return p.intern.string(text), nil
		}
		if c != '\\' {
			text = append(text, c)
			i++
			continue
		}
		r, size := unescape(p.buf[i:])
		switch {
		case size == 0:
			return "", p.cut("a string")
		case size < 0:
			p.pos = i
			return "", p.fail(`expected one of the escapes \n \t \r \b \f \" \\ \uXXXX or octal, found %s`, quoteShort(string(p.buf[i:min(i+2, len(p.buf))])))
		}
		text = utf8.AppendRune(text, r)
		i += size
	}
	return "", p.cut("a string")
}

// unescape reads the escape that b starts with, of EDN or JSON. A size of 0
// means that b ends too early, one of -1 that there is no such escape. Halves
// of a surrogate pair without their other half become U+FFFD, as in Java.
func unescape(b []byte) (r rune, size int) {
	if len(b) < 2 {
		return 0, 0
	}
	switch b[1] {
	case '"', '\\', '/':
		return rune(b[1]), 2
	case 'n':
		return '\n', 2
	case 't':
		return '\t', 2
	case 'r':
		return '\r', 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'u':
		return unescapeUnicode(b)
	case '0', '1', '2', '3', '4', '5', '6', '7':
		size = 1
		for size < len(b) && size < 4 && b[size] >= '0' && b[size] <= '7' {
			r = r<<3 | rune(b[size]-'0')
			size++
		}
		if size == len(b) {
			return 0, 0
		}
		return r, size
	}
	return 0, -1
}

func unescapeUnicode(b []byte) (rune, int) {
	r, ok := hex4(b)
	if !ok {
		if len(b) < 6 {
			return 0, 0
		}
		return 0, -1
	}
	if r < 0xd800 || r > 0xdfff {
		return r, 6
	}
	if len(b) < 12 && !bytes.ContainsRune(b[6:], '"') {
		return 0, 0
	}
	if low, ok := hex4(b[6:]); ok && r < 0xdc00 && low >= 0xdc00 && low <= 0xdfff {
		return (r-0xd800)<<10 | (low - 0xdc00) + 0x10000, 12
	}
	return utf8.RuneError, 6
}

// hex4 reads \uXXXX.
func hex4(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range b[2:6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// list reads a vector or a list.
func (p *ednParser) list(end byte) (Value, error) {
	text, err := p.elements(end, []byte{'['})
	return Value{kind: ListKind, text: string(append(text, ']'))}, err
}

func (p *ednParser) elements(end byte, text []byte) ([]byte, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	p.pos++
	for first := len(text); ; {
		v, found, err := p.next(end)
		if err != nil {
			return nil, err
		}
		if !found {
			p.depth--
			return text, nil
		}
		if len(text) > first {
			text = append(text, ' ')
		}
		text = v.AppendEDN(text)
	}
}

func (p *ednParser) set() (Value, error) {
	if err := p.enter(); err != nil {
		return Nil, err
	}
	p.pos += 2
	var elements []Value
	for {
		v, found, err := p.next('}')
		if err != nil {
			return Nil, err
		}
		if !found {
			p.depth--
			return Set(elements...), nil
		}
		elements = append(elements, v)
	}
}

func (p *ednParser) mapValue() (Value, error) {
	if err := p.enter(); err != nil {
		return Nil, err
	}
	start := p.pos
	p.pos++
	var entries []mapEntry
	for {
		key, found, err := p.next('}')
		if err != nil {
			return Nil, err
		}
		if !found {
			break
		}
		value, found, err := p.next('}')
		if err != nil {
			return Nil, err
		}
		if !found {
			p.pos--
			return Nil, p.fail("expected a value for the map's key %s, found the map's end", shown(key))
		}
		entries = append(entries, mapEntry{key.EDN(), value.EDN()})
	}
	p.depth--
	text, repeated := mapText(entries)
	if repeated {
		p.pos = start
		return Nil, p.fail("expected every key of a map once, found one twice")
	}
	return Value{kind: MapKind, text: text}, nil
}

// dispatch reads what starts with #: a set, a symbolic number or a tag.
func (p *ednParser) dispatch() (Value, error) {
	if p.pos+1 == len(p.buf) {
		return Nil, p.cut("a tag")
	}
	switch p.buf[p.pos+1] {
	case '{':
		return p.set()
	case '#':
		token, err := p.token()
		if err != nil {
			return Nil, err
		}
		switch string(token) {
		case "##Inf":
			return Float(math.Inf(1)), nil
		case "##-Inf":
			return Float(math.Inf(-1)), nil
		case "##NaN":
			return Float(math.NaN()), nil
		}
		p.pos -= len(token)
		return Nil, p.fail("expected ##Inf, ##-Inf or ##NaN, found %s", quoteShort(string(token)))
	}
	tag, err := p.tag()
	if err != nil {
		return Nil, err
	}
	if err := p.enter(); err != nil {
		return Nil, err
	}
	c, ok, err := p.skip()
	if err != nil {
		return Nil, err
	}
	if !ok {
		return Nil, p.cut("a tagged value")
	}
	v, err := p.value(c)
	p.depth--
	return Tagged(tag, v), err
}

// tag reads #name.
func (p *ednParser) tag() (string, error) {
	token, err := p.token()
	if err != nil {
		return "", err
	}
	if len(token) < 2 || token[1] == '<' {
		p.pos -= len(token)
		return "", p.fail("expected the name of a tag after #")
	}
	return string(token[1:]), nil
}

func (p *ednParser) char() (Value, error) {
	if p.pos+1 == len(p.buf) {
		return Nil, p.cut("a character")
	}
	start := p.pos
	if !utf8.FullRune(p.buf[p.pos+1:]) && !p.final {
		return Nil, p.cut("a character")
	}
	first, size := utf8.DecodeRune(p.buf[p.pos+1:])
	if first == utf8.RuneError && size <= 1 {
		return Nil, p.fail("expected UTF-8, found other bytes")
	}
	p.pos += 1 + size
	rest, err := p.token()
	if err != nil {
		return Nil, err
	}
	if len(rest) == 0 {
		return Char(first), nil
	}
	token := p.buf[start:p.pos]
	for _, c := range charNames {
		if string(token[1:]) == c.name {
			return Char(c.char), nil
		}
	}
	if len(token) == 6 {
		if r, ok := hex4(token); ok {
			return Value{kind: CharKind, text: ednChar(r)}, nil
		}
	}
	p.pos = start
	return Nil, p.fail("expected a character such as \\a, \\newline or \\u0041, found %s", quoteShort(string(token)))
}

// ednNumber reads a number of any of EDN's and Clojure's forms.
func ednNumber(token []byte) (Value, bool) {
	if v, ok := plainInt(token); ok {
		return v, true
	}
	text := strings.TrimPrefix(string(token), "+")
	switch {
	case isDecimalInt(strings.TrimSuffix(text, "N")):
		n, ok := new(big.Int).SetString(strings.TrimSuffix(text, "N"), 10)
		if !ok {
			return Nil, false
		}
		return BigInt(n), true
	case isHex(text):
		n, ok := new(big.Int).SetString(text, 0)
		if !ok {
			return Nil, false
		}
		return BigInt(n), true
	case strings.Contains(text, "/"):
		return ednRatio(text)
	case strings.HasSuffix(text, "M"):
		if _, err := strconv.ParseFloat(text[:len(text)-1], 64); err != nil && !isRange(err) || !startsDecimal(text) {
			return Nil, false
		}
		return Value{kind: NumberKind, text: text}, true
	}
	if !startsDecimal(text) {
		return Nil, false
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return Nil, false
	}
	return Float(f), true
}

func ednRatio(text string) (Value, bool) {
	a, b, _ := strings.Cut(text, "/")
	if !isDecimalInt(a) || !isDecimalInt(b) || b[0] == '-' {
		return Nil, false
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return Nil, false
	}
	if r.IsInt() {
		return BigInt(r.Num()), true
	}
	return Value{kind: NumberKind, text: r.String()}, true
}

func isRange(err error) bool {
	e, ok := err.(*strconv.NumError)
	return ok && e.Err == strconv.ErrRange
}

// startsDecimal keeps Go's further forms of floats out: hex, inf, underscores.
func startsDecimal(text string) bool {
	for _, c := range []byte(text) {
		if (c < '0' || c > '9') && strings.IndexByte("+-.eEM", c) < 0 {
			return false
		}
	}
	return true
}

func isHex(text string) bool {
	text = strings.TrimPrefix(text, "-")
	return len(text) > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X') && !strings.Contains(text, "_")
}

func isDecimalInt(text string) bool {
	text = strings.TrimPrefix(text, "-")
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return text != ""
}

// plainInt reads an integer that surely fits in 64 bits: most numbers.
func plainInt(token []byte) (Value, bool) {
	digits := token
	if token[0] == '-' {
		digits = token[1:]
	}
	if len(digits) == 0 || len(digits) > 18 {
		return Nil, false
	}
	n := int64(0)
	for _, c := range digits {
		if c < '0' || c > '9' {
			return Nil, false
		}
		n = n*10 + int64(c-'0')
	}
	if len(digits) < len(token) {
		n = -n
	}
	return Int(n), true
}
