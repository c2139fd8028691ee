package serve

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/stalemate-io/stalemate/checker"
)

// runsOnPage is how many runs a page of the list shows.
const runsOnPage = 100

// indexView is what the list shows.
type indexView struct {
	Title    string
	Store    string
	Runs     []*entry
	Total    int // of the runs that pass the filter
	Stored   int // of all
	Systems  []string
	Verdicts []string
	System   string
	Verdict  string
	Newer    string // the page before, if there is one
	Older    string
	From, To int
}

// notJudged is how the filter names runs that have no verdict.
const notJudged = "not judged"

func (s *Server) index(w http.ResponseWriter, r *http.Request) error {
	all, err := s.store.list()
	if err != nil {
		return err
	}
	q := r.URL.Query()
	v := indexView{
		Title: "Runs", Store: s.o.Store, Stored: len(all), System: q.Get("system"), Verdict: q.Get("verdict"),
		Verdicts: []string{string(checker.ClassDivergent), string(checker.ClassOrderedLag), string(checker.ClassLinearizable), string(checker.ClassUndecided), notJudged},
	}
	var chosen []*entry
	for _, e := range all {
		if e.Info.System != "" && !slices.Contains(v.Systems, e.Info.System) {
			v.Systems = append(v.Systems, e.Info.System)
		}
		if (v.System == "" || e.Info.System == v.System) && (v.Verdict == "" || e.class() == v.Verdict) {
			chosen = append(chosen, e)
		}
	}
	slices.Sort(v.Systems)
	v.Total = len(chosen)
	from := 0
	if text := q.Get("from"); text != "" {
		if from, err = strconv.Atoi(text); err != nil || from < 0 {
			return usageError{errFrom}
		}
	}
	from = min(from, len(chosen))
	to := min(from+runsOnPage, len(chosen))
	v.Runs, v.From, v.To = chosen[from:to], from+1, to
	if from > 0 {
		v.Newer = v.page(max(from-runsOnPage, 0))
	}
	if to < len(chosen) {
		v.Older = v.page(to)
	}
	return show(w, "index.tmpl", v)
}

// class is what the filter goes by.
func (e *entry) class() string {
	if e.Verdict == nil {
		return notJudged
	}
	return string(e.Verdict.Class)
}

// page gives the address of the list from a run on, under the same filter.
func (v *indexView) page(from int) string {
	q := url.Values{"from": {strconv.Itoa(from)}}
	if v.System != "" {
		q.Set("system", v.System)
	}
	if v.Verdict != "" {
		q.Set("verdict", v.Verdict)
	}
	return "/?" + q.Encode()
}

// latest leads to the newest run.
func (s *Server) latest(w http.ResponseWriter, r *http.Request) error {
	all, err := s.store.list()
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return errNotHere
	}
	http.Redirect(w, r, address(all[0].ID), http.StatusSeeOther)
	return nil
}
