package html

import (
	"fmt"
	"math"
	"slices"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
)

// diagram is a witness drawn in space and time: a row for each operation, a bar
// from its invocation to its return, the arrows of the cycle that it proves, and
// the faults that were active. Times between events that matter range over six
// orders of magnitude, so the axis keeps their order and compresses the
// distances.
type diagram struct {
	Width, Height float64
	Top, Bottom   float64 // of the part between the axis and the head
	Rows          []diagramRow
	Arrows        []diagramArrow
	Ticks         []tick
	Bands         []diagramBand
	// Cycle is true where the arrows close a cycle.
	Cycle bool
}

type diagramRow struct {
	Y                  float64 // middle of the bar
	X, W               float64
	What, Who          string
	Open, Write, Stale bool
}

type diagramArrow struct {
	Path   string
	X, Y   float64
	Anchor string
	Why    string
}

type diagramBand struct {
	X, W float64
	Text string
}

const (
	diagramGutter = 232.0 // for what each row is
	diagramWidth  = 900.0
	diagramRight  = 110.0 // for arrows that go back
	diagramHead   = 26.0
	rowHeight     = 46.0
	barHeight     = 14.0
)

func newDiagram(h *histories.History, line *checker.Timeline, c *clock, a *anomaly) *diagram {
	if len(a.operations) == 0 {
		return nil
	}
	scale := newGaps(h, c, a.operations)
	d := &diagram{Width: diagramWidth, Top: diagramHead}
	for n, i := range a.operations {
		op := &h.Operations[i]
		call, ret, over := c.span(op)
		x, end := scale.at(call), diagramWidth-12
		if over {
			end = scale.at(ret)
		}
		r := diagramRow{
			Y: diagramHead + rowHeight*(float64(n)+0.5), X: x, W: max(end-x, 4),
			What: cut(a.Rows[n].What, 30), Who: "client " + a.Rows[n].Client, Open: !over,
			Write: op.F != histories.Read, Stale: line.Seen[i].Missed != checker.NoPlace || line.Broken[i] != "",
		}
		if op.Node > 0 {
			r.Who += " through " + cut(h.Nodes[op.Node], 16)
		}
		d.Rows = append(d.Rows, r)
	}
	d.Bottom = diagramHead + rowHeight*float64(len(d.Rows))
	d.Height = d.Bottom + 30
	found := arrows(h, line, a.operations)
	d.Cycle = len(found) > 0 && closes(found)
	d.draw(found)
	d.label(c, scale)
	d.band(line, c, scale)
	return d
}

// closes reports whether arrows make a cycle: each operation has one in and one
// out.
func closes(list []arrow) bool {
	ends := make(map[int]int)
	for _, a := range list {
		ends[a.from]++
		ends[a.to]--
	}
	for _, n := range ends {
		if n != 0 {
			return false
		}
	}
	return true
}

// draw lays the arrows out. One down to a later row is a straight line with its
// words in the gap above that row. One up to an earlier row, which is how a
// cycle closes, goes round by the right margin, each in a channel of its own.
func (d *diagram) draw(list []arrow) {
	right := 0.0
	for _, r := range d.Rows {
		right = max(right, r.X+r.W)
	}
	channel := right + 22
	for _, a := range list {
		if a.to > a.from {
			d.down(a)
			continue
		}
		d.up(a, min(channel, diagramWidth-8))
		channel += 24
	}
}

func (d *diagram) down(a arrow) {
	from, to := &d.Rows[a.from], &d.Rows[a.to]
	x1, y1, x2, y2 := from.X+from.W, from.Y, to.X-1, to.Y
	if x2 < x1+4 {
		// They overlap in time.
		x1, y1, x2, y2 = from.X+from.W/2, from.Y+barHeight/2+1, to.X+to.W/2, to.Y-barHeight/2-2
	}
	y := to.Y - rowHeight/2 + 4
	x := x1 + (x2-x1)*min(max((y-y1)/(y2-y1), 0), 1)
	d.Arrows = append(d.Arrows, diagramArrow{
		Path: fmt.Sprintf("M%.1f %.1fL%.1f %.1f", x1, y1, x2, y2),
		X:    x - 8, Y: y + 4, Anchor: "end", Why: a.why,
	})
}

func (d *diagram) up(a arrow, channel float64) {
	from, to := &d.Rows[a.from], &d.Rows[a.to]
	const bend = 9.0
	d.Arrows = append(d.Arrows, diagramArrow{
		Path: fmt.Sprintf("M%.1f %.1fH%.1fQ%.1f %.1f %.1f %.1fV%.1fQ%.1f %.1f %.1f %.1fH%.1f",
			from.X+from.W, from.Y, channel-bend, channel, from.Y, channel, from.Y-bend,
			to.Y+bend, channel, to.Y, channel-bend, to.Y, to.X+to.W+3),
		X: channel - bend - 2, Y: to.Y - 5, Anchor: "end", Why: a.why,
	})
}

// gaps is an axis that keeps the order of times and compresses the distances
// between them.
type gaps struct {
	times []float64
	xs    []float64
}

func newGaps(h *histories.History, c *clock, operations []int32) *gaps {
	g := &gaps{}
	for _, i := range operations {
		call, ret, over := c.span(&h.Operations[i])
		g.times = append(g.times, call)
		if over {
			g.times = append(g.times, ret)
		}
	}
	slices.Sort(g.times)
	g.times = slices.Compact(g.times)
	total := 0.0
	g.xs = make([]float64, len(g.times))
	for n := 1; n < len(g.times); n++ {
		total += 1 + math.Log10(1+(g.times[n]-g.times[n-1])/1000)
		g.xs[n] = total
	}
	width := diagramWidth - diagramGutter - diagramRight
	for n := range g.xs {
		g.xs[n] = diagramGutter + 14 + g.xs[n]/max(total, 1)*width
	}
	return g
}

// at gives the place of a time; between two events in proportion.
func (g *gaps) at(us float64) float64 {
	n, exact := slices.BinarySearch(g.times, us)
	last := len(g.times) - 1
	switch {
	case exact:
		return g.xs[n]
	case n == 0:
		return g.xs[0] - 10
	case n > last:
		return g.xs[last] + 10
	}
	part := (us - g.times[n-1]) / (g.times[n] - g.times[n-1])
	return g.xs[n-1] + part*(g.xs[n]-g.xs[n-1])
}

// label puts times under the axis, as many as have room.
func (d *diagram) label(c *clock, g *gaps) {
	room := math.Inf(-1)
	for n, us := range g.times {
		t := tick{At: g.xs[n]}
		if g.xs[n]-room > 62 {
			t.Text, room = c.text(us), g.xs[n]
		}
		d.Ticks = append(d.Ticks, t)
	}
}

// band marks the faults that were active meanwhile.
func (d *diagram) band(line *checker.Timeline, c *clock, g *gaps) {
	first, last := g.times[0], g.times[len(g.times)-1]
	for i := range line.Faults {
		f := &line.Faults[i]
		from, to := c.window(f)
		if to < first || from > last || to-from < 1 {
			continue
		}
		x := g.at(from)
		b := diagramBand{X: x, W: max(g.at(to)-x, 2), Text: cut(faultName(f), 40)}
		if n := len(d.Bands); n > 0 && b.X < d.Bands[n-1].X+150 {
			b.Text = "" // its words would run into those before
		}
		d.Bands = append(d.Bands, b)
	}
}

func faultName(f *checker.FaultWindow) string {
	text := f.Name
	for _, t := range f.Targets {
		text += " " + t
	}
	return text
}

func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
