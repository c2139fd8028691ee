// Package browsertest is for tests that look at pages in a real browser. One
// Chromium serves all tests of a package, each in a tab of its own; a test in
// whose tab something was complained of on the console fails.
package browsertest

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// Variable in the environment names a Chromium other than the one on the path.
const Variable = "STALEMATE_CHROMIUM"

// Main runs the tests of a package and ends the browser that they started. A
// package's TestMain calls it.
func Main(m *testing.M) {
	code := m.Run()
	if stop != nil {
		stop()
	}
	os.Exit(code)
}

var (
	browser context.Context
	stop    func()
	start   = sync.OnceValue(func() error {
		// A sandbox needs what containers and root do not have; the pages are ours.
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(find()), chromedp.NoSandbox,
			chromedp.Flag("disable-dev-shm-usage", true))
		allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, end := chromedp.NewContext(allocator)
		browser, stop = ctx, func() { end(); stopAllocator() }
		return chromedp.Do(browser) // which starts it
	})
)

// find gives the path of a Chromium, or nothing.
func find() string {
	for _, name := range []string{os.Getenv(Variable), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	return ""
}
