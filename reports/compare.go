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
	Anomalies                                 map[string]int // runs by kind
	Never                                     int
}

// Compare writes the table of many runs: one block for each kind of trouble, a
// line for each read path.
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
	t := NewTable("system", "path", "promise", "linear", "lag", "diverge", "stale", "p99 ms", "worst ms", "behind", "never", "anomalies")
	t.Indent = "  "
	for _, r := range rows {
		promise := r.Promise
		if r.Broken > 0 {
			promise += " BROKEN"
		}
		t.Row(r.System, r.Path, promise, fmt.Sprint(r.Linearizable), fmt.Sprint(r.OrderedLag), fmt.Sprint(r.Divergent),
			fmt.Sprintf("%.1f%%", r.StalePercent), fmt.Sprintf("%.0f", r.LagP99MS), fmt.Sprintf("%.0f", r.LagWorstMS),
			fmt.Sprintf("%.0f", r.BehindWorst), fmt.Sprint(r.Never), kinds(r))
	}
	if p.Color {
		t.Color = func(cell string) string {
			if strings.HasSuffix(cell, "BROKEN") {
				return red
			}
			return ""
		}
	}
	p.WriteString(t.String())
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
