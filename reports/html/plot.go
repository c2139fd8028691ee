package html

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// plot is a drawing of numbers as SVG: bars or lines over time or over another
// axis, with the faults behind.
type plot struct {
	Title, XLabel, YLabel    string
	Width, Height            float64
	Left, Right, Top, Bottom float64 // of the area
	XTicks, YTicks           []tick
	Bands                    []band // faults, over the whole height of the area
	Series                   []series
	Notes                    []note // vertical lines with words
	// Summary says in words what is seen, for those who do not see it.
	Summary string
}

// band is a fault behind a plot, with its words for a tooltip.
type band struct {
	X, W float64
	Text string
}

// series is one line or area; Class names its look.
type series struct{ Name, Class, Path string }

type note struct {
	X, Y         float64
	Text, Anchor string
}

// The area of every plot, in units of its view box.
const (
	plotTop    = 22.0
	plotHeight = 142.0
)

func newPlot(title, x, y string, width float64) *plot {
	return &plot{Title: title, XLabel: x, YLabel: y, Width: width, Height: 206, Left: 58, Right: width - 26, Top: plotTop, Bottom: plotTop + plotHeight}
}

// overTime sets the horizontal axis to the time of a run.
func (p *plot) overTime(c *clock) func(us float64) float64 {
	p.XLabel = "time, s"
	unit := 1e6
	if !c.timed {
		p.XLabel, unit = "event", perPosition
	}
	x := func(us float64) float64 { return p.Left + us/c.end*(p.Right-p.Left) }
	for _, s := range steps(c.end/unit, int(p.Width/90)) {
		p.XTicks = append(p.XTicks, tick{x(s * unit), number(s)})
	}
	return x
}

// linear sets the vertical axis from 0 to top.
func (p *plot) linear(top float64) func(v float64) float64 {
	y := func(v float64) float64 { return p.Bottom - v/top*(p.Bottom-p.Top) }
	for _, s := range steps(top, 4) {
		p.YTicks = append(p.YTicks, tick{y(s), number(s)})
	}
	return y
}

// logarithmic sets the vertical axis to powers of ten.
func (p *plot) logarithmic(low, high float64) func(v float64) float64 {
	d := decades(low, high)
	from, to := math.Log10(d[0]), math.Log10(d[len(d)-1])
	y := func(v float64) float64 {
		return p.Bottom - (math.Log10(max(v, d[0]))-from)/(to-from)*(p.Bottom-p.Top)
	}
	for _, v := range d {
		p.YTicks = append(p.YTicks, tick{y(v), number(v)})
	}
	return y
}

// bars draws values as columns from the bottom, one for each of as many equal
// parts of the axis.
func (p *plot) bars(name, class string, values []float64, y func(float64) float64) {
	w := (p.Right - p.Left) / float64(len(values))
	var b strings.Builder
	for n, v := range values {
		if v > 0 {
			fmt.Fprintf(&b, "M%.1f %.1fV%.1fh%.2fV%.1fz", p.Left+float64(n)*w, p.Bottom, y(v), max(w-0.4, 0.6), p.Bottom)
		}
	}
	p.Series = append(p.Series, series{name, class, b.String()})
}

// line draws values as steps, one for each of as many equal parts of the axis;
// NaN leaves a gap.
func (p *plot) line(name, class string, values []float64, y func(float64) float64) {
	w := (p.Right - p.Left) / float64(len(values))
	var b strings.Builder
	pen := false
	for n, v := range values {
		if math.IsNaN(v) {
			pen = false
			continue
		}
		to := "L"
		if !pen {
			to = "M"
		}
		fmt.Fprintf(&b, "%s%.1f %.1f", to, p.Left+(float64(n)+0.5)*w, y(v))
		pen = true
	}
	p.Series = append(p.Series, series{name, class, b.String()})
}

// quantile gives a quantile by nearest rank; values are sorted in place.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	slices.Sort(values)
	return values[min(max(int(math.Ceil(q*float64(len(values))))-1, 0), len(values)-1)]
}
