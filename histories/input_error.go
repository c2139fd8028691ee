package histories

import (
	"fmt"
	"strings"
)

// InputError is a fault in a history: where it stands, what was expected there
// and what was found.
type InputError struct {
	File string // as it was given; empty where the source has no name
	// Line and Column count from 1, columns in bytes; 0 where unknown.
	Line, Column int
	Message      string
}

// Error writes file:line:column: message, as compilers do.
func (e *InputError) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File + ":")
	}
	if e.Line > 0 {
		if e.File == "" {
			b.WriteString("line ")
		}
		fmt.Fprintf(&b, "%d:", e.Line)
		if e.Column > 0 {
			fmt.Fprintf(&b, "%d:", e.Column)
		}
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	b.WriteString(e.Message)
	return b.String()
}

// syntaxError is a fault at an offset of a buffer; whoever knows where the
// buffer stands in the file makes an InputError of it.
type syntaxError struct {
	pos     int
	message string
	// cut is set where the text ended too early, so that more of it might
	// have made it right.
	cut bool
}

func (e *syntaxError) Error() string { return e.message }

// quoteShort shows what was found, cut to a length that fits in a message.
func quoteShort(s string) string {
	const most = 40
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return fmt.Sprintf("%q", s)
}

// shown shows a value that was found: text in quotes, anything else as EDN.
func shown(v Value) string {
	if s, ok := v.AsString(); ok {
		return quoteShort(s)
	}
	return quoteShort(v.EDN())
}
