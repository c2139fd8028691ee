package html

import (
	"cmp"
	"fmt"
	"html/template"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
)

// pageView is what the template shows.
type pageView struct {
	Title, Subtitle string
	Class           string // of the verdict, for its colour
	Word, Sentence  string
	Promise         string
	PromiseKept     string // holds, violated or undecided
	Log             string // what the system's own log adds
	Facts           []fact
	Paths           []pathRow
	Nodes           []nodeRow
	NodesOf         string
	Anomalies       []*anomaly
	Staleness       []pathPlots
	Plots           []*plot
	Convergence     []convergenceRow
	ConvergedPaths  []string
	Settings        []setting
	Warnings        []string
	Replay          string
	Faults          int
	Drawn, Total    int
	Timed           bool

	Policy template.HTMLAttr
	Style  template.CSS
	Script template.JS
	Data   template.HTML
}

type fact struct{ Number, Of string }

type pathRow struct {
	Name, Promise, Held, Verdict, Class, Stale, P50, P99, Max, Versions string
}

type nodeRow struct{ Name, Stale, P50, P99, Max, Versions string }

type convergenceRow struct {
	Fault string
	Cells []string
}

type setting struct{ Name, Value string }

func newPage(in Input, line *checker.Timeline, limit int) (*pageView, error) {
	v := in.Verdict
	c := newClock(in.History)
	p := &pageView{
		Title: in.Name, Class: string(v.Verdict), Word: word(v.Verdict),
		Anomalies: newAnomalies(in, line, c), Warnings: slices.Concat(v.Warnings, in.History.Warnings),
		Faults: len(line.Faults), Timed: c.timed, Replay: replay(in.Info),
	}
	slices.Sort(p.Warnings)
	p.Warnings = slices.Compact(p.Warnings)
	p.sentence(in)
	p.facts(v, line)
	p.tables(v)
	d := &plots{in, line, c}
	p.Staleness = d.staleness()
	for _, x := range []*plot{d.latency(), d.rate()} {
		if x != nil {
			p.Plots = append(p.Plots, x)
		}
	}
	p.settings(in)
	picture := newPicture(in, line, c, p.Anomalies, limit)
	data, err := picture.pack(p.Anomalies)
	if err != nil {
		return nil, err
	}
	p.Drawn, p.Total = len(picture.chosen), len(in.History.Operations)
	// Base64 is no markup, and the style and the scripts are this package's own.
	p.Data, p.Style, p.Script = template.HTML(data), template.CSS(style), template.JS(script)
	p.Policy = p.policy()
	return p, nil
}

// policy is the page's Content-Security-Policy: nothing from elsewhere, and no
// script but the page's own and those of porcupine's drawings, which are shown in
// a frame that inherits it.
func (p *pageView) policy() template.HTMLAttr {
	hashes := []string{scriptHash([]byte(script))}
	for _, a := range p.Anomalies {
		hashes = append(hashes, scriptHashes(a.page)...)
	}
	slices.Sort(hashes)
	return template.HTMLAttr(`content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src ` + strings.Join(slices.Compact(hashes), " ") + `"`)
}

func word(c checker.Class) string {
	switch c {
	case checker.ClassLinearizable:
		return "Linearizable"
	case checker.ClassOrderedLag:
		return "Ordered lag"
	case checker.ClassDivergent:
		return "Divergent"
	}
	return "Undecided"
}

// sentence says the verdict, and whether the promises were kept. Where a path
// broke its promise, that is what the sentence is about.
func (p *pageView) sentence(in Input) {
	v := in.Verdict
	p.Sentence = upper(v.Reason)
	p.PromiseKept = string(v.Answer())
	worst := pathsOf(v)[0]
	switch {
	case worst.verdict.Holds == checker.Violated && worst.name != "":
		p.Sentence = fmt.Sprintf("%s promised %s and is %s: %s", worst.name, worst.verdict.Promise, strings.ToLower(word(worst.verdict.Verdict)), worst.verdict.Reason)
	case worst.name != "":
		p.Sentence = v.Reason
	}
	var broken, open []string
	for _, x := range pathsOf(v) {
		name := cmp.Or(x.name, "reads") + " promised " + string(x.verdict.Promise)
		switch x.verdict.Holds {
		case checker.Violated:
			broken = append(broken, name)
		case checker.Undecided:
			open = append(open, name)
		}
	}
	switch {
	case len(broken) > 0:
		p.Promise = "Promise broken: " + strings.Join(broken, ", ") + "."
	case len(open) > 0:
		p.Promise = "Not decided: " + strings.Join(open, ", ") + "."
	case noPromise(v):
		p.Promise = "Nothing was promised, so that nothing was broken."
	default:
		p.Promise = "Every promise was kept."
	}
	if w := v.WithLog; w != nil {
		p.Log = logText(w)
		if len(broken) == 0 && w.Holds == checker.Violated {
			p.Promise = "Broken by the system's own log; see below."
		}
	}
	if i := in.Info; i != nil {
		p.Subtitle = cmp.Or(i.System, in.Name) + " · " + i.Deployment + " · " + i.Started.UTC().Format("2 January 2006, 15:04:05 UTC")
	}
}

// noPromise reports whether no path promised anything.
func noPromise(v *checker.Verdict) bool {
	return !slices.ContainsFunc(pathsOf(v), func(x pathVerdict) bool { return x.verdict.Promise != checker.None })
}

// sentenceWords begin the checker's sentences. A sentence that begins with the
// name of something is left as it is.
var sentenceWords = []string{"a", "an", "every", "no", "one", "not", "read", "write", "compare-and-set", "stale", "the", "two", "value", "lost"}

// upper makes the first letter of a sentence large.
func upper(s string) string {
	if first, _, _ := strings.Cut(s, " "); slices.Contains(sentenceWords, first) || first != "" && first[0] >= '0' && first[0] <= '9' {
		return strings.ToUpper(s[:1]) + s[1:]
	}
	return s
}

// logText says what the system's own log adds to what the clients saw.
func logText(w *checker.WithLog) string {
	text := fmt.Sprintf("The log holds %d %s. Of the writes whose outcome no client learned, %d are in it, %d are not", w.Writes, plural(w.Writes, "write"), w.Happened, w.Never)
	if w.Open > 0 {
		text += fmt.Sprintf(", of %d it does not tell", w.Open)
	}
	text += ". "
	if !w.Complete {
		text += "It ends before the history does. "
	}
	if n := len(w.AnomalyCounts); n > 0 {
		text += "It contradicts the clients. "
	}
	text += "Believing it, the history is " + strings.ToLower(word(w.Verdict))
	if w.Reason != "" {
		text += ": " + w.Reason
	}
	return text + "."
}

func (p *pageView) facts(v *checker.Verdict, line *checker.Timeline) {
	ops, reads, stale, worst, behind := 0, 0, 0, 0.0, 0.0
	kinds := make(map[string]int)
	for _, x := range pathsOf(v) {
		ops, reads, stale = x.verdict.Operations, reads+x.verdict.Reads, stale+x.verdict.StaleReads
		worst, behind = max(worst, x.verdict.StalenessMS.Max), max(behind, x.verdict.VersionsBehind.Max)
		for kind, n := range x.verdict.AnomalyCounts {
			kinds[kind] += n
		}
	}
	if len(v.Paths) > 0 {
		ops = v.Operations
	}
	p.Facts = append(p.Facts, fact{strconv.Itoa(ops), "operations"}, fact{strconv.Itoa(reads), "reads"}, fact{strconv.Itoa(stale), "stale reads"})
	if stale > 0 {
		p.Facts = append(p.Facts, fact{short(worst) + " ms", "worst lag"}, fact{short(behind), plural(int(behind), "version") + " behind"})
	}
	for _, kind := range severe {
		if kinds[kind] > 0 {
			p.Facts = append(p.Facts, fact{strconv.Itoa(kinds[kind]), kind})
		}
	}
	if n := len(line.Faults); n > 0 {
		p.Facts = append(p.Facts, fact{strconv.Itoa(n), plural(n, "fault")})
	}
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

func short(x float64) string {
	switch {
	case x == float64(int64(x)) || x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x < 1:
		return fmt.Sprintf("%.2f", x)
	}
	return fmt.Sprintf("%.1f", x)
}

func (p *pageView) tables(v *checker.Verdict) {
	paths := pathsOf(v)
	for _, x := range paths {
		r := pathRow{
			Name: cmp.Or(x.name, "all reads"), Promise: string(x.verdict.Promise), Held: held(x.verdict),
			Verdict: word(x.verdict.Verdict), Class: string(x.verdict.Verdict), Stale: fmt.Sprintf("%d / %d", x.verdict.StaleReads, x.verdict.Reads),
		}
		if x.verdict.StaleReads > 0 {
			s := x.verdict.StalenessMS
			r.P50, r.P99, r.Max, r.Versions = short(s.P50), short(s.P99), short(s.Max), short(x.verdict.VersionsBehind.Max)
		}
		if !x.verdict.Measured {
			r.Stale = fmt.Sprintf("≥ %d / %d", x.verdict.StaleReads, x.verdict.Reads)
		}
		p.Paths = append(p.Paths, r)
	}
	for _, n := range paths[0].verdict.Nodes {
		r := nodeRow{Name: cmp.Or(n.Name, "not told"), Stale: fmt.Sprintf("%d / %d", n.StaleReads, n.Reads)}
		if n.StaleReads > 0 {
			r.P50, r.P99, r.Max, r.Versions = short(n.StalenessMS.P50), short(n.StalenessMS.P99), short(n.StalenessMS.Max), short(n.VersionsBehind.Max)
		}
		p.Nodes = append(p.Nodes, r)
	}
	p.NodesOf = paths[0].name
	for _, x := range paths {
		p.ConvergedPaths = append(p.ConvergedPaths, cmp.Or(x.name, "last stale read, ms"))
	}
	for n, f := range paths[0].verdict.Convergence {
		r := convergenceRow{Fault: f.Fault}
		for _, x := range paths {
			cell := "?"
			if n < len(x.verdict.Convergence) {
				if cell = "–"; x.verdict.Convergence[n].ConvergedMS > 0 {
					cell = short(x.verdict.Convergence[n].ConvergedMS)
				}
			}
			r.Cells = append(r.Cells, cell)
		}
		p.Convergence = append(p.Convergence, r)
	}
}

func held(v *checker.Verdict) string {
	if v.Promise == checker.None {
		return "–"
	}
	switch v.Holds {
	case checker.Holds:
		return "kept"
	case checker.Violated:
		return "broken"
	}
	return "undecided"
}

// settings lists all that decided the run and the verdict.
func (p *pageView) settings(in Input) {
	addTo := func(name, value string) {
		if value != "" {
			p.Settings = append(p.Settings, setting{name, value})
		}
	}
	v := in.Verdict
	if i := in.Info; i != nil {
		addTo("run", i.Name)
		addTo("system", i.System)
		addTo("deployment", i.Deployment)
		addTo("seed", strconv.FormatInt(i.Seed, 10))
		for _, k := range slices.Sorted(maps.Keys(i.Settings)) {
			addTo(k, i.Settings[k])
		}
		for _, k := range slices.Sorted(maps.Keys(i.Versions)) {
			addTo("version of "+k, i.Versions[k])
		}
		addTo("started", i.Started.UTC().Format("2006-01-02 15:04:05.000 UTC"))
		if !i.Ended.IsZero() {
			addTo("ended", i.Ended.UTC().Format("2006-01-02 15:04:05.000 UTC"))
		}
		addTo("outcome", string(i.Outcome))
		addTo("error", i.Error)
	}
	addTo("model", v.Model)
	addTo("engine", v.Engine)
	addTo("confirmed by", v.ConfirmedBy)
	addTo("report by stalemate", in.Version)
}

// replay is the command that makes the run again: the one that was given, with
// the seed that it drew.
func replay(i *histories.RunInfo) string {
	if i == nil || len(i.Command) == 0 {
		return ""
	}
	words := []string{filepath.Base(i.Command[0])}
	seeded := false
	for _, w := range i.Command[1:] {
		seeded = seeded || w == "--seed" || strings.HasPrefix(w, "--seed=")
		words = append(words, shellWord(w))
	}
	if !seeded {
		words = append(words, "--seed", strconv.FormatInt(i.Seed, 10))
	}
	return strings.Join(words, " ")
}

// shellWord quotes a word for a POSIX shell where it needs that.
func shellWord(w string) string {
	plain := w != "" && strings.IndexFunc(w, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_=./,:@%+", r))
	}) < 0
	if plain {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}
