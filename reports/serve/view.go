package serve

import (
	"cmp"
	"errors"
	"fmt"
	"html/template"
	"maps"
	"math"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
)

var errFrom = errors.New("expected from to be the number of a run, from 0")

// functions are what the templates may call.
var functions = template.FuncMap{
	"address": address, "word": word, "fate": fateOf, "ms": ms, "bytes": size, "when": when, "took": took, "file": fileAddress,
	"count": count, "versions": versions,
}

// address is the path of a run's page.
func address(id string) string {
	name, start, _ := strings.Cut(id, "/")
	return "/run/" + url.PathEscape(name) + "/" + url.PathEscape(start) + "/"
}

// fileAddress is the path of a file of a run.
func fileAddress(id, name string) string {
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return address(id) + "files/" + strings.Join(parts, "/")
}

// word names a class for a person.
func word(c checker.Class) string {
	if c == checker.ClassOrderedLag {
		return "ordered lag"
	}
	return string(c)
}

func ms(x float64) string {
	switch {
	case x == math.Trunc(x) || x >= 100:
		return count(int(math.Round(x)))
	case x < 1:
		return fmt.Sprintf("%.2f", x)
	}
	return fmt.Sprintf("%.1f", x)
}

// count writes a number with its thousands apart.
func count(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "\u202f" + text[i:]
	}
	return text
}

func versions(n float64) string {
	if n == 1 {
		return "1 version"
	}
	return ms(n) + " versions"
}

func size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}

func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

func took(i histories.RunInfo) string {
	if i.Ended.Before(i.Started) {
		return "" // not yet, or never told
	}
	d := i.Ended.Sub(i.Started)
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// namedVerdict is the verdict on one read path; the name is empty where the
// history has but one.
type namedVerdict struct {
	Name    string
	Verdict *checker.Verdict
}

// pathsOf gives the verdict of each path by name.
func pathsOf(v *checker.Verdict) []namedVerdict {
	if len(v.Paths) == 0 {
		return []namedVerdict{{"", v}}
	}
	var out []namedVerdict
	for _, name := range slices.Sorted(maps.Keys(v.Paths)) {
		out = append(out, namedVerdict{name, v.Paths[name]})
	}
	return out
}

// pathRow is a line of the table of read paths.
type pathRow struct {
	Name    string
	Promise checker.Level
	Fate    fate
	Class   checker.Class
	Stale   string
	P99     string
	Max     string
	Behind  string
}

func pathRows(v *checker.Verdict) []pathRow {
	var rows []pathRow
	for _, p := range pathsOf(v) {
		rows = append(rows, newPathRow(p.Name, p.Verdict))
	}
	return rows
}

func newPathRow(name string, v *checker.Verdict) pathRow {
	r := pathRow{
		Name: cmp.Or(name, "all reads"), Promise: v.Promise, Fate: newFate(v.Promise != checker.None, v.Holds), Class: v.Verdict,
		Stale: fmt.Sprintf("%s / %s", count(v.StaleReads), count(v.Reads)),
	}
	if !v.Measured {
		r.Stale = "≥ " + r.Stale
	}
	if v.StaleReads > 0 {
		r.P99, r.Max, r.Behind = ms(v.StalenessMS.P99), ms(v.StalenessMS.Max), ms(v.VersionsBehind.Max)
	}
	return r
}

type setting struct{ Name, Value string }

// settings lists all that decided a run.
func settings(i *histories.RunInfo) []setting {
	var out []setting
	add := func(name, value string) {
		if value != "" {
			out = append(out, setting{name, value})
		}
	}
	add("system", i.System)
	add("deployment", i.Deployment)
	add("seed", strconv.FormatInt(i.Seed, 10))
	add("model", i.Model)
	for _, k := range slices.Sorted(maps.Keys(i.Settings)) {
		add(k, i.Settings[k])
	}
	for _, k := range slices.Sorted(maps.Keys(i.Versions)) {
		add("version of "+k, i.Versions[k])
	}
	add("outcome", string(i.Outcome))
	add("error", i.Error)
	return out
}

// command is the command line that made a run.
func command(i *histories.RunInfo) string {
	if len(i.Command) == 0 {
		return ""
	}
	return strings.Join(append([]string{filepath.Base(i.Command[0])}, i.Command[1:]...), " ")
}
