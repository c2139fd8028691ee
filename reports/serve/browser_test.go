package serve

import (
	"context"
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

	"github.com/stalemate-io/stalemate/histories"
)

// browser is a Chromium that looks at the server, and what it complains of.
type browser struct {
	t   *testing.T
	ctx context.Context

	mu         sync.Mutex
	complaints []string
}

func newBrowser(t *testing.T, width, height int64) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{os.Getenv("STALEMATE_CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); name != "" && err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("no Chromium is installed, so that the pages are not tried in a browser; scripts/ensure-chromium installs one, STALEMATE_CHROMIUM names another")
	}
	// A sandbox needs what containers and root do not have; the pages are ours.
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
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
	return b
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

func eval[T any](b *browser, expression string) T {
	b.t.Helper()
	return do(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// await waits until an expression is true, across pages.
func (b *browser) await(expression string) {
	b.t.Helper()
	look := chromedp.Evaluate[bool](`new Promise((done) => setTimeout(() => done(Boolean(`+expression+`)), 10))`, chromedp.EvalAwaitPromise)
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	for ctx.Err() == nil {
		// An error is one of a page that is just being left.
		if is, err := chromedp.Run(ctx, look); err == nil && is {
			return
		}
	}
	b.t.Fatalf("%s does not become true on %s", expression, eval[string](b, `document.body.innerText`))
}

// shown keeps a screenshot where somebody asked for them by STALEMATE_SHOTS.
func (b *browser) shown(name string) {
	b.t.Helper()
	dir := os.Getenv("STALEMATE_SHOTS")
	if dir == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, "serve-"+name+".png"), do(b, chromedp.CaptureScreenshot()), 0o644); err != nil {
		b.t.Fatal(err)
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

func TestBrowserWalksThroughAStore(t *testing.T) {
	store := t.TempDir()
	aRun(t, store, "first", "push", 1, 9, true)
	aRun(t, store, "second", "kraft", 2, 7, true)
	aRun(t, store, "third", "push", 3, 7, true)
	s := serveStore(t, store)
	b := newBrowser(t, 1100, 800)
	b.run(chromedp.Navigate(s.URL), chromedp.WaitVisible("table.runs"))
	b.shown("list")
	b.run(chromedp.SetValue(`select[name=system]`, "push"), chromedp.Click(`.filter button`))
	b.await(`location.search.includes('system=push') && document.querySelectorAll('tbody tr').length === 2`)
	if got := eval[string](b, `document.querySelector('select[name=system]').value`); got != "push" {
		t.Errorf("the filter forgets what was chosen: %q", got)
	}
	b.run(chromedp.Click(`input[value^="first/"]`), chromedp.Click(`input[value^="third/"]`), chromedp.Click(`.under button`))
	b.await(`document.querySelector('h1')?.textContent.includes('the one on the right linearizable')`)
	b.shown("compare")
	b.run(chromedp.Click(`.card a`))
	b.await(`location.pathname.startsWith('/run/first/') && getComputedStyle(document.querySelector('.class.ordered-lag'), '::before').backgroundColor === 'rgb(224, 161, 0)'`)
	b.shown("run")
	b.run(chromedp.Click(`a.button`))
	b.await(`document.title.startsWith('made of first')`)
	if origin := eval[string](b, `self.origin`); origin != "null" {
		t.Errorf("a report has the server's origin %q", origin)
	}
	b.quiet()
}

func TestBrowserWatchesARunUntilItsVerdict(t *testing.T) {
	store := t.TempDir()
	run := aRun(t, store, "first", "push", 1, 4, false)
	s := serveStore(t, store)
	b := newBrowser(t, 1100, 900)
	b.run(chromedp.Navigate(s.URL + first))
	b.await(`document.getElementById('live').dataset.events === '4'`)
	history, err := os.OpenFile(run.Path(histories.HistoryFile), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	fault := `{"index":8,"time":1107500000,"process":"nemesis","type":"info","f":"start-<img src=x onerror=hacked()>","value":null}`
	if _, err := history.WriteString(strings.Join(append(lines[4:8:8], fault, `{"end":true,"events":9}`), "\n") + "\n"); err != nil {
		t.Fatal(err)
	}
	if err := history.Close(); err != nil {
		t.Fatal(err)
	}
	b.await(`document.getElementById('live').dataset.events === '9'`)
	for what, want := range map[string]string{"kinds": "read · get\t2\t0\t0\t0\t1", "nodes": "n2\t2\t1\t1", "faults": "fault: <img src=x onerror=hacked()>", "state": "the verdict is being made"} {
		if got := eval[string](b, `document.getElementById('`+what+`').innerText`); !strings.Contains(got, want) {
			t.Errorf("%s shows %q, expected %q", what, got, want)
		}
	}
	if n := eval[int](b, `document.querySelectorAll('#chart .bar-stale').length`); n != 1 {
		t.Errorf("%d bars show stale reads, expected 1", n)
	}
	b.shown("live")
	finish(t, run)
	b.await(`document.querySelector('.headline .ordered-lag') !== null && document.getElementById('live') === null`)
	b.quiet()
}

func TestBrowserFitsAPhone(t *testing.T) {
	store := t.TempDir()
	aRun(t, store, "first-with-a-rather-long-name-of-its-own", "zookeeper", 1, 9, true)
	aRun(t, store, "second", "push", 2, 4, false)
	s := serveStore(t, store)
	b := newBrowser(t, 375, 800)
	for _, page := range []string{"/", "/latest", "/run/first-with-a-rather-long-name-of-its-own/20261202T120100.000Z/",
		"/compare?run=first-with-a-rather-long-name-of-its-own/20261202T120100.000Z&run=second/20261202T120200.000Z"} {
		b.run(chromedp.Navigate(s.URL + page))
		if over := eval[float64](b, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
			t.Errorf("%s is %g pixels wider than a phone", page, over)
		}
	}
	b.run(chromedp.Navigate(s.URL))
	b.shown("phone")
	b.quiet()
}
