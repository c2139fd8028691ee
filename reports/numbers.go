package reports

import (
	"fmt"
	"strings"

	"github.com/stalemate-io/stalemate/checker"
)

// PathTable gives a row for each read path of a verdict, and one for a verdict
// without paths: what it promises, whether that held, its verdict, how many
// reads were stale, and by how much.
func PathTable(v *checker.Verdict) *Table {
	t := NewTable("path", "promise", "", "verdict", "stale/reads", "p50 ms", "p99", "max", "versions")
	for _, path := range pathsOf(v) {
		x := path.verdict
		if x.Reads == 0 {
			continue
		}
		name := path.name
		if name == "" {
			name = "all"
		}
		cells := []string{name, string(x.Promise), answerWord(x.Holds), classWord(x.Verdict)}
		t.Row(append(cells, staleness(x.Measured, x.StaleReads, x.Reads, x.StalenessMS, x.VersionsBehind)...)...)
	}
	return t
}

// nodeTable gives the same numbers for each node.
func nodeTable(v *checker.Verdict) *Table {
	t := NewTable("node", "stale/reads", "p50 ms", "p99", "max", "versions")
	for _, n := range v.Nodes {
		name := n.Name
		if name == "" {
			name = "(not told)"
		}
		t.Row(append([]string{name}, staleness(true, n.StaleReads, n.Reads, n.StalenessMS, n.VersionsBehind)...)...)
	}
	return t
}

// staleness gives the cells that PathTable and nodeTable share.
func staleness(measured bool, stale, reads int, lag, behind checker.Spread) []string {
	if !measured {
		return []string{fmt.Sprintf("?/%d", reads), "?", "?", "?", "?"}
	}
	cells := []string{fmt.Sprintf("%d/%d", stale, reads)}
	for _, x := range []float64{lag.P50, lag.P99, lag.Max, behind.Max} {
		if stale == 0 {
			cells = append(cells, "-")
		} else {
			cells = append(cells, short(x))
		}
	}
	return cells
}

// short writes a number with three figures or so.
func short(x float64) string {
	switch {
	case x == float64(int64(x)) || x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x < 1:
		return fmt.Sprintf("%.2f", x)
	}
	return fmt.Sprintf("%.1f", x)
}

func (p *printer) numbers(v *checker.Verdict) {
	tables := []*Table{PathTable(v)}
	if len(v.Paths) == 0 && v.StaleReads > 0 && len(v.Nodes) > 1 {
		tables = append(tables, nodeTable(v))
	}
	for _, t := range tables {
		if t.Len() == 0 {
			continue
		}
		if p.Color {
			t.Color = wordColor
		}
		p.WriteString("\n" + t.String())
	}
}

// within tells of nodes that answered what is older over one path than over another.
func (p *printer) within(v *checker.Verdict) {
	t := NewTable("node", "behind", "ahead", "older/reads", "p50 ms", "p99", "max")
	for _, w := range v.Within {
		cells := staleness(true, w.OlderReads, w.Reads, w.LagMS, checker.Spread{})
		t.Row(append([]string{w.Node, w.Behind, w.Ahead}, cells...)...)
	}
	if t.Len() > 0 {
		p.WriteString("\nin one node, older than what it had answered over another path\n" + t.String())
	}
}

// maxFaults is how many faults the table of convergence shows.
const maxFaults = 10

// convergence tells how long reads over each path stayed stale after a fault was
// healed. Every path saw the same faults.
func (p *printer) convergence(v *checker.Verdict) {
	paths := pathsOf(v)
	heads := []string{"healed fault"}
	for _, path := range paths {
		name := path.name
		if name == "" {
			name = "ms"
		}
		heads = append(heads, name)
	}
	t := NewTable(heads...)
	faults := paths[0].verdict.Convergence
	for n := range faults {
		if n == maxFaults && !p.Verbose {
			t.Row(fmt.Sprintf("and %d more", len(faults)-n))
			break
		}
		cells := []string{faults[n].Fault}
		for _, path := range paths {
			cells = append(cells, convergedCell(path.verdict.Convergence, n))
		}
		t.Row(cells...)
	}
	if t.Len() > 0 {
		p.WriteString("\nlast stale read after each heal, in ms\n" + t.String())
	}
}

// convergedCell is empty for a path whose staleness could not be measured.
func convergedCell(of []checker.Convergence, n int) string {
	switch {
	case n >= len(of):
		return "?"
	case of[n].ConvergedMS == 0:
		return "-"
	}
	return short(of[n].ConvergedMS)
}

// elements tells what became of the elements of sets.
func (p *printer) elements(v *checker.Verdict) {
	for _, path := range pathsOf(v) {
		if e := path.verdict.Elements; e != nil {
			text := fmt.Sprintf("elements%s: %d added, %d stable (%d of them missed by a read meanwhile), %d lost, %d never read",
				prefixed(" of ", path.name), e.Attempted, e.Stable, e.Stale, e.Lost, e.NeverRead)
			p.WriteByte('\n')
			p.wrap("", len("elements: "), text)
		}
	}
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + strings.TrimSpace(s)
}
