//go:build unix

package serve

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stalemate-io/stalemate/histories"
)

// TestNothingFromOutsideTheStore asks for a secret beside the store in every way
// there is: by paths, and through links that somebody has put into the store.
func TestNothingFromOutsideTheStore(t *testing.T) {
	const secret = "the secret"
	base := t.TempDir()
	store, outside := filepath.Join(base, "store"), filepath.Join(base, "outside")
	other := aRun(t, outside, "stolen", "push", 5, 9, true)
	info := other.Info
	info.Settings = map[string]string{"note": secret}
	if err := other.SetInfo(info); err != nil {
		t.Fatal(err)
	}
	write := func(path string) {
		if err := os.WriteFile(path, []byte(secret), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(base, "secret.txt"))
	run := aRun(t, store, "first", "push", 1, 9, true)
	write(filepath.Join(store, "loose.txt"))
	link := func(target, name string) {
		if err := os.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
	}
	link(filepath.Join(base, "secret.txt"), run.Path("absolute"))
	link("../../../secret.txt", run.Path("relative"))
	link(outside, run.Path("folder"))
	link(filepath.Join(base, "secret.txt"), run.Path("report.html"))
	link(filepath.Join(outside, "stolen"), filepath.Join(store, "stolen"))
	link(other.Dir, filepath.Join(store, "first", "stolen"))
	// A run whose own files lead outside.
	liar := aRun(t, store, "liar", "push", 2, 9, true)
	for _, file := range []string{histories.RunFile, histories.VerdictFile, histories.HistoryFile} {
		if err := os.Remove(liar.Path(file)); err != nil {
			t.Fatal(err)
		}
		link(other.Path(file), liar.Path(file))
	}
	half := aRun(t, store, "half", "push", 3, 9, false)
	if err := os.Remove(half.Path(histories.HistoryFile)); err != nil {
		t.Fatal(err)
	}
	link(filepath.Join(base, "secret.txt"), half.Path(histories.HistoryFile))
	if err := half.End(histories.Finished, nil); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(run.Path("pipe"), 0o666); err != nil {
		t.Fatal(err)
	}
	s := serveStore(t, store)

	for _, path := range []string{
		first + "files/absolute", first + "files/relative", first + "files/folder/stolen/latest/run.json", first + "files/pipe", first + "files/nodes",
		first + "files/../../../../secret.txt", first + "files/..%2f..%2f..%2fsecret.txt", first + "files/%2e%2e/%2e%2e/%2e%2e/secret.txt",
		first + "files//etc/passwd", first + "files/%2fetc%2fpasswd", first + `files/..%5c..%5csecret.txt`, first + "files/", first + "files/a%00b",
		first + "files/../../liar/20261202T120200.000Z/run.json",
		"/run/stolen/20261202T120500.000Z/", "/run/stolen/latest/", "/run/first/stolen/", "/run/first/stolen/files/run.json", "/run/first/latest/",
		"/run/liar/20261202T120200.000Z/", "/run/liar/20261202T120200.000Z/report.html", "/run/liar/20261202T120200.000Z/live",
		"/run/half/20261202T120300.000Z/report.html", "/run/half/20261202T120300.000Z/files/history.jsonl",
		"/run/%2e%2e/outside/", "/run/..%2foutside/stolen/", "/run/..%2foutside%2fstolen/20261202T120500.000Z/", "/run/./first/",
		"/compare?run=first/20261202T120100.000Z&run=../outside/stolen/latest", "/compare?run=first/20261202T120100.000Z&run=stolen/20261202T120500.000Z",
		"/compare?run=first/20261202T120100.000Z&run=..", "/../secret.txt", "/loose.txt", "/assets/style.css", "/style.css/../../../secret.txt",
	} {
		t.Run(path, func(t *testing.T) {
			status, body, h := s.get(path)
			if strings.Contains(body, secret) || strings.Contains(body, "root:") {
				t.Fatalf("%d: the secret is out:\n%s", status, body)
			}
			// The mux tidies a path up and says where that is.
			if status == http.StatusTemporaryRedirect || status == http.StatusMovedPermanently {
				status, body, _ = s.get(h.Get("Location"))
			}
			if status != http.StatusNotFound || strings.Contains(body, secret) {
				t.Errorf("%d %s", status, body)
			}
		})
	}

	t.Run("a report that leads outside is made anew", func(t *testing.T) {
		if status, body, _ := s.get(first + "report.html"); status != http.StatusOK || !strings.Contains(body, "made of") || strings.Contains(body, secret) {
			t.Error(status, body)
		}
	})
	t.Run("links are not listed", func(t *testing.T) {
		for _, page := range []string{"/", first} {
			_, body, _ := s.get(page)
			for _, name := range []string{secret, "stolen", "absolute", "relative", "liar", "pipe"} {
				if strings.Contains(body, name) {
					t.Errorf("%s shows %q:\n%s", page, name, body)
				}
			}
		}
	})
}
