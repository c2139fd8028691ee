package serve

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"
)

// Options are the settings of a Server.
type Options struct {
	// Store is the folder that holds the runs.
	Store string
	// Report makes the report of a run that has none, from the files of its
	// folder. It has to write nothing.
	Report func(ctx context.Context, name string, files fs.FS) ([]byte, error)
	// Hosts are names under which the server may be asked for, beside localhost
	// and loopback addresses.
	Hosts []string
	// AnyAddress lets the server be asked for under any IP address: for one that
	// listens beyond the loopback interface.
	AnyAddress bool
	// Every is how often a run in progress is looked at; 500 ms by default.
	Every time.Duration
}

// Server is the handler of all pages. Close lets go of the store.
type Server struct {
	o         Options
	store     *store
	mux       *http.ServeMux
	reporting chan struct{} // one report is made at a time
	watching  chan struct{} // a place for each live view
}

// maxWatching is how many live views may be open at once.
const maxWatching = 64

//go:embed assets
var assets embed.FS

var pages = template.Must(template.New("").Funcs(functions).ParseFS(assets, "assets/*.tmpl"))

// New opens a store, which has to be there.
func New(o Options) (*Server, error) {
	root, err := os.OpenRoot(o.Store)
	if err != nil {
		return nil, fmt.Errorf("expected the folder that holds the runs: %w; `stalemate run` makes it", err)
	}
	if o.Every <= 0 {
		o.Every = 500 * time.Millisecond
	}
	s := &Server{
		o: o, store: newStore(root), mux: http.NewServeMux(),
		reporting: make(chan struct{}, 1), watching: make(chan struct{}, maxWatching),
	}
	s.mux.HandleFunc("GET /{$}", s.page(s.index))
	s.mux.HandleFunc("GET /latest", s.page(s.latest))
	s.mux.HandleFunc("GET /compare", s.page(s.compare))
	s.mux.HandleFunc("GET /run/{name}/{start}/{$}", s.page(s.run))
	s.mux.HandleFunc("GET /run/{name}/{start}/report.html", s.page(s.report))
	s.mux.HandleFunc("GET /run/{name}/{start}/live", s.page(s.live))
	s.mux.HandleFunc("GET /run/{name}/{start}/files/{file...}", s.page(s.file))
	s.mux.HandleFunc("GET /style.css", s.asset("text/css; charset=utf-8"))
	s.mux.HandleFunc("GET /live.js", s.asset("text/javascript; charset=utf-8"))
	return s, nil
}

// Close lets go of the store.
func (s *Server) Close() error { return s.store.root.Close() }

// policy lets a page use what this server itself sends, and nothing else.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// ServeHTTP answers requests to read; others are refused.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if !s.mine(r.Host) {
		http.Error(w, fmt.Sprintf("this server does not go by the name %q; ask for it by its address, or start it with --host", r.Host), http.StatusMisdirectedRequest)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "this server only shows: GET and HEAD are all it knows", http.StatusMethodNotAllowed)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// mine reports whether a Host header names this server. A page elsewhere can
// have its own name lead here, but not make a browser send another one.
func (s *Server) mine(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if addr, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		return addr.IsLoopback() || s.o.AnyAddress
	}
	return name == "localhost" || slices.Contains(s.o.Hosts, name)
}

// errNotHere is the answer to what the store does not hold, whatever the reason:
// somebody who probes for what lies outside learns nothing.
var errNotHere = errors.New("nothing of this name is in the store")

// usageError is a request that makes no sense.
type usageError struct{ error }

// page turns the error of a handler into an answer.
func (s *Server) page(handle func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := handle(w, r)
		var usage usageError
		switch {
		case err == nil, r.Context().Err() != nil: // nobody is there to read it
		case errors.Is(err, errNotHere), errors.Is(err, fs.ErrNotExist):
			s.fail(w, http.StatusNotFound, errNotHere)
		case errors.As(err, &usage):
			s.fail(w, http.StatusBadRequest, err)
		default:
			s.fail(w, http.StatusInternalServerError, err)
		}
	}
}

func (s *Server) fail(w http.ResponseWriter, status int, err error) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	// The status is sent: an error now is one of the connection.
	_ = pages.ExecuteTemplate(w, "error.tmpl", map[string]any{"Title": http.StatusText(status), "Text": err.Error()})
}

// show answers with a page. It is made whole before its first byte is sent.
func show(w http.ResponseWriter, name string, data any) error {
	var out strings.Builder
	if err := pages.ExecuteTemplate(&out, name, data); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, err := w.Write([]byte(out.String()))
	return err
}

func (s *Server) asset(kind string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		text, err := assets.ReadFile("assets" + r.URL.Path)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(text) // an error is one of the connection
	}
}
