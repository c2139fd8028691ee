package histories

import (
	"encoding/hex"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind is the type of a Value.
type Kind uint8

// The kinds of values. Equality is strict about kind, as in Jepsen: the
// integer 1, the float 1.0, the string "1" and the keyword :1 are four
// different values.
const (
	NilKind     Kind = iota
	BoolKind         // true, false
	IntKind          // an integer of 64 bits
	FloatKind        // a floating-point number of 64 bits
	NumberKind       // any other number: a larger integer, a ratio, a decimal
	StringKind       // "text"
	KeywordKind      // :name
	SymbolKind       // name
	CharKind         // \c
	ListKind         // [1 2], (1 2)
	SetKind          // #{1 2}
	MapKind          // {:a 1}
	TaggedKind       // #tag value
)

var kindNames = [...]string{
	"nil", "boolean", "integer", "float", "number", "string", "keyword",
	"symbol", "character", "list", "set", "map", "tagged value",
}

// String names the kind in words, for messages.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind(" + strconv.Itoa(int(k)) + ")"
}

// Value is a datum that a client sent or saw. Values are immutable and
// comparable: two values are the same iff they are == to each other, so a
// Value can be a map key. The zero Value is Nil. Compound values (lists, sets,
// maps, tagged values) are kept as their canonical EDN text and taken apart on
// demand, which is what makes them comparable: elements of sets and entries of
// maps stand in one fixed order.
type Value struct {
	kind Kind
	num  int64  // Bool, Int, Float (its bits)
	text string // String, Keyword, Symbol; EDN of numbers, characters and compound values
}

// Nil is the absent value.
var Nil Value

// Bool makes a boolean.
func Bool(b bool) Value {
	v := Value{kind: BoolKind}
	if b {
		v.num = 1
	}
	return v
}

// Int makes an integer.
func Int(n int64) Value { return Value{kind: IntKind, num: n} }

// Float makes a floating-point number. The two zeros are one value, and so are
// all NaNs, so that == means "the same".
func Float(f float64) Value {
	switch {
	case f == 0:
		f = 0
	case math.IsNaN(f):
		f = math.NaN()
	}
	return Value{kind: FloatKind, num: int64(math.Float64bits(f))}
}

// BigInt makes an integer of any size; one that fits in 64 bits is an Int.
func BigInt(n *big.Int) Value {
	if n.IsInt64() {
		return Int(n.Int64())
	}
	return Value{kind: NumberKind, text: n.String() + "N"}
}

// String makes a string. Text that is not UTF-8 has no form in EDN or JSON; it
// becomes the tagged value #bytes "hex", which keeps different bytes different.
func String(s string) Value {
	if !utf8.ValidString(s) {
		return Tagged("bytes", String(hex.EncodeToString([]byte(s))))
	}
	return Value{kind: StringKind, text: s}
}

// Keyword makes a keyword; the name is given without its colon.
func Keyword(name string) Value { return Value{kind: KeywordKind, text: name} }

// Symbol makes a symbol.
func Symbol(name string) Value { return Value{kind: SymbolKind, text: name} }

// Char makes a character.
func Char(r rune) Value { return Value{kind: CharKind, text: ednChar(r)} }

// List makes a list. EDN's vectors and lists are the same value, as in Clojure.
func List(elements ...Value) Value {
	b := []byte{'['}
	for i, e := range elements {
		if i > 0 {
			b = append(b, ' ')
		}
		b = e.AppendEDN(b)
	}
	return Value{kind: ListKind, text: string(append(b, ']'))}
}

// Set makes a set; elements given twice count once.
func Set(elements ...Value) Value {
	texts := make([]string, len(elements))
	for i, e := range elements {
		texts[i] = e.EDN()
	}
	slices.Sort(texts)
	texts = slices.Compact(texts)
	return Value{kind: SetKind, text: "#{" + strings.Join(texts, " ") + "}"}
}

// Pair is one entry of a map.
type Pair struct{ Key, Value Value }

// Map makes a map; of entries with the same key the last one counts.
func Map(pairs ...Pair) Value {
	entries := make([]mapEntry, len(pairs))
	for i, p := range pairs {
		entries[i] = mapEntry{p.Key.EDN(), p.Value.EDN()}
	}
	text, _ := mapText(entries)
	return Value{kind: MapKind, text: text}
}

// mapEntry is an entry of a map as canonical EDN.
type mapEntry struct{ key, value string }

// mapText joins entries to a canonical map, in order of the keys' text. Of
// entries with one key the last wins; repeated tells that there were such.
func mapText(entries []mapEntry) (text string, repeated bool) {
	slices.SortStableFunc(entries, func(a, b mapEntry) int { return strings.Compare(a.key, b.key) })
	var b strings.Builder
	b.WriteByte('{')
	for i, e := range entries {
		if i+1 < len(entries) && entries[i+1].key == e.key {
			repeated = true
			continue
		}
		if b.Len() > 1 {
			b.WriteString(", ")
		}
		b.WriteString(e.key)
		b.WriteByte(' ')
		b.WriteString(e.value)
	}
	b.WriteByte('}')
	return b.String(), repeated
}

// Tagged makes a tagged value, EDN's way to name a type. The tag is given
// without its #.
func Tagged(tag string, v Value) Value {
	b := append([]byte{'#'}, tag...)
	b = append(b, ' ')
	return Value{kind: TaggedKind, text: string(v.AppendEDN(b))}
}

// Kind gives the value's kind.
func (v Value) Kind() Kind { return v.kind }

// IsNil reports whether the value is absent.
func (v Value) IsNil() bool { return v.kind == NilKind }

// AsBool gives a boolean's value; ok is false for any other kind.
func (v Value) AsBool() (b, ok bool) { return v.num != 0, v.kind == BoolKind }

// AsInt gives an integer's value; ok is false for any other kind.
func (v Value) AsInt() (n int64, ok bool) {
	if v.kind != IntKind {
		return 0, false
	}
	return v.num, true
}

// AsFloat gives a float's value; ok is false for any other kind, integers too.
func (v Value) AsFloat() (f float64, ok bool) {
	if v.kind != FloatKind {
		return 0, false
	}
	return math.Float64frombits(uint64(v.num)), true
}

// AsString gives a string's text; ok is false for any other kind.
func (v Value) AsString() (s string, ok bool) {
	if v.kind != StringKind {
		return "", false
	}
	return v.text, true
}

// Name gives the text of what can name a thing: a string, or a keyword or
// symbol without its mark. ok is false for any other kind.
func (v Value) Name() (s string, ok bool) {
	switch v.kind {
	case StringKind, KeywordKind, SymbolKind:
		return v.text, true
	}
	return "", false
}

// Elements gives the elements of a list, in order, or of a set, in their
// canonical order; ok is false for any other kind.
func (v Value) Elements() (elements []Value, ok bool) {
	open := 1
	switch v.kind {
	case ListKind:
	case SetKind:
		open = 2
	default:
		return nil, false
	}
	p := ednParser{buf: []byte(v.text), pos: open, final: true}
	for {
		e, found, err := p.next(v.text[len(v.text)-1])
		if err != nil {
			return nil, false // cannot be: the text is canonical
		}
		if !found {
			return elements, true
		}
		elements = append(elements, e)
	}
}

// AsPair gives the two elements of a list of exactly two; ok is false for
// anything else.
func (v Value) AsPair() (first, second Value, ok bool) {
	if v.kind != ListKind {
		return Nil, Nil, false
	}
	if first, second, ok = intPair(v.text); ok {
		return first, second, true
	}
	e, _ := v.Elements()
	if len(e) != 2 {
		return Nil, Nil, false
	}
	return e[0], e[1], true
}

// intPair takes "[1 2]" apart without the parser: compare-and-set and keyed
// values of integers are most of what AsPair is asked for.
func intPair(text string) (first, second Value, ok bool) {
	inner := text[1 : len(text)-1]
	a, b, found := strings.Cut(inner, " ")
	if !found || len(a) > 18 || len(b) > 18 {
		return Nil, Nil, false
	}
	if first, ok = shortInt(a); !ok {
		return Nil, Nil, false
	}
	second, ok = shortInt(b)
	return first, second, ok
}

// shortInt reads nil or an integer of up to 18 characters.
func shortInt(s string) (Value, bool) {
	if s == "nil" {
		return Nil, true
	}
	n, i := int64(0), 0
	if len(s) > 1 && s[0] == '-' {
		i = 1
	}
	if i == len(s) {
		return Nil, false
	}
	for _, c := range []byte(s[i:]) {
		if c < '0' || c > '9' {
			return Nil, false
		}
		n = n*10 + int64(c-'0')
	}
	if i == 1 {
		n = -n
	}
	return Int(n), true
}

// Pairs gives the entries of a map in their canonical order; ok is false for
// any other kind.
func (v Value) Pairs() (pairs []Pair, ok bool) {
	if v.kind != MapKind {
		return nil, false
	}
	p := ednParser{buf: []byte(v.text), pos: 1, final: true}
	for {
		key, found, err := p.next('}')
		if err != nil {
			return nil, false // cannot be: the text is canonical
		}
		if !found {
			return pairs, true
		}
		value, _, err := p.next('}')
		if err != nil {
			return nil, false
		}
		pairs = append(pairs, Pair{key, value})
	}
}

// Untag takes a tagged value apart; ok is false for any other kind.
func (v Value) Untag() (tag string, inner Value, ok bool) {
	if v.kind != TaggedKind {
		return "", Nil, false
	}
	tag, rest, _ := strings.Cut(v.text[1:], " ")
	inner, err := ParseEDN(rest)
	return tag, inner, err == nil
}

// String writes the value for people: a string without its quotes, everything
// else as EDN.
func (v Value) String() string {
	if v.kind == StringKind {
		return v.text
	}
	return v.EDN()
}
