package html

import (
	"fmt"
	"math"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
)

// plots draws numbers of all operations, thinned or not.
type plots struct {
	in   Input
	line *checker.Timeline
	*clock
}

// slots is how many parts a time axis has.
const slots = 150

func (d *plots) slot(us float64) int {
	return min(max(int(us/d.end*slots), 0), slots-1)
}

// bands puts the faults behind a plot.
func (d *plots) bands(p *plot, x func(float64) float64) {
	for i := range d.line.Faults {
		f := &d.line.Faults[i]
		from, to := d.window(f)
		p.Bands = append(p.Bands, band{x(from), max(x(to)-x(from), 1.5), f.Text})
	}
}

// pathPlots are the two plots of one path's staleness.
type pathPlots struct {
	Path               string
	Stale, Reads       int
	Distribution, Time *plot
}

// staleness draws each path that had stale reads whose staleness is known.
func (d *plots) staleness() []pathPlots {
	var out []pathPlots
	for _, p := range pathsOf(d.in.Verdict) {
		var lags []float64
		worst := make([]float64, slots)
		for i := range d.line.Seen {
			s, op := &d.line.Seen[i], &d.in.History.Operations[i]
			if s.Missed == checker.NoPlace || s.Lag < 0 || p.name != "" && d.in.History.Paths[op.Path] != historyPath(p.name) {
				continue
			}
			ms := float64(s.Lag) / 1e6
			call, _, _ := d.span(op)
			lags = append(lags, ms)
			worst[d.slot(call)] = max(worst[d.slot(call)], ms)
		}
		if len(lags) == 0 {
			continue
		}
		out = append(out, pathPlots{p.name, len(lags), p.verdict.Reads, distribution(lags), d.lagOverTime(worst)})
	}
	return out
}

func (d *plots) lagOverTime(worst []float64) *plot {
	p := newPlot("Lag over time", "", "ms behind", 560)
	top := 0.0
	for _, v := range worst {
		top = max(top, v)
	}
	x, y := p.overTime(d.clock), p.linear(max(top, 0.001)*1.05)
	d.bands(p, x)
	p.bars("worst stale read", "lag", worst, y)
	p.Summary = fmt.Sprintf("the worst stale read in each part of the run; %s ms at most", number(round(top)))
	return p
}

// bins is how many parts a distribution has.
const bins = 32

// distribution draws how stale the stale reads were, on a logarithmic axis.
func distribution(lags []float64) *plot {
	p := newPlot("How stale", "staleness, ms (logarithmic)", "reads", 360)
	low, high := math.Inf(1), 0.0
	for _, v := range lags {
		low, high = min(low, max(v, 0.01)), max(high, v, 0.01)
	}
	marks := decades(low, high)
	from, to := math.Log10(marks[0]), math.Log10(marks[len(marks)-1])
	x := func(v float64) float64 {
		return p.Left + (math.Log10(max(v, marks[0]))-from)/(to-from)*(p.Right-p.Left)
	}
	for _, v := range marks {
		p.XTicks = append(p.XTicks, tick{x(v), number(v)})
	}
	counts := make([]float64, bins)
	top := 0.0
	for _, v := range lags {
		n := min(int((x(v)-p.Left)/(p.Right-p.Left)*bins), bins-1)
		counts[n]++
		top = max(top, counts[n])
	}
	p.bars("stale reads", "lag", counts, p.linear(max(top*1.15, 4)))
	room := math.Inf(-1)
	for _, q := range []struct {
		name string
		at   float64
	}{{"p50", 0.5}, {"p99", 0.99}, {"max", 1}} {
		v := quantile(lags, q.at)
		n := note{X: x(v), Y: p.Top - 3, Text: q.name, Anchor: "middle"}
		if n.X < room+30 {
			n.Text = ""
		} else {
			room = n.X
		}
		p.Notes = append(p.Notes, n)
	}
	p.Summary = fmt.Sprintf("%d stale %s; half of them by at most %s ms", len(lags), plural(len(lags), "read"), number(round(quantile(lags, 0.5))))
	return p
}

// timed reports whether an operation is a client's that took time: what the
// system itself did, or is merged in afterwards, takes none.
func (d *plots) took(op *histories.Operation) (us float64, ok bool) {
	call, ret, over := d.span(op)
	return ret - call, d.timed && over && ret > call
}

// latency draws how long operations took.
func (d *plots) latency() *plot {
	p := newPlot("Latency", "", "ms (logarithmic)", 920)
	var reads, others [slots][]float64
	low, high := math.Inf(1), 0.0
	for i := range d.in.History.Operations {
		op := &d.in.History.Operations[i]
		us, ok := d.took(op)
		if !ok || op.Outcome != histories.Happened {
			continue
		}
		ms := us / 1000
		low, high = min(low, ms), max(high, ms)
		call, _, _ := d.span(op)
		if n := d.slot(call); op.F == histories.Read {
			reads[n] = append(reads[n], ms)
		} else {
			others[n] = append(others[n], ms)
		}
	}
	if high == 0 {
		return nil
	}
	x, y := p.overTime(d.clock), p.logarithmic(low, high)
	d.bands(p, x)
	for _, s := range []struct {
		name, class string
		of          *[slots][]float64
		q           float64
	}{
		{"reads, slowest", "line faint", &reads, 1}, {"reads, median", "line", &reads, 0.5},
		{"writes, slowest", "line second faint", &others, 1}, {"writes, median", "line second", &others, 0.5},
	} {
		values := make([]float64, slots)
		some := false
		for n := range values {
			values[n] = quantile(s.of[n], s.q)
			some = some || len(s.of[n]) > 0
		}
		if some {
			p.line(s.name, s.class, values, y)
		}
	}
	p.Summary = fmt.Sprintf("between %s and %s ms", number(round(low)), number(round(high)))
	return p
}

// rate draws how many operations a second ended, and how.
func (d *plots) rate() *plot {
	if !d.timed {
		return nil
	}
	p := newPlot("Rate", "", "operations a second", 920)
	per := d.end / slots / 1e6
	var done, failed, unknown [slots]float64
	top := 0.0
	for i := range d.in.History.Operations {
		op := &d.in.History.Operations[i]
		call, ret, over := d.span(op)
		n := d.slot(call)
		switch {
		case over && ret == call: // not a client's
		case op.Outcome == histories.Happened:
			done[n] += 1 / per
		case op.Outcome == histories.Failed:
			failed[n] += 1 / per
		default:
			unknown[n] += 1 / per
		}
		top = max(top, done[n], failed[n], unknown[n])
	}
	if top == 0 {
		return nil
	}
	x, y := p.overTime(d.clock), p.linear(top*1.05)
	d.bands(p, x)
	p.line("done", "line", done[:], y)
	p.line("failed", "line second", failed[:], y)
	p.line("unknown", "line third", unknown[:], y)
	p.Summary = fmt.Sprintf("up to %s operations a second", number(math.Round(top)))
	return p
}

// round keeps three figures or so.
func round(x float64) float64 {
	if x >= 100 {
		return math.Round(x)
	}
	return math.Round(x*100) / 100
}
