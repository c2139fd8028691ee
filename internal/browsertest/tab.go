package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long anything that a page is asked for may take.
const patience = time.Minute

// Screen is what a page is looked at on.
type Screen struct {
	Width, Height int64 // in CSS pixels
	Phone         bool  // a page is touched, and laid out as phones do it
	Dark          bool  // the reader's system is dark
}

// The screens of most tests.
var (
	Desktop = Screen{Width: 1280, Height: 900}
	Phone   = Screen{Width: 390, Height: 844, Phone: true}
)

// Tab is a tab of the browser. It is closed at the end of its test, which fails
// if a page in it wrote an error or a warning to the console or threw an exception.
type Tab struct {
	t   testing.TB
	ctx context.Context

	mu         sync.Mutex
	complaints []string
	tolerated  []string
}

// Open opens an empty tab, or skips the test where no Chromium is installed.
func Open(t testing.TB, screen Screen) *Tab {
	t.Helper()
	if find() == "" {
		t.Skip("no Chromium is installed, so that the pages are not tried in a browser; scripts/ensure-chromium installs one, " + Variable + " names another")
	}
	if err := start(); err != nil {
		t.Fatal(err)
	}
	ctx, end := chromedp.NewContext(browser)
	tab := &Tab{t: t, ctx: ctx}
	t.Cleanup(func() {
		end()
		tab.mu.Lock()
		defer tab.mu.Unlock()
		for _, c := range tab.complaints {
			t.Error(c)
		}
	})
	if err := chromedp.Do(ctx); err != nil { // which opens it, for as long as the context lives
		t.Fatal(err)
	}
	if err := chromedp.Listen(ctx, tab.listen); err != nil {
		t.Fatal(err)
	}
	var options []chromedp.EmulateViewportOption
	if screen.Phone {
		options = append(options, chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulatePortrait)
	}
	tab.Run(chromedp.EmulateViewport(screen.Width, screen.Height, options...))
	colours := "light"
	if screen.Dark {
		colours = "dark"
	}
	call(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: colours}},
	})
	return tab
}

// Tolerate has complaints that contain a text pass.
func (tab *Tab) Tolerate(text string) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	tab.tolerated = append(tab.tolerated, text)
}

func (tab *Tab) listen(event any) {
	complaint := ""
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		complaint = "exception: " + e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			complaint += " " + e.ExceptionDetails.Exception.Description
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			complaint = "console:"
			for _, a := range e.Args {
				complaint += fmt.Sprintf(" %s %s", a.Value, a.Description)
			}
		}
	case *log.EventEntryAdded:
		complaint = "log: " + e.Entry.Text + " " + e.Entry.URL
	}
	if complaint == "" {
		return
	}
	tab.mu.Lock()
	defer tab.mu.Unlock()
	if !slices.ContainsFunc(tab.tolerated, func(text string) bool { return strings.Contains(complaint, text) }) {
		tab.complaints = append(tab.complaints, complaint)
	}
}

// Visit opens an address.
func (tab *Tab) Visit(address string) {
	tab.t.Helper()
	tab.Run(chromedp.Navigate(address))
}

// VisitFile opens a page of a text from disk.
func (tab *Tab) VisitFile(name, text string) {
	tab.t.Helper()
	path := filepath.Join(tab.t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		tab.t.Fatal(err)
	}
	tab.Visit("file://" + path)
}

// Run does steps one after the other.
func (tab *Tab) Run(steps ...chromedp.Action[chromedp.Void]) {
	tab.t.Helper()
	do(tab, chromedp.Steps(steps...))
}

func do[T any](tab *Tab, action chromedp.Action[T]) T {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	out, err := chromedp.Run(ctx, action)
	if err != nil {
		tab.t.Fatal(err)
	}
	return out
}

// call sends a command of the protocol for which chromedp has no action.
func call[P, R any](tab *Tab, command cdp.Command[P, R], params P) R {
	tab.t.Helper()
	return do(tab, func(ctx context.Context, t *chromedp.Target) (R, error) { return cdp.Call(ctx, t, command, params) })
}

// Eval gives the value of an expression, or of the promise that it is.
func Eval[T any](tab *Tab, expression string) T {
	tab.t.Helper()
	return do(tab, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// Await waits until an expression is true, on whatever page is open by then.
func (tab *Tab) Await(expression string) {
	tab.t.Helper()
	look := chromedp.Evaluate[bool](`new Promise((done) => setTimeout(() => done(Boolean(`+expression+`)), 10))`, chromedp.EvalAwaitPromise)
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	for ctx.Err() == nil {
		// An error is one of a page that is just being left.
		if is, err := chromedp.Run(ctx, look); err == nil && is {
			return
		}
	}
	tab.t.Fatalf("%s does not become true on %s", expression, Eval[string](tab, `document.body.innerText`))
}

// Overflow is by how many pixels the page is wider than its screen.
func (tab *Tab) Overflow() float64 {
	tab.t.Helper()
	return Eval[float64](tab, `document.documentElement.scrollWidth - document.documentElement.clientWidth`)
}

// Middle scrolls to an element and gives the middle of what is seen of it.
func (tab *Tab) Middle(selector string) (x, y float64) {
	tab.t.Helper()
	tab.Run(chromedp.ScrollIntoView(selector))
	name, err := json.Marshal(selector)
	if err != nil {
		tab.t.Fatal(err)
	}
	at := Eval[[]float64](tab, `(() => {
		const r = document.querySelector(`+string(name)+`).getBoundingClientRect();
		const middle = (from, to, most) => (Math.max(from, 0) + Math.min(to, most)) / 2;
		return [middle(r.left, r.right, innerWidth), middle(r.top, r.bottom, innerHeight)];
	})()`)
	return at[0], at[1]
}

// Shot keeps a picture of what is seen as a PNG of this name in the folder of
// which STALEMATE_SHOTS tells, if it does.
func (tab *Tab) Shot(name string) {
	tab.t.Helper()
	dir := os.Getenv("STALEMATE_SHOTS")
	if dir == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), do(tab, chromedp.CaptureScreenshot()), 0o644); err != nil {
		tab.t.Fatal(err)
	}
}
