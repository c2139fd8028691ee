package html

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browser opens pages from disk in a real browser and keeps what it complains of.
type browser struct {
	t   *testing.T
	ctx context.Context

	mu         sync.Mutex
	complaints []string
}

// findBrowser gives the path of a Chromium, or skips the test.
func findBrowser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("STALEMATE_CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	t.Skip("no Chromium is installed, so that the page is not tried in a browser; scripts/ensure-chromium installs one, STALEMATE_CHROMIUM names another")
	return ""
}

// open writes a page, opens it in a window of a size, and waits until the picture
// is drawn.
func open(t *testing.T, text string, width, height int64) *browser {
	t.Helper()
	// A sandbox needs what containers and root do not have; the pages are ours.
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(findBrowser(t)), chromedp.NoSandbox,
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.WindowSize(int(width), int(height)))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(allocator)
	t.Cleanup(end)
	b := &browser{t: t, ctx: ctx}
	b.run(chromedp.EmulateViewport(width, height))
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	b.visit("report.html", text)
	b.await(`document.querySelector('#canvas[data-lanes]') !== null`)
	return b
}

// visit opens a page from disk.
func (b *browser) visit(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
	b.run(chromedp.Navigate("file://" + path))
}

func (b *browser) listen(event any) {
	complaint := ""
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		complaint = "exception: " + e.ExceptionDetails.Text
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" {
			complaint = fmt.Sprintf("console: %s", e.Args[0].Value)
		}
	case *log.EventEntryAdded:
		if strings.Contains(e.Entry.Text, "can escape its sandboxing") {
			return // the test's own doing, see openFrame
		}
		complaint = "log: " + e.Entry.Text + " " + e.Entry.URL
	}
	if complaint != "" {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.complaints = append(b.complaints, complaint)
	}
}

// patience is how long anything that a page is asked for may take.
const patience = time.Minute

func (b *browser) run(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	do(b, chromedp.Steps(steps...))
}

// eval gives the value of an expression.
func eval[T any](b *browser, expression string) T {
	b.t.Helper()
	return do(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

func do[T any](b *browser, action chromedp.Action[T]) T {
	b.t.Helper()
	ctx := b.ctx
	if chromedp.FromContext(ctx).Target != nil { // the first action starts the browser, which lives as long as its context
		limited, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		ctx = limited
	}
	out, err := chromedp.Run(ctx, action)
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// await waits until an expression is true.
func (b *browser) await(expression string) {
	b.t.Helper()
	if !eval[bool](b, `new Promise((done) => {
		const until = Date.now() + 20000;
		(function look() {
			if (`+expression+`) done(true);
			else if (Date.now() > until) done(false);
			else setTimeout(look, 10);
		})();
	})`) {
		b.t.Fatalf("%s does not become true", expression)
	}
}

func (b *browser) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.complaints {
		b.t.Error(c)
	}
}

// picture is what the page tells of its picture.
type pictured struct {
	From, To, Lanes, Keys string
	Selected              string
}

func (b *browser) picture() pictured {
	b.t.Helper()
	var p pictured
	if err := json.Unmarshal([]byte(eval[string](b, `JSON.stringify(document.getElementById('canvas').dataset)`)), &p); err != nil {
		b.t.Fatal(err)
	}
	return p
}

// shown keeps a screenshot where somebody asked for them by STALEMATE_SHOTS.
func (b *browser) shown(name string) {
	b.t.Helper()
	dir := os.Getenv("STALEMATE_SHOTS")
	if dir == "" {
		return
	}
	png := do(b, chromedp.CaptureScreenshot())
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func TestBrowserZoomAndFilter(t *testing.T) {
	b := open(t, render(t, testInput(t, "long", longHistory(t, 4_000)), MaxDrawn), 1100, 900)
	whole := b.picture()
	if whole.Lanes != "3" || whole.Keys != "8" {
		t.Errorf("%s lanes of %s keys, expected 3 of 8", whole.Lanes, whole.Keys)
	}
	b.run(chromedp.Click("#zoom-in"))
	b.await(`document.getElementById('canvas').dataset.to !== '` + whole.To + `'`)
	b.run(chromedp.Click("#reset"))
	b.await(`document.getElementById('canvas').dataset.to === '` + whole.To + `'`)

	b.run(chromedp.Focus("#canvas"), chromedp.KeyEvent("+"))
	b.await(`document.getElementById('canvas').dataset.to !== '` + whole.To + `'`)
	zoomed := b.picture()
	x, y := b.middle("#canvas")
	b.run(chromedp.MouseEvent(chromedp.MousePressed, x, y, chromedp.ButtonLeft), chromedp.MouseEvent(chromedp.MouseMoved, x-80, y, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseReleased, x-80, y, chromedp.ButtonLeft))
	b.await(`document.getElementById('canvas').dataset.from !== '` + zoomed.From + `'`)
	if eval[float64](b, `Number(document.getElementById('canvas').dataset.from)`) <= 0 {
		t.Error("dragging to the left does not show what is later")
	}

	b.pick("#key", "k3")
	b.await(`document.getElementById('canvas').dataset.keys === '1'`)
	b.pick("#node", "n2")
	b.await(`document.getElementById('canvas').dataset.lanes === '1'`)
	b.pick("#client", "1")
	b.await(`document.getElementById('canvas').dataset.lanes === '0'`)
	if status := eval[string](b, `document.getElementById('status').textContent`); !strings.Contains(status, "no read passes the filter") {
		t.Errorf("the page says %q of a picture without reads", status)
	}
	b.quiet()
}

// pick chooses an option of a select by its text.
func (b *browser) pick(selector, text string) {
	b.t.Helper()
	eval[bool](b, fmt.Sprintf(`(() => {
		const s = document.querySelector(%q);
		s.value = [...s.options].find((o) => o.text === %q).value;
		return s.dispatchEvent(new Event('change'));
	})()`, selector, text))
}

func (b *browser) middle(selector string) (x, y float64) {
	b.t.Helper()
	b.run(chromedp.ScrollIntoView(selector))
	at := eval[[]float64](b, fmt.Sprintf(`(() => { const r = document.querySelector(%q).getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`, selector))
	return at[0], at[1]
}

func TestBrowserEveryAnomalyCanBeReached(t *testing.T) {
	in := testInput(t, "long", longHistory(t, 6_000))
	b := open(t, render(t, in, MaxDrawn), 1100, 900)
	n := eval[int](b, `document.querySelectorAll('.anomaly').length`)
	if n == 0 || n != len(in.Verdict.Anomalies) {
		t.Fatalf("the page shows %d anomalies, the verdict has %d", n, len(in.Verdict.Anomalies))
	}
	for i := 1; i <= n; i++ {
		id := fmt.Sprintf("anomaly-%d", i)
		b.run(chromedp.Click(`#jump a[href="#` + id + `"]`))
		b.await(fmt.Sprintf(`location.hash === '#%s' && Math.abs(document.getElementById(%q).getBoundingClientRect().top) < innerHeight`, id, id))
		b.run(chromedp.Click(`#` + id + ` button.show`))
		b.await(fmt.Sprintf(`document.getElementById('canvas').dataset.selected === %q`, id))
		b.await(`(() => { const r = document.getElementById('canvas').getBoundingClientRect(); return r.top < innerHeight && r.bottom > 0; })()`)
	}
	b.shown("anomaly")
	b.openFrame()
	b.run(chromedp.Click(`#anomaly-1 button.porcupine`), chromedp.WaitVisible("#porcupine iframe"))
	b.await(`document.getElementById('porcupine').open`)
	if src := eval[string](b, `document.querySelector('#porcupine iframe').srcdoc`); !strings.Contains(src, "<title>Porcupine</title>") || !strings.Contains(src, "read of") {
		t.Error("the frame does not hold porcupine's drawing")
	}
	b.awaitFrame()
	b.shown("porcupine")
	b.quiet()
}

// awaitFrame waits until porcupine's page has drawn something. The frame is
// sandboxed; the test opens it to look inside, which lets what runs in it do more
// and not less.
func (b *browser) awaitFrame() {
	b.t.Helper()
	b.await(`document.querySelector('#porcupine iframe').contentDocument.querySelectorAll('#canvas rect').length > 0`)
}

func (b *browser) openFrame() {
	b.t.Helper()
	eval[bool](b, `document.querySelector('#porcupine iframe').sandbox.add('allow-same-origin') === undefined`)
}

func TestBrowserRunsNothingThatAHistorySays(t *testing.T) {
	h := hostileHistory(t)
	in := testInput(t, hostile[0], h)
	b := open(t, render(t, in, MaxDrawn), 1100, 1200)
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
		b.run(chromedp.Click(fmt.Sprintf(`#anomaly-%d button.porcupine`, i+1)))
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
		b.run(chromedp.Click("#porcupine button"))
	}
	if got := eval[string](b, `String(window.hacked)`); got != "undefined" {
		t.Errorf("script %s of the history ran", got)
	}
	if n := eval[int](b, `document.images.length`); n != 0 {
		t.Errorf("the page has %d images of the history's making", n)
	}
	b.shown("hostile")
	b.quiet()
}

func TestBrowserFitsAPhone(t *testing.T) {
	b := open(t, render(t, testInput(t, "long", longHistory(t, 4_000)), MaxDrawn), 375, 800)
	if over := eval[float64](b, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
		t.Errorf("the page is %g pixels wider than a phone", over)
	}
	b.shown("phone")
	b.quiet()
}

// slowFrame is what a frame may take at most, on a slow machine that draws
// without a graphics card and runs other tests beside.
const slowFrame = 400 * time.Millisecond

func TestBrowserStaysSmoothWithManyOperations(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a page of 200,000 operations")
	}
	h := longHistory(t, MaxDrawn)
	b := open(t, render(t, testInput(t, "long", h), MaxDrawn), 1100, 900)
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
	t.Logf("%d operations: a frame took %v in the median, %v at worst", len(h.Operations), median, worst)
	if median > slowFrame {
		t.Errorf("a frame takes %v", median)
	}
	b.quiet()
}
