package serve

import (
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/internal/browsertest"
)

func TestMain(m *testing.M) { browsertest.Main(m) }

func TestBrowserWalksThroughAStore(t *testing.T) {
	store := t.TempDir()
	aRun(t, store, "first", "push", 1, 9, true)
	aRun(t, store, "second", "kraft", 2, 7, true)
	aRun(t, store, "third", "push", 3, 7, true)
	s := serveStore(t, store)
	b := browsertest.Open(t, browsertest.Desktop)
	b.Run(chromedp.Navigate(s.URL), chromedp.WaitVisible("table.runs"))
	b.Shot("serve-list")
	b.Run(chromedp.SetValue(`select[name=system]`, "push"), chromedp.Click(`.filter button`))
	b.Await(`location.search.includes('system=push') && document.querySelectorAll('tbody tr').length === 2`)
	if got := browsertest.Eval[string](b, `document.querySelector('select[name=system]').value`); got != "push" {
		t.Errorf("the filter forgets what was chosen: %q", got)
	}
	b.Run(chromedp.Click(`input[value^="first/"]`), chromedp.Click(`input[value^="third/"]`), chromedp.Click(`.under button`))
	b.Await(`document.querySelector('h1')?.textContent.includes('the one on the right linearizable')`)
	b.Shot("serve-compare")
	b.Run(chromedp.Click(`.card a`))
	b.Await(`location.pathname.startsWith('/run/first/') && getComputedStyle(document.querySelector('.class.ordered-lag'), '::before').backgroundColor === 'rgb(224, 161, 0)'`)
	b.Shot("serve-run")
	b.Run(chromedp.Click(`a.button`))
	b.Await(`document.title.startsWith('made of first')`)
	if origin := browsertest.Eval[string](b, `self.origin`); origin != "null" {
		t.Errorf("a report has the server's origin %q", origin)
	}
}

func TestBrowserWatchesARunUntilItsVerdict(t *testing.T) {
	store := t.TempDir()
	run := aRun(t, store, "first", "push", 1, 4, false)
	s := serveStore(t, store)
	b := browsertest.Open(t, browsertest.Desktop)
	b.Visit(s.URL + first)
	b.Await(`document.getElementById('live').dataset.events === '4'`)
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
	b.Await(`document.getElementById('live').dataset.events === '9'`)
	for what, want := range map[string]string{"kinds": "read · get\t2\t0\t0\t0\t1", "nodes": "n2\t2\t1\t1", "faults": "fault: <img src=x onerror=hacked()>", "state": "the verdict is being made"} {
		if got := browsertest.Eval[string](b, `document.getElementById('`+what+`').innerText`); !strings.Contains(got, want) {
			t.Errorf("%s shows %q, expected %q", what, got, want)
		}
	}
	if n := browsertest.Eval[int](b, `document.querySelectorAll('#chart .bar-stale').length`); n != 1 {
		t.Errorf("%d bars show stale reads, expected 1", n)
	}
	b.Shot("serve-live")
	finish(t, run)
	b.Await(`document.querySelector('.headline .ordered-lag') !== null && document.getElementById('live') === null`)
}

func TestBrowserFitsAPhone(t *testing.T) {
	store := t.TempDir()
	aRun(t, store, "first-with-a-rather-long-name-of-its-own", "zookeeper", 1, 9, true)
	aRun(t, store, "second", "push", 2, 4, false)
	s := serveStore(t, store)
	b := browsertest.Open(t, browsertest.Phone)
	for _, page := range []string{"/", "/latest", "/run/first-with-a-rather-long-name-of-its-own/20261202T120100.000Z/",
		"/compare?run=first-with-a-rather-long-name-of-its-own/20261202T120100.000Z&run=second/20261202T120200.000Z"} {
		b.Visit(s.URL + page)
		if over := b.Overflow(); over > 0 {
			t.Errorf("%s is %g pixels wider than a phone", page, over)
		}
	}
	b.Visit(s.URL)
	b.Shot("serve-phone")
}
