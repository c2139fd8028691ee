package reports

import (
	"strings"
	"unicode/utf8"
)

// table lays out columns that are as wide as their widest cell. Columns after
// the words, which are numbers, are set to the right.
type table struct{ rows [][]string }

func newTable(heads ...string) *table { return &table{rows: [][]string{heads}} }

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

// String gives the table with an empty line before it, or nothing where it has
// no rows.
func (t *table) String() string {
	if len(t.rows) < 2 {
		return ""
	}
	widths := make([]int, len(t.rows[0]))
	right := make([]bool, len(widths))
	for _, r := range t.rows {
		for c, cell := range r {
			widths[c] = max(widths[c], utf8.RuneCountInString(cell))
		}
	}
	for c, cell := range t.rows[1] {
		right[c] = cell == "-" || strings.Trim(cell, "0123456789./ ?") == "" && cell != ""
	}
	var b strings.Builder
	b.WriteByte('\n')
	for _, r := range t.rows {
		line := ""
		for c, cell := range r {
			pad := strings.Repeat(" ", widths[c]-utf8.RuneCountInString(cell))
			if c > 0 {
				line += "  "
			}
			if right[c] {
				line += pad + cell
			} else {
				line += cell + pad
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}
