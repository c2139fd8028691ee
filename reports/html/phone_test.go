package html

import (
	"math"
	"testing"

	"github.com/stalemate-io/stalemate/internal/browsertest"
)

// seen is the stretch of time that the picture shows.
type seen struct{ From, To float64 }

func (b *tab) seen() seen {
	b.t.Helper()
	at := eval[[]float64](b, `(() => { const d = document.getElementById('canvas').dataset; return [Number(d.from), Number(d.to)]; })()`)
	return seen{at[0], at[1]}
}

// changed waits some frames until the picture shows another stretch than before.
func (b *tab) changed(before seen) seen {
	b.t.Helper()
	now := before
	for frames := 0; now == before && frames < 500; frames++ {
		eval[bool](b, `new Promise((done) => requestAnimationFrame(() => done(true)))`)
		now = b.seen()
	}
	if now == before {
		b.t.Fatal("the picture does not move")
	}
	return now
}

// timeAt gives the time that lies under a place of a phone's screen: right of the
// names of lanes and left of the edge that draw.js leaves for marks.
func (b *tab) timeAt(x float64, s seen) float64 {
	b.t.Helper()
	area := eval[[]float64](b, `(() => { const r = document.getElementById('canvas').getBoundingClientRect(); return [r.left + 66, r.right - 9]; })()`)
	return s.From + (x-area[0])/(area[1]-area[0])*(s.To-s.From)
}

func TestBrowserFitsAPhone(t *testing.T) {
	b := open(t, render(t, testInput(t, "long", longHistory(t, 4_000)), MaxDrawn), browsertest.Phone)
	eval[int](b, `(document.querySelectorAll('details').forEach((d) => { d.open = true; }), 0)`)
	if over := b.Overflow(); over > 0 {
		t.Errorf("the page is %g pixels wider than a phone", over)
	}
	b.Shot("phone")
}

func TestBrowserPictureTakesFingers(t *testing.T) {
	b := open(t, render(t, testInput(t, "long", longHistory(t, 4_000)), MaxDrawn), browsertest.Phone)
	_, y := b.Middle("#canvas")
	at := func(x, y float64) browsertest.Point { return browsertest.Point{X: x, Y: y} }
	whole := b.seen()

	// Two fingers apart, at 180 and 260 first: what lay at 220 stays there.
	under := b.timeAt(220, whole)
	b.Touch([2]browsertest.Point{at(180, y), at(120, y)}, [2]browsertest.Point{at(260, y), at(320, y)})
	zoomed := b.changed(whole)
	if span := (zoomed.To - zoomed.From) / (whole.To - whole.From); math.Abs(span-80.0/200) > 0.02 {
		t.Errorf("two fingers 80 pixels apart that go to 200 leave %.2f of the time, expected 0.40", span)
	}
	if now := b.timeAt(220, zoomed); math.Abs(now-under) > 0.01*(whole.To-whole.From) {
		t.Errorf("between the fingers lay %.0f µs, now %.0f µs", under, now)
	}

	// Two fingers one above the other zoom as well.
	b.Touch([2]browsertest.Point{at(220, y-30), at(220, y-60)}, [2]browsertest.Point{at(220, y+30), at(220, y+60)})
	steep := b.changed(zoomed)
	if span := (steep.To - steep.From) / (zoomed.To - zoomed.From); math.Abs(span-0.5) > 0.05 {
		t.Errorf("two fingers one above the other that go to twice their distance leave %.2f of the time, expected 0.50", span)
	}

	// One finger to the left shows what is later, as much as it went.
	b.Touch([2]browsertest.Point{at(300, y), at(200, y)})
	panned := b.changed(steep)
	if before, now := b.timeAt(300, steep), b.timeAt(200, panned); math.Abs(now-before) > 0.02*(whole.To-whole.From) || math.Abs(panned.To-panned.From-steep.To+steep.From) > 1 {
		t.Errorf("the finger began on %.0f µs and ends on %.0f µs; the picture showed %v, now %v", before, now, steep, panned)
	}

	// One finger upwards scrolls the page and leaves the picture alone.
	top := eval[float64](b, `scrollY`)
	b.Touch([2]browsertest.Point{at(220, y), at(220, y-120)})
	b.Await(`scrollY > ` + number(top+50))
	if now := b.seen(); now != panned {
		t.Errorf("scrolling the page moved the picture from %v to %v", panned, now)
	}

	// A tap tells the story of what is there, here of a state in the true order.
	y = eval[float64](b, `(() => {
		document.getElementById('frame').scrollIntoView({ block: 'start' });
		return document.getElementById('canvas').getBoundingClientRect().top + 52;
	})()`)
	b.Touch([2]browsertest.Point{at(220, y), at(220, y)})
	b.Await(`(() => { const r = document.getElementById('story').getBoundingClientRect(); return r.height > 0 && r.bottom <= innerHeight && r.top >= 0; })()`)
	if scale := eval[float64](b, `visualViewport.scale`); scale != 1 {
		t.Errorf("fingers on the picture zoomed the page %g times", scale)
	}
	b.Shot("phone-story")
}
