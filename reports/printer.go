package reports

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// TextOptions says how a verdict is to look on a terminal.
type TextOptions struct {
	// Color turns colours on; leave it off where the output is no terminal or
	// NO_COLOR is set.
	Color bool
	// Width is where lines are broken; zero means 80 columns.
	Width int
	// Verbose shows every anomaly that the verdict holds. Without it the worst
	// of each kind is shown where a promise was broken, and one where none was.
	Verbose bool
}

const defaultWidth = 80

// printer builds a text of lines that are no longer than its width.
type printer struct {
	strings.Builder
	TextOptions
}

func newPrinter(o TextOptions) *printer {
	if o.Width <= 0 {
		o.Width = defaultWidth
	}
	return &printer{TextOptions: o}
}

// The colours of a terminal.
const (
	bold   = "1"
	red    = "31"
	green  = "32"
	yellow = "33"
)

func paint(color, s string) string {
	if color == "" || s == "" {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

// paint colours where the options ask for it.
func (p *printer) paint(color, s string) string {
	if !p.Color {
		return s
	}
	return paint(color, s)
}

// clean takes out what would move the cursor or change the terminal: values and
// names come from histories that anyone may have written.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '?'
		}
		return r
	}, s)
}

// wrap writes text after a prefix, breaking lines between words; further lines
// are indented.
func (p *printer) wrap(prefix string, indent int, text string) {
	p.WriteString(prefix)
	column := utf8.RuneCountInString(prefix)
	for n, word := range strings.Fields(text) {
		size := utf8.RuneCountInString(word)
		if n > 0 && column+1+size > p.Width {
			p.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		} else if n > 0 {
			p.WriteByte(' ')
			column++
		}
		p.WriteString(clean(word))
		column += size
	}
	p.WriteByte('\n')
}
