package histories

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// ednField marks a value that JSON has no form for: {"#edn": ":timeout"} is the
// keyword :timeout.
const ednField = "#edn"

// AppendJSON appends the value as JSON from which the same value can be read
// again. Nil, booleans, numbers of 64 bits, strings, lists and maps with strings
// as keys are what JSON calls them; anything else is its EDN text in an object
// of one field, {"#edn": ":timeout"}.
func (v Value) AppendJSON(dst []byte) []byte {
	switch v.kind {
	case NilKind:
		return append(dst, "null"...)
	case BoolKind:
		return strconv.AppendBool(dst, v.num != 0)
	case IntKind:
		return strconv.AppendInt(dst, v.num, 10)
	case FloatKind:
		if f, _ := v.AsFloat(); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return appendFloat(dst, f)
		}
	case StringKind:
		return appendQuoted(dst, v.text)
	case ListKind:
		elements, _ := v.Elements()
		return appendJSONArray(dst, elements, Value.AppendJSON)
	case MapKind:
		pairs, _ := v.Pairs()
		if !jsonNames(pairs) {
			break
		}
		dst = append(dst, '{')
		for i, p := range pairs {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendQuoted(dst, p.Key.text), ':')
			dst = p.Value.AppendJSON(dst)
		}
		return append(dst, '}')
	}
	dst = append(dst, `{"`+ednField+`":`...)
	return append(appendQuoted(dst, v.EDN()), '}')
}

// jsonNames reports whether the keys of a map can name the fields of an object
// that is not taken for a value in EDN.
func jsonNames(pairs []Pair) bool {
	for _, p := range pairs {
		if p.Key.kind != StringKind || p.Key.text == ednField {
			return false
		}
	}
	return true
}

func appendJSONArray(dst []byte, elements []Value, each func(Value, []byte) []byte) []byte {
	dst = append(dst, '[')
	for i, e := range elements {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = each(e, dst)
	}
	return append(dst, ']')
}

// appendPlainJSON appends the value as other tools' JSON has it, which tells
// less: keywords, symbols and characters are strings, sets are arrays, keys of
// maps are strings, tags are gone.
func (v Value) appendPlainJSON(dst []byte) []byte {
	switch v.kind {
	case KeywordKind, SymbolKind:
		return appendQuoted(dst, v.text)
	case CharKind:
		return appendQuoted(dst, strings.TrimPrefix(v.text, `\`))
	case NumberKind:
		if digits := strings.TrimRight(v.text, "NM"); json.Valid([]byte(digits)) {
			return append(dst, digits...)
		}
		return appendQuoted(dst, v.text)
	case FloatKind:
		if f, _ := v.AsFloat(); math.IsNaN(f) || math.IsInf(f, 0) {
			return appendQuoted(dst, v.EDN())
		}
	case ListKind, SetKind:
		elements, _ := v.Elements()
		return appendJSONArray(dst, elements, Value.appendPlainJSON)
	case MapKind:
		pairs, _ := v.Pairs()
		dst = append(dst, '{')
		for i, p := range pairs {
			if i > 0 {
				dst = append(dst, ',')
			}
			name, ok := p.Key.Name()
			if !ok {
				name = p.Key.EDN()
			}
			dst = append(appendQuoted(dst, name), ':')
			dst = p.Value.appendPlainJSON(dst)
		}
		return append(dst, '}')
	case TaggedKind:
		_, inner, _ := v.Untag()
		return inner.appendPlainJSON(dst)
	}
	return v.AppendJSON(dst)
}

// MarshalJSON is AppendJSON for encoding/json.
func (v Value) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil), nil }

// UnmarshalJSON reads what MarshalJSON wrote.
func (v *Value) UnmarshalJSON(text []byte) error {
	parsed, err := ParseJSON(string(text))
	if err == nil {
		*v = parsed
	}
	return err
}
