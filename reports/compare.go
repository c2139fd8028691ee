package reports

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// CompareRow is what one read path of one system showed over many runs.
type CompareRow struct {
	Trouble, System, Path, Promise            string
	Runs                                      int
	Linearizable, OrderedLag, Divergent, Open int
	Broken                                    int
	StalePercent                              float64
	LagP99MS, LagWorstMS, BehindWorst         float64
	OffsetsBehind                             *int64         // nil where there is no log
	Anomalies                                 map[string]int // runs by kind
	Never                                     int
}

// Compare writes the table of many runs: one block for each kind of trouble, a
// line for each read path, and below it the anomalies that it had. No line has more
// than 100 columns, as long as numbers stay below ten digits.
func Compare(w io.Writer, rows []CompareRow, o TextOptions) error {
	p := newPrinter(o)
	for i := 0; i < len(rows); {
		n := i
		for n < len(rows) && rows[n].Trouble == rows[i].Trouble {
			n++
		}
		if i > 0 {
			p.WriteByte('\n')
		}
		p.wrap("", 0, rows[i].Trouble)
		p.compared(rows[i:n])
		i = n
	}
	_, err := io.WriteString(w, p.String())
	return err
}

func (p *printer) compared(rows []CompareRow) {
	t := NewTable("system", "path", "promise", "linear", "lag", "diverge", "stale", "p99 ms", "worst ms", "behind", "offsets", "never")
	t.Indent = "  "
	for _, r := range rows {
		t.Row(r.System, r.Path, r.Promise, fmt.Sprint(r.Linearizable), fmt.Sprint(r.OrderedLag), fmt.Sprint(r.Divergent),
			fmt.Sprintf("%.1f%%", r.StalePercent), fmt.Sprintf("%.0f", r.LagP99MS), fmt.Sprintf("%.0f", r.LagWorstMS),
			fmt.Sprintf("%.0f", r.BehindWorst), offsets(r), fmt.Sprint(r.Never))
	}
	head, lines, _ := strings.Cut(t.String(), "\n")
	p.WriteString(head + "\n")
	for i, line := range strings.SplitAfter(strings.TrimSuffix(lines, "\n"), "\n") {
		p.WriteString(strings.TrimSuffix(line, "\n") + "\n")
		const under = "          "
		if r := rows[i]; r.Broken > 0 {
			p.WriteString(under + p.paint(red, fmt.Sprintf("promise broken in %d of %d runs", r.Broken, r.Runs)) + "\n")
		}
		if k := kinds(rows[i]); k != "" {
			p.WriteString(under + k + "\n")
		}
	}
}

func offsets(r CompareRow) string {
	if r.OffsetsBehind == nil {
		return "-"
	}
	return fmt.Sprint(*r.OffsetsBehind)
}

func kinds(r CompareRow) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(r.Anomalies)) {
		out = append(out, fmt.Sprintf("%s %d", k, r.Anomalies[k]))
	}
	if r.Open > 0 {
		out = append(out, fmt.Sprintf("undecided %d", r.Open))
	}
	return strings.Join(out, ", ")
}
