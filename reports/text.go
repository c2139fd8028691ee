package reports

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stalemate-io/stalemate/checker"
)

// TextOptions says how a verdict is to look on a terminal.
type TextOptions struct {
	// Color turns colours on; leave it off where the output is no terminal or
	// NO_COLOR is set.
	Color bool
	// Width is where lines are broken; zero means 80 columns.
	Width int
}

const defaultWidth = 80

// Text writes a verdict for a person: first what it is, in one sentence, then
// the numbers, then the anomalies with the operations that prove them, then what
// else to know.
func Text(w io.Writer, name string, v *checker.Verdict, o TextOptions) error {
	p := newPrinter(o)
	p.headline(name, v)
	p.edges(v)
	p.table(v)
	if len(v.Paths) == 0 {
		p.nodes(v)
		p.elements(v)
	}
	for _, path := range pathsOf(v) {
		p.anomalies(path.name, path.verdict)
	}
	p.warnings(v)
	_, err := io.WriteString(w, p.b.String())
	return err
}

// Line writes a verdict in one line, for a list of several.
func Line(w io.Writer, name string, v *checker.Verdict, o TextOptions) error {
	p := newPrinter(o)
	_, err := fmt.Fprintf(w, "%s  %s: %s\n", p.mark(v.Holds), name, p.class(v.Verdict)+" - "+v.Reason)
	return err
}

// printer builds the text.
type printer struct {
	b     strings.Builder
	color bool
	width int
}

func newPrinter(o TextOptions) *printer {
	p := &printer{color: o.Color, width: o.Width}
	if p.width <= 0 {
		p.width = defaultWidth
	}
	return p
}

// The colours of a terminal, by what they say.
const (
	red, green, yellow, bold = "31", "32", "33", "1"
)

func (p *printer) paint(color, s string) string {
	if !p.color {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

// mark says in one word whether the promise held.
func (p *printer) mark(a checker.Answer) string {
	switch a {
	case checker.Holds:
		return p.paint(green, "held")
	case checker.Violated:
		return p.paint(red, "BROKEN")
	}
	return p.paint(yellow, "undecided")
}

var classWords = map[checker.Class]string{
	checker.ClassLinearizable: "linearizable",
	checker.ClassOrderedLag:   "ordered lag",
	checker.ClassDivergent:    "divergent",
	checker.ClassUndecided:    "undecided",
}

var classColors = map[checker.Class]string{
	checker.ClassLinearizable: green,
	checker.ClassOrderedLag:   yellow,
	checker.ClassDivergent:    red,
	checker.ClassUndecided:    yellow,
}

func (p *printer) class(c checker.Class) string { return p.paint(classColors[c], classWords[c]) }

func (p *printer) headline(name string, v *checker.Verdict) {
	p.wrap("", 0, fmt.Sprintf("%s is %s: %s.", name, classWords[v.Verdict], strings.TrimSuffix(v.Reason, ".")))
	head := p.b.String()
	p.b.Reset()
	p.b.WriteString(strings.Replace(head, classWords[v.Verdict], p.class(v.Verdict), 1))
}

func (p *printer) edges(v *checker.Verdict) {
	if len(v.Paths) == 0 {
		fmt.Fprintf(&p.b, "\npromise          %s: %s\n", v.Promise, p.mark(v.Holds))
	} else {
		fmt.Fprintf(&p.b, "\npromises         %s\n", p.mark(v.Holds))
	}
	fmt.Fprintf(&p.b, "strongest held   %s\n", levels(v.StrongestHeld))
	fmt.Fprintf(&p.b, "weakest broken   %s\n", levels(v.WeakestBroken))
	fmt.Fprintf(&p.b, "looked at        %d operations (%d reads, %d of unknown outcome), model %s\n", v.Operations, v.Reads, v.Unknown, v.Model)
	if v.Engine != "" {
		by := ""
		if v.ConfirmedBy != "" {
			by = ", violations confirmed by " + v.ConfirmedBy
		}
		fmt.Fprintf(&p.b, "engine           %s%s\n", v.Engine, by)
	}
}

func levels(list []checker.Level) string {
	if len(list) == 0 {
		return "-"
	}
	var names []string
	for _, l := range list {
		names = append(names, string(l))
	}
	return strings.Join(names, ", ")
}

// named is the verdict of one path.
type named struct {
	name    string
	verdict *checker.Verdict
}

// pathsOf gives the verdicts of the paths by name, or the whole verdict alone.
func pathsOf(v *checker.Verdict) []named {
	if len(v.Paths) == 0 {
		return []named{{"", v}}
	}
	var out []named
	for _, name := range slices.Sorted(maps.Keys(v.Paths)) {
		out = append(out, named{name, v.Paths[name]})
	}
	return out
}

// table gives the numbers of each path.
func (p *printer) table(v *checker.Verdict) {
	t := newTable("path", "promise", "", "verdict", "stale / reads", "p50 ms", "p99 ms", "max ms", "versions")
	for _, path := range pathsOf(v) {
		x := path.verdict
		if x.Reads == 0 {
			continue
		}
		name := path.name
		if name == "" {
			name = "all reads"
		}
		t.row(name, string(x.Promise), plainMark(x.Holds), classWords[x.Verdict], staleOf(x.Measured, x.StaleReads, x.Reads),
			number(x.StalenessMS.P50, x.StaleReads), number(x.StalenessMS.P99, x.StaleReads),
			number(x.StalenessMS.Max, x.StaleReads), number(x.VersionsBehind.Max, x.StaleReads))
	}
	p.b.WriteString(t.String())
}

func plainMark(a checker.Answer) string {
	switch a {
	case checker.Holds:
		return "held"
	case checker.Violated:
		return "BROKEN"
	}
	return "open"
}

func staleOf(measured bool, stale, reads int) string {
	if !measured {
		return fmt.Sprintf("? / %d", reads)
	}
	return fmt.Sprintf("%d / %d", stale, reads)
}

// number shows a number of which there is none where nothing was stale.
func number(x float64, of int) string {
	switch {
	case of == 0:
		return "-"
	case x == float64(int64(x)) || x >= 100:
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.1f", x)
}

func (p *printer) nodes(v *checker.Verdict) {
	if v.StaleReads == 0 || len(v.Nodes) < 2 {
		return
	}
	t := newTable("node", "stale / reads", "p50 ms", "p99 ms", "max ms", "versions")
	for _, n := range v.Nodes {
		name := n.Name
		if name == "" {
			name = "(unknown)"
		}
		t.row(name, staleOf(true, n.StaleReads, n.Reads), number(n.StalenessMS.P50, n.StaleReads),
			number(n.StalenessMS.P99, n.StaleReads), number(n.StalenessMS.Max, n.StaleReads), number(n.VersionsBehind.Max, n.StaleReads))
	}
	p.b.WriteString(t.String())
}

func (p *printer) elements(v *checker.Verdict) {
	if e := v.Elements; e != nil {
		fmt.Fprintf(&p.b, "\nelements         %d added: %d stable (%d after being missed), %d lost, %d never read\n",
			e.Attempted, e.Stable, e.Stale, e.Lost, e.NeverRead)
	}
}

// anomalies lists what went wrong, each with its proof. Where an anomaly's text
// already tells every operation, the proof is not told again.
func (p *printer) anomalies(path string, v *checker.Verdict) {
	for _, a := range v.Anomalies {
		head := a.Kind
		if path != "" {
			head = path + ": " + head
		}
		if n := v.AnomalyCounts[a.Kind]; n > 1 {
			head += fmt.Sprintf(" (one of %d)", n)
		}
		fmt.Fprintf(&p.b, "\n%s\n", p.paint(bold, head))
		p.wrap("  ", 2, a.Text+".")
		for _, w := range a.Witness {
			p.wrap(fmt.Sprintf("    #%d ", w.Index), 8, w.Text)
		}
		if a.Cause != "" {
			p.wrap("  cause: ", 4, a.Cause)
		}
	}
}

func (p *printer) warnings(v *checker.Verdict) {
	seen := map[string]bool{}
	for _, path := range append([]named{{"", v}}, pathsOf(v)...) {
		for _, w := range path.verdict.Warnings {
			if !seen[w] {
				seen[w] = true
				p.b.WriteByte('\n')
				p.wrap("warning: ", 2, w)
			}
		}
	}
}

// wrap writes text after a prefix, breaking lines between words; further lines
// are indented.
func (p *printer) wrap(prefix string, indent int, text string) {
	p.b.WriteString(prefix)
	column := utf8.RuneCountInString(prefix)
	for n, word := range strings.Fields(text) {
		size := utf8.RuneCountInString(word)
		if n > 0 && column+1+size > p.width {
			p.b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		} else if n > 0 {
			p.b.WriteByte(' ')
			column++
		}
		p.b.WriteString(word)
		column += size
	}
	p.b.WriteByte('\n')
}
