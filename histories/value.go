package histories

// Kind is the type of a Value.
type Kind uint8

// The kinds of values. Equality is strict about kind, as in Jepsen: the
// integer 1, the string "1" and the keyword :1 are three different values.
const (
	NilKind Kind = iota
	BoolKind
	IntKind
	FloatKind
	StringKind
	KeywordKind
	SymbolKind
	ListKind
	SetKind
	MapKind
	TaggedKind
)

// Value is a datum that a client sent or saw. Values are immutable and
// comparable: two values are the same iff they are == to each other, so a Value
// can be a map key. The zero Value is Nil. Compound values (lists, sets, maps)
// are kept as their canonical EDN text and taken apart on demand, which is
// what makes them comparable.
type Value struct {
	kind Kind
	num  int64  // Bool, Int, Float (its bits)
	text string // String, Keyword, Symbol; canonical EDN of compound values
}

// Nil is the absent value.
var Nil Value

// Int, String and the other constructors make values.
func Int(n int64) Value { return Value{kind: IntKind, num: n} }

// String makes a string value.
func String(s string) Value { return Value{kind: StringKind, text: s} }

// Kind gives the value's kind.
func (v Value) Kind() Kind { return v.kind }
