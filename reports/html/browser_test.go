package html

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/stalemate-io/stalemate/internal/browsertest"
)

func TestMain(m *testing.M) { browsertest.Main(m) }

// tab is a tab with a report in it.
type tab struct {
	*browsertest.Tab
	t *testing.T
}

// open writes a page, opens it on a screen, and waits until the picture is drawn.
func open(t *testing.T, text string, screen browsertest.Screen) *tab {
	t.Helper()
	b := &tab{browsertest.Open(t, screen), t}
	b.VisitFile("report.html", text)
	b.Await(`document.querySelector('#canvas[data-lanes]') !== null`)
	return b
}

func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	return browsertest.Eval[T](b.Tab, expression)
}

// picture is what the page tells of its picture.
type pictured struct {
	From, To, Lanes, Keys string
	Selected              string
}

func (b *tab) picture() pictured {
	b.t.Helper()
	var p pictured
	if err := json.Unmarshal([]byte(eval[string](b, `JSON.stringify(document.getElementById('canvas').dataset)`)), &p); err != nil {
		b.t.Fatal(err)
	}
	return p
}

func TestBrowserZoomAndFilter(t *testing.T) {
	b := open(t, render(t, testInput(t, "long", longHistory(t, 4_000)), MaxDrawn), browsertest.Desktop)
	whole := b.picture()
	if whole.Lanes != "3" || whole.Keys != "8" {
		t.Errorf("%s lanes of %s keys, expected 3 of 8", whole.Lanes, whole.Keys)
	}
	b.Run(chromedp.Click("#zoom-in"))
	b.Await(`document.getElementById('canvas').dataset.to !== '` + whole.To + `'`)
	b.Run(chromedp.Click("#reset"))
	b.Await(`document.getElementById('canvas').dataset.to === '` + whole.To + `'`)

	b.Run(chromedp.Focus("#canvas"), chromedp.KeyEvent("+"))
	b.Await(`document.getElementById('canvas').dataset.to !== '` + whole.To + `'`)
	zoomed := b.picture()
	x, y := b.Middle("#canvas")
	b.Run(chromedp.MouseEvent(chromedp.MousePressed, x, y, chromedp.ButtonLeft), chromedp.MouseEvent(chromedp.MouseMoved, x-80, y, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseReleased, x-80, y, chromedp.ButtonLeft))
	b.Await(`document.getElementById('canvas').dataset.from !== '` + zoomed.From + `'`)
	if eval[float64](b, `Number(document.getElementById('canvas').dataset.from)`) <= 0 {
		t.Error("dragging to the left does not show what is later")
	}

	b.pick("#key", "k3")
	b.Await(`document.getElementById('canvas').dataset.keys === '1'`)
	b.pick("#node", "n2")
	b.Await(`document.getElementById('canvas').dataset.lanes === '1'`)
	b.pick("#client", "1")
	b.Await(`document.getElementById('canvas').dataset.lanes === '0'`)
	if status := eval[string](b, `document.getElementById('status').textContent`); !strings.Contains(status, "no read passes the filter") {
		t.Errorf("the page says %q of a picture without reads", status)
	}
}

// pick chooses an option of a select by its text.
func (b *tab) pick(selector, text string) {
	b.t.Helper()
	eval[bool](b, fmt.Sprintf(`(() => {
		const s = document.querySelector(%q);
		s.value = [...s.options].find((o) => o.text === %q).value;
		return s.dispatchEvent(new Event('change'));
	})()`, selector, text))
}

func TestBrowserEveryAnomalyCanBeReached(t *testing.T) {
	in := testInput(t, "long", longHistory(t, 6_000))
	b := open(t, render(t, in, MaxDrawn), browsertest.Desktop)
	n := eval[int](b, `document.querySelectorAll('.anomaly').length`)
	if n == 0 || n != len(in.Verdict.Anomalies) {
		t.Fatalf("the page shows %d anomalies, the verdict has %d", n, len(in.Verdict.Anomalies))
	}
	for i := 1; i <= n; i++ {
		id := fmt.Sprintf("anomaly-%d", i)
		b.Run(chromedp.Click(`#jump a[href="#` + id + `"]`))
		b.Await(fmt.Sprintf(`location.hash === '#%s' && Math.abs(document.getElementById(%q).getBoundingClientRect().top) < innerHeight`, id, id))
		b.Run(chromedp.Click(`#` + id + ` button.show`))
		b.Await(fmt.Sprintf(`document.getElementById('canvas').dataset.selected === %q`, id))
		b.Await(`(() => { const r = document.getElementById('canvas').getBoundingClientRect(); return r.top < innerHeight && r.bottom > 0; })()`)
	}
	b.Shot("anomaly")
	b.openFrame()
	b.Run(chromedp.Click(`#anomaly-1 button.porcupine`), chromedp.WaitVisible("#porcupine iframe"))
	b.Await(`document.getElementById('porcupine').open`)
	if src := eval[string](b, `document.querySelector('#porcupine iframe').srcdoc`); !strings.Contains(src, "<title>Porcupine</title>") || !strings.Contains(src, "read of") {
		t.Error("the frame does not hold porcupine's drawing")
	}
	b.awaitFrame()
	b.Shot("porcupine")
}

// awaitFrame waits until porcupine's page has drawn something. The frame is
// sandboxed; the test opens it to look inside, which lets what runs in it do more
// and not less.
func (b *tab) awaitFrame() {
	b.t.Helper()
	b.Await(`document.querySelector('#porcupine iframe').contentDocument.querySelectorAll('#canvas rect').length > 0`)
}

func (b *tab) openFrame() {
	b.t.Helper()
	b.Tolerate("can escape its sandboxing")
	eval[bool](b, `document.querySelector('#porcupine iframe').sandbox.add('allow-same-origin') === undefined`)
}

func TestBrowserRunsNothingThatAHistorySays(t *testing.T) {
	h := hostileHistory(t)
	in := testInput(t, hostile[0], h)
	b := open(t, render(t, in, MaxDrawn), browsertest.Screen{Width: 1100, Height: 1200})
	// Every story there is: sweep the pointer over the whole picture.
	size := eval[[]float64](b, `(() => { const r = document.getElementById('canvas').getBoundingClientRect(); return [r.width, r.height]; })()`)
	stories := eval[string](b, fmt.Sprintf(`(() => {
		const canvas = document.getElementById('canvas'), r = canvas.getBoundingClientRect(), seen = new Set();
		for (let y = 30; y < %f; y += 4) for (let x = 112; x < %f; x += 6) {
			canvas.dispatchEvent(new PointerEvent('pointermove', { clientX: r.left + x, clientY: r.top + y, pointerId: 1 }));
			seen.add(document.getElementById('tip').textContent);
		}
		return [...seen].join('\n');
	})()`, size[1], size[0]))
	for _, want := range []string{"read " + hostile[0], "through " + hostile[5], hostile[4]} {
		if !strings.Contains(stories, want) {
			t.Errorf("no story shows %q", want)
		}
	}
	b.openFrame()
	for i := range in.Verdict.Anomalies {
		b.Run(chromedp.Click(fmt.Sprintf(`#anomaly-%d button.porcupine`, i+1)))
		b.awaitFrame()
		// Its tooltips are the one place where a text becomes markup.
		if hacked := eval[string](b, `(() => {
			const inside = document.querySelector('#porcupine iframe').contentWindow;
			for (const e of inside.document.querySelectorAll('rect, text')) {
				for (const kind of ['mouseover', 'mousemove']) e.dispatchEvent(new inside.MouseEvent(kind, { bubbles: true }));
			}
			return inside.hacked + ' ' + inside.document.images.length;
		})()`); hacked != "undefined 0" {
			t.Errorf("porcupine's drawing of anomaly %d was made to do something: %s", i+1, hacked)
		}
		b.Run(chromedp.Click("#porcupine button"))
	}
	if got := eval[string](b, `String(window.hacked)`); got != "undefined" {
		t.Errorf("script %s of the history ran", got)
	}
	if n := eval[int](b, `document.images.length`); n != 0 {
		t.Errorf("the page has %d images of the history's making", n)
	}
	b.Shot("hostile")
}

// slowFrame is what a frame may take at most, on a slow machine that draws
// without a graphics card and runs other tests beside.
const slowFrame = 400 * time.Millisecond

func TestBrowserStaysSmoothWithManyOperations(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a page of 200,000 operations")
	}
	h := longHistory(t, MaxDrawn)
	text := render(t, testInput(t, "long", h), MaxDrawn)
	b := open(t, text, browsertest.Desktop)
	drawn := time.Duration(eval[float64](b, `performance.now()`) * float64(time.Millisecond)).Round(time.Millisecond)
	// A pan and a zoom in each frame, as a hand on a wheel makes them.
	frames := eval[[]float64](b, `(async () => {
		const canvas = document.getElementById('canvas'), times = [];
		const key = (k) => canvas.dispatchEvent(new KeyboardEvent('keydown', { key: k, bubbles: true, cancelable: true }));
		canvas.focus();
		for (let n = 0; n < 40; n++) {
			const before = performance.now();
			key(n < 20 ? '+' : '-');
			key(n % 2 ? 'ArrowLeft' : 'ArrowRight');
			await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
			times.push(performance.now() - before);
		}
		return times;
	})()`)
	median := time.Duration(quantile(frames, 0.5) * float64(time.Millisecond) / 2)
	worst := time.Duration(quantile(frames, 1) * float64(time.Millisecond) / 2)
	t.Logf("%d operations in %d KB: drawn %v after the page was asked for; a frame took %v in the median, %v at worst",
		len(h.Operations), len(text)>>10, drawn, median, worst)
	if median > slowFrame {
		t.Errorf("a frame takes %v", median)
	}
}
