package serve

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/stalemate-io/stalemate/checker"
)

// compareView is what the comparison of two runs shows.
type compareView struct {
	Title    string
	Sides    [2]*run
	Sentence string
	Paths    []pathPair
	Kinds    []kindPair
	Differ   []settingPair
	Alike    int // settings that are the same
}

// pathPair is one read path of both runs; nil where a run does not have it.
type pathPair struct {
	Name string
	Side [2]*pathRow
}

type kindPair struct {
	Kind string
	Side [2]string
}

type settingPair struct {
	Name string
	Side [2]string
}

var errTwo = errors.New("expected two runs to compare: tick two of the list")

func (s *Server) compare(w http.ResponseWriter, r *http.Request) error {
	ids := r.URL.Query()["run"]
	if len(ids) != 2 {
		return usageError{errTwo}
	}
	slices.Sort(ids)
	v := compareView{Title: "Two runs"}
	for i, id := range ids {
		x, err := s.found(id)
		if err != nil {
			return err
		}
		v.Sides[i] = x
	}
	// The older one stands on the left.
	if v.Sides[1].Info.Started.Before(v.Sides[0].Info.Started) {
		v.Sides[0], v.Sides[1] = v.Sides[1], v.Sides[0]
	}
	v.Sentence = v.sentence()
	v.pairPaths()
	v.pairKinds()
	v.pairSettings()
	return show(w, "compare.tmpl", v)
}

// rank orders the classes from best to worst.
var rank = map[checker.Class]int{checker.ClassLinearizable: 0, checker.ClassOrderedLag: 1, checker.ClassUndecided: 2, checker.ClassDivergent: 3}

// sentence says what changed.
func (v *compareView) sentence() string {
	a, b := v.Sides[0].Verdict, v.Sides[1].Verdict
	switch {
	case a == nil || b == nil:
		return "One of the runs was not judged yet."
	case a.Verdict == b.Verdict && fateOf(a) == fateOf(b):
		return fmt.Sprintf("Both are %s, and %s in both.", word(a.Verdict), fateOf(a).Clause())
	case a.Verdict == b.Verdict:
		return fmt.Sprintf("Both are %s; on the left %s, on the right %s.", word(a.Verdict), fateOf(a).Clause(), fateOf(b).Clause())
	case rank[b.Verdict] > rank[a.Verdict]:
		return fmt.Sprintf("The run on the left is %s, the one on the right %s, which is worse.", word(a.Verdict), word(b.Verdict))
	}
	return fmt.Sprintf("The run on the left is %s, the one on the right %s, which is better.", word(a.Verdict), word(b.Verdict))
}

func (v *compareView) pairPaths() {
	at := map[string]int{}
	for side, x := range v.Sides {
		if x.Verdict == nil {
			continue
		}
		for _, row := range pathRows(x.Verdict) {
			i, there := at[row.Name]
			if !there {
				i = len(v.Paths)
				at[row.Name] = i
				v.Paths = append(v.Paths, pathPair{Name: row.Name})
			}
			v.Paths[i].Side[side] = &row
		}
	}
	slices.SortFunc(v.Paths, func(a, b pathPair) int { return strings.Compare(a.Name, b.Name) })
}

func (v *compareView) pairKinds() {
	var counts [2]map[string]int
	kinds := map[string]bool{}
	for side, x := range v.Sides {
		counts[side] = map[string]int{}
		if x.Verdict == nil {
			continue
		}
		for _, p := range pathsOf(x.Verdict) {
			for kind, n := range p.Verdict.AnomalyCounts {
				counts[side][kind] += n
				kinds[kind] = true
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		v.Kinds = append(v.Kinds, kindPair{kind, [2]string{strconv.Itoa(counts[0][kind]), strconv.Itoa(counts[1][kind])}})
	}
}

func (v *compareView) pairSettings() {
	both := map[string]*[2]string{}
	for side, x := range v.Sides {
		for _, set := range settings(&x.Info) {
			if both[set.Name] == nil {
				both[set.Name] = &[2]string{}
			}
			both[set.Name][side] = set.Value
		}
	}
	for _, name := range slices.Sorted(maps.Keys(both)) {
		if pair := *both[name]; pair[0] == pair[1] {
			v.Alike++
		} else {
			v.Differ = append(v.Differ, settingPair{name, pair})
		}
	}
}
