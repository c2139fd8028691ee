package serve

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
)

// runView is what a run's page shows.
type runView struct {
	Title     string
	Run       *run
	Verdict   *checker.Verdict
	Paths     []pathRow
	Anomalies []anomalyRow
	Settings  []setting
	Files     []fileRow
	More      int  // files that are not listed
	Live      bool // the run goes on, or nobody wrote its end
	HasPage   bool // a report can be shown
	Command   string
}

type anomalyRow struct {
	checker.Anomaly
	Path  string
	Count int
}

type fileRow struct {
	Name string
	Size int64
}

// maxFiles is how many files of a run are listed.
const maxFiles = 300

// opened opens the run that a request is about.
func (s *Server) opened(r *http.Request) (*run, error) {
	return s.found(path.Join(r.PathValue("name"), r.PathValue("start")))
}

// found opens a run by its id. Its folder has to be where it is said to be: a
// link is another name for another run.
func (s *Server) found(id string) (*run, error) {
	name, start, _ := strings.Cut(id, "/")
	if !fs.ValidPath(id) || start == "" || strings.Contains(start, "/") {
		return nil, errNotHere
	}
	for _, dir := range []string{name, id} {
		if info, err := s.store.root.Lstat(dir); err != nil || !info.IsDir() {
			return nil, errNotHere
		}
	}
	return s.store.open(id)
}

func (s *Server) run(w http.ResponseWriter, r *http.Request) error {
	x, err := s.opened(r)
	if err != nil {
		return err
	}
	v := runView{
		Title: x.ID, Run: x, Verdict: x.Verdict, Settings: settings(&x.Info), Command: command(&x.Info),
		Live: x.Info.Outcome == histories.Running && x.Verdict == nil,
	}
	if v.Files, v.More, err = s.store.inside(x.ID); err != nil {
		return err
	}
	for _, f := range v.Files {
		v.HasPage = v.HasPage || f.Name == reportFile || f.Name == histories.HistoryFile && !v.Live
	}
	if x.Verdict != nil {
		v.Paths = pathRows(x.Verdict)
		v.Anomalies = anomalies(x.Verdict)
	}
	return show(w, "run.tmpl", v)
}

// anomalies gives one of each kind and path.
func anomalies(v *checker.Verdict) []anomalyRow {
	var out []anomalyRow
	for _, p := range pathsOf(v) {
		seen := map[string]bool{}
		for _, a := range p.Verdict.Anomalies {
			if !seen[a.Kind] {
				seen[a.Kind] = true
				out = append(out, anomalyRow{a, p.Name, p.Verdict.AnomalyCounts[a.Kind]})
			}
		}
	}
	return out
}

// inside lists the files of a run's folder.
func (s *store) inside(dir string) (list []fileRow, more int, err error) {
	sub, err := fs.Sub(s.root.FS(), dir)
	if err != nil {
		return nil, 0, err
	}
	err = fs.WalkDir(sub, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // gone since, not ours to read, or nothing to show
		}
		if len(list) == maxFiles {
			more++
			return nil
		}
		if info, err := d.Info(); err == nil {
			list = append(list, fileRow{name, info.Size()})
		}
		return nil
	})
	return list, more, err
}

// reportFile is the report in a run's folder.
const reportFile = "report.html"

// reportPolicy shuts a report in: its own scripts run, without this server's
// origin, and with nothing to ask for. The page's own policy is narrower still.
const reportPolicy = "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// report sends the report of a run, which is made where there is none.
func (s *Server) report(w http.ResponseWriter, r *http.Request) error {
	x, err := s.opened(r)
	if err != nil {
		return err
	}
	var page io.ReadSeeker
	f, err := s.store.file(path.Join(x.ID, reportFile))
	switch {
	case err == nil:
		defer func() { _ = f.Close() }() // it was only read
		page = f
	case s.o.Report == nil || !errors.Is(err, errNotHere):
		return err
	default:
		text, err := s.made(r.Context(), x)
		if err != nil {
			return err
		}
		page = bytes.NewReader(text)
	}
	w.Header().Set("Content-Security-Policy", reportPolicy)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	http.ServeContent(w, r, "", time.Time{}, page)
	return nil
}

// made makes a report, one at a time: checking takes all processors.
func (s *Server) made(ctx context.Context, x *run) ([]byte, error) {
	select {
	case s.reporting <- struct{}{}:
		defer func() { <-s.reporting }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return s.o.Report(ctx, x.ID, files{s.store, x.ID})
}

// file sends a file of a run as it is: as text, or to be kept.
func (s *Server) file(w http.ResponseWriter, r *http.Request) error {
	x, err := s.opened(r)
	if err != nil {
		return err
	}
	name := r.PathValue("file")
	if !fs.ValidPath(name) {
		return errNotHere
	}
	f, err := s.store.file(path.Join(x.ID, name))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	h := w.Header()
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'; frame-ancestors 'none'")
	if kind := "text/plain; charset=utf-8"; isText(f) {
		h.Set("Content-Type", kind)
	} else {
		h.Set("Content-Type", "application/octet-stream")
		h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(name)}))
	}
	http.ServeContent(w, r, "", time.Time{}, f)
	return nil
}

// isText reports whether a file begins like text: without a zero byte.
func isText(f io.ReaderAt) bool {
	head := make([]byte, 4096)
	n, err := f.ReadAt(head, 0)
	return (err == nil || err == io.EOF) && bytes.IndexByte(head[:n], 0) < 0
}
