package reports

import (
	"strings"
	"unicode/utf8"
)

// Table lays out rows in columns that are as wide as their widest cell, two
// spaces apart, without rules or frames. A column whose first row holds a number
// is set to the right. Cells may be coloured by what they say; colours take no
// room.
type Table struct {
	// Indent goes before every line.
	Indent string
	// Color gives the ANSI colour of a cell; nil or "" leaves it plain.
	Color func(cell string) string

	rows [][]string
}

// NewTable starts a table with its heads.
func NewTable(heads ...string) *Table { return &Table{rows: [][]string{heads}} }

// Row adds a row. Cells that are missing at its end are empty, those beyond the
// heads are left out.
func (t *Table) Row(cells ...string) {
	row := make([]string, len(t.rows[0]))
	for c := range min(len(cells), len(row)) {
		row[c] = clean(cells[c])
	}
	t.rows = append(t.rows, row)
}

// Len is how many rows there are below the heads.
func (t *Table) Len() int { return len(t.rows) - 1 }

// String gives the table's lines, or nothing where there is no row.
func (t *Table) String() string {
	if t.Len() == 0 {
		return ""
	}
	widths := t.widths()
	var b strings.Builder
	for n, row := range t.rows {
		last := lastFilled(row)
		b.WriteString(t.Indent)
		for c, cell := range row[:last+1] {
			if c > 0 {
				b.WriteString("  ")
			}
			pad := strings.Repeat(" ", widths[c]-utf8.RuneCountInString(cell))
			switch {
			case isNumber(t.rows[1][c]):
				b.WriteString(pad + t.painted(n, cell))
			case c == last:
				b.WriteString(t.painted(n, cell))
			default:
				b.WriteString(t.painted(n, cell) + pad)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (t *Table) widths() []int {
	widths := make([]int, len(t.rows[0]))
	for _, row := range t.rows {
		for c, cell := range row {
			widths[c] = max(widths[c], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// lastFilled is the last column of a row with something in it, so that lines end
// without blanks.
func lastFilled(row []string) int {
	last := len(row) - 1
	for last > 0 && row[last] == "" {
		last--
	}
	return last
}

func (t *Table) painted(row int, cell string) string {
	if row == 0 || t.Color == nil {
		return cell
	}
	return paint(t.Color(cell), cell)
}

// isNumber reports whether a cell is a number, two of them with a slash between,
// or stands for one that is missing.
func isNumber(cell string) bool {
	return cell != "" && strings.Trim(cell, "#0123456789./ ?-") == ""
}
