package reports

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/policy"
)

// MaxMarkdown is how long a job summary may be at most: GitHub drops a step's
// whole summary beyond 1 MiB. Some room is left for other steps' words.
const MaxMarkdown = 1<<20 - 1<<16

// Markdown writes a job summary: how each history was answered, a table of its
// read paths, and its worst anomalies folded up. What does not fit below
// MaxMarkdown is left out, and the summary says how much that is.
func Markdown(w io.Writer, all []Judged) error {
	m := &markdown{room: MaxMarkdown - roomForEnd}
	if len(all) > 1 {
		m.overview(all)
	}
	for i := range all {
		if len(all) == 1 || all[i].answer() != checker.Holds {
			m.judged(&all[i])
		}
	}
	return m.write(w, "parts", "`verdict.json` and `report.html` hold all.")
}

// roomForEnd is kept for the sentence on what was left out.
const roomForEnd = 1 << 10

// markdown builds a summary of parts, each of which is there whole or not at all.
type markdown struct {
	text strings.Builder
	room int
	left int // parts that did not fit
}

func (m *markdown) part(s string) {
	if len(s) > m.room {
		m.left++
		return
	}
	m.room -= len(s)
	m.text.WriteString(s)
}

// write ends the summary with how many parts of what kind did not fit, and where
// they are to be found.
func (m *markdown) write(w io.Writer, parts, where string) error {
	if m.left > 0 {
		fmt.Fprintf(&m.text, "\n%d %s of this summary are left out, since it would be longer than a job summary may be. %s\n", m.left, parts, where)
	}
	_, err := io.WriteString(w, m.text.String())
	return err
}

// fold hides under a heading a text and, below it, lines as they are.
func (m *markdown) fold(head, text, lines string) {
	fence := strings.Repeat("`", max(3, longestRun(lines, '`')+1))
	m.part(fmt.Sprintf("<details><summary>%s</summary>\n\n%s\n\n%s\n%s%s\n\n</details>\n\n",
		inline(head), inline(text), fence, lines, fence))
}

// overview is a table with a row for each of several histories.
func (m *markdown) overview(all []Judged) {
	counts := map[string]int{}
	for i := range all {
		counts[all[i].word()]++
	}
	var said []string
	for _, word := range []string{"held", "BROKEN", "undecided", "failed"} {
		if counts[word] > 0 {
			said = append(said, fmt.Sprintf("%d %s", counts[word], word))
		}
	}
	m.part(fmt.Sprintf("## stalemate: %s\n\n| history | | verdict | why |\n|---|---|---|---|\n", strings.Join(said, ", ")))
	for i := range all {
		j := &all[i]
		if j.Err != nil {
			m.part(fmt.Sprintf("| %s | **failed** | | %s |\n", inline(j.Name), inline(j.Err.Error())))
			continue
		}
		m.part(fmt.Sprintf("| %s | %s | %s | %s |\n", inline(j.Name), strong(j.word()), inline(classWord(j.Verdict.Verdict)), inline(j.Verdict.Reason)))
	}
	m.part("\n")
}

// judged is the section of one history.
func (m *markdown) judged(j *Judged) {
	m.part(fmt.Sprintf("## %s: %s\n\n", inline(j.Name), j.word()))
	if j.Err != nil {
		m.part(inline(j.Err.Error()) + "\n\n")
		return
	}
	m.part(inline(sentenceStart(verdictSentence(j.Verdict))+".") + "\n\n")
	m.paths(j.Verdict)
	m.requests(j.Ruling)
	if w := j.Verdict.WithLog; w != nil {
		m.part("With the system's own log: " + inline(classWord(w.Verdict)+"; "+settled(w)) + ".\n\n")
	}
	m.anomalies(j.Ruling)
	var seen []string
	for _, path := range pathsOf(j.Verdict) {
		seen = append(seen, path.verdict.Warnings...)
	}
	if len(j.Verdict.Paths) > 0 {
		seen = append(seen, j.Verdict.Warnings...)
	}
	for _, warning := range unique(seen) {
		m.part("> warning: " + inline(warning) + "\n\n")
	}
	if j.Again != "" {
		m.part("To judge it again: " + code(j.Again) + "\n\n")
	}
}

// sentenceStart makes the sentence of a verdict one that stands alone.
func sentenceStart(s string) string {
	if s == "" {
		return s
	}
	return "It is " + strings.TrimPrefix(s, "is ")
}

// paths is the table of read paths, as in the text.
func (m *markdown) paths(v *checker.Verdict) {
	m.table(PathTable(v))
	if len(v.Paths) == 0 && v.StaleReads > 0 && len(v.Nodes) > 1 {
		m.table(nodeTable(v))
	}
}

func (m *markdown) table(t *Table) {
	if t.Len() == 0 {
		return
	}
	var b strings.Builder
	for n, row := range t.rows {
		for _, cell := range row {
			b.WriteString("| " + strong(cell) + " ")
		}
		b.WriteString("|\n")
		if n == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	m.part(b.String() + "\n")
}

// requests is the table of what a policy asks for.
func (m *markdown) requests(r *policy.Ruling) {
	if r.Policy == "" {
		return
	}
	t := NewTable("asked", "by", "", "why")
	for i := range r.Findings {
		f := &r.Findings[i]
		word, why := answerWord(f.Answer), f.Why
		if f.Excused != "" {
			word, why = "allowed", f.Excused
		}
		t.Row(requestName(f.Path, f.Asked), from(f), word, why)
	}
	m.part("Asked by the policy " + inline(r.Policy) + ":\n\n")
	m.table(t)
	for _, note := range r.Notes {
		m.part("> " + inline(note) + "\n\n")
	}
}

// anomalies are those that requests were not kept for, the worst first.
func (m *markdown) anomalies(r *policy.Ruling) {
	var all []told
	for i := range r.Findings {
		f := &r.Findings[i]
		proof := proofOf(f)
		for n := range proof {
			all = append(all, told{named{f.Path, withLogCounts(f.Verdict)}, f.Counts(), &proof[n]})
		}
	}
	worstFirst(all)
	for _, t := range all {
		m.anomaly(t)
	}
}

// anomaly is folded up: what it is, and inside the operations that prove it.
// That what was proven counts as held says that it is allowed.
func (m *markdown) anomaly(t told) {
	a := t.anomaly
	head := requestName(t.path.name, a.Kind)
	if n := t.path.verdict.AnomalyCounts[a.Kind]; n > 1 {
		head += fmt.Sprintf(" (one of %d)", n)
	}
	if t.answer == checker.Holds {
		head += ", allowed"
	}
	text := a.Text + "."
	if a.Cause != "" {
		text += " Cause: " + a.Cause + "."
	}
	m.fold(head, text, witnessTable(a.Witness).String())
}

// strong prints the words of answers bold, so that they are found in a table.
func strong(cell string) string {
	switch cell {
	case "BROKEN", "undecided", "failed":
		return "**" + cell + "**"
	}
	return inline(cell)
}

// maxInline is how much of a text is shown, in runes: names and values may be of
// any length.
const maxInline = 2000

// inline writes text so that it is text in every place of a summary: within a
// sentence, a table's cell, a heading, HTML. What Markdown or HTML could take for
// markup becomes a character reference, which neither looks into, and so does
// what GitHub links (@name, #1, www.).
func inline(s string) string {
	if long := maxInline * utf8.UTFMax; len(s) > long {
		s = s[:long] // more than is shown, and cheap
	}
	s = clean(s)
	if runes := []rune(s); len(runes) > maxInline {
		s = string(runes[:maxInline-3]) + "..."
	}
	var b strings.Builder
	for n, r := range s {
		switch {
		case strings.ContainsRune("\\`*_{}[]<>#|~@&$!^=\"'", r), r == ':' && strings.HasPrefix(s[n:], "://"),
			r == '.' && strings.HasSuffix(strings.ToLower(s[:n]), "www"), n == 0 && len(s) > 1 && strings.ContainsRune("+-", r):
			fmt.Fprintf(&b, "&#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// code writes text as code. Within the element Markdown still looks for markup,
// so its text is written as everywhere.
func code(s string) string { return "<code>" + inline(s) + "</code>" }

func longestRun(s string, of rune) int {
	longest, run := 0, 0
	for _, r := range s {
		if r != of {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

func unique(all []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, s := range all {
		if !seen[s] {
			out = append(out, s)
		}
		seen[s] = true
	}
	return out
}
