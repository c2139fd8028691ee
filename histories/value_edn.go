package histories

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// EDN gives the value's canonical text in Clojure's extensible data notation.
// Equal values have equal texts.
func (v Value) EDN() string {
	switch v.kind {
	case NilKind:
		return "nil"
	case NumberKind, SymbolKind, CharKind, ListKind, SetKind, MapKind, TaggedKind:
		return v.text
	}
	return string(v.AppendEDN(nil))
}

// AppendEDN appends what EDN gives.
func (v Value) AppendEDN(dst []byte) []byte {
	switch v.kind {
	case NilKind:
		return append(dst, "nil"...)
	case BoolKind:
		return strconv.AppendBool(dst, v.num != 0)
	case IntKind:
		return strconv.AppendInt(dst, v.num, 10)
	case FloatKind:
		f, _ := v.AsFloat()
		return appendEDNFloat(dst, f)
	case StringKind:
		return appendQuoted(dst, v.text)
	case KeywordKind:
		return append(append(dst, ':'), v.text...)
	}
	return append(dst, v.text...)
}

func appendEDNFloat(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "##NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "##Inf"...)
	case math.IsInf(f, -1):
		return append(dst, "##-Inf"...)
	}
	return appendFloat(dst, f)
}

// appendFloat writes a finite float in the shortest form that reads back the
// same, and always so that it is seen not to be an integer. It is valid JSON
// and valid EDN.
func appendFloat(dst []byte, f float64) []byte {
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'g', -1, 64)
	for _, c := range dst[start:] {
		if c == '.' || c == 'e' {
			return dst
		}
	}
	return append(dst, ".0"...)
}

// charNames are EDN's names for characters that cannot stand for themselves.
var charNames = []struct {
	name string
	char rune
}{
	{"newline", '\n'}, {"return", '\r'}, {"space", ' '}, {"tab", '\t'},
	{"formfeed", '\f'}, {"backspace", '\b'},
}

func ednChar(r rune) string {
	for _, c := range charNames {
		if c.char == r {
			return `\` + c.name
		}
	}
	// Control characters and those that would end the token are spelled out,
	// as is what is no character at all.
	if r <= ' ' || r == 0x7f || r == 0xfffd || strings.ContainsRune(",;\"()[]{}", r) {
		return fmt.Sprintf(`\u%04x`, r)
	}
	return `\` + string(r)
}
