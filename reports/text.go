package reports

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/stalemate-io/stalemate/checker"
)

// Text writes a verdict for a person: first what it is, in one sentence, then
// the numbers of each read path, then the anomalies with the operations that
// prove them, then what else to know. name says what was judged.
func Text(w io.Writer, name string, v *checker.Verdict, o TextOptions) error {
	p := newPrinter(o)
	p.headline(name, v)
	p.summary(v)
	p.withLog(v)
	p.numbers(v)
	p.within(v)
	p.convergence(v)
	p.elements(v)
	p.logAnomalies(v)
	p.anomalies(v)
	p.warnings(v)
	_, err := io.WriteString(w, p.String())
	return err
}

// Line writes a verdict in one line, for a list of several, with the answer that
// counts.
func Line(w io.Writer, name string, v *checker.Verdict, answer checker.Answer, o TextOptions) error {
	p := newPrinter(o)
	_, err := fmt.Fprintf(w, "%s  %s: %s: %s\n", p.mark(answer), clean(name), p.class(v.Verdict), clean(v.Reason))
	return err
}

// mark says in one word whether a promise held.
func (p *printer) mark(a checker.Answer) string {
	word := answerWord(a)
	return p.paint(wordColor(word), word)
}

func answerWord(a checker.Answer) string {
	switch a {
	case checker.Holds:
		return "held"
	case checker.Violated:
		return "BROKEN"
	}
	return "undecided"
}

func classWord(c checker.Class) string {
	if c == checker.ClassOrderedLag {
		return "ordered lag"
	}
	return string(c)
}

func (p *printer) class(c checker.Class) string {
	word := classWord(c)
	return p.paint(wordColor(word), word)
}

// wordColor is the colour of an answer or a class.
func wordColor(word string) string {
	switch word {
	case "held", classWord(checker.ClassLinearizable):
		return green
	case "BROKEN", classWord(checker.ClassDivergent):
		return red
	case "undecided", classWord(checker.ClassOrderedLag):
		return yellow
	}
	return ""
}

// headline is the verdict in one sentence. Its class is coloured after the lines
// were broken, since colours take no room.
func (p *printer) headline(name string, v *checker.Verdict) {
	before, after := clean(name)+" is ", verdictSentence(v)
	line := newPrinter(p.TextOptions)
	line.wrap("", 0, before+after+".")
	text := line.String()
	word := classWord(v.Verdict)
	if at := strings.Index(text, " is "+word); at >= 0 {
		at += len(" is ")
		text = text[:at] + p.class(v.Verdict) + text[at+len(word):]
	}
	p.WriteString(text)
}

// verdictSentence says what the history is and whether that is what was promised.
func verdictSentence(v *checker.Verdict) string {
	class, reason := classWord(v.Verdict), strings.TrimSuffix(v.Reason, ".")
	if len(v.Paths) > 0 {
		return class + pathsSentence(v, reason)
	}
	switch {
	case v.Holds == checker.Holds:
		return class + " and keeps its promise: " + reason
	case v.Holds == checker.Violated && v.Levels[v.Promise] == checker.Violated:
		return fmt.Sprintf("%s and breaks its promise (%s): %s", class, v.Promise, reason)
	case v.Holds == checker.Violated:
		return class + " but staler than allowed: " + reason
	case v.Verdict == checker.ClassUndecided:
		return class + ": " + reason
	}
	return fmt.Sprintf("%s, while its promise (%s) is undecided: %s", class, v.Promise, reason)
}

// pathsSentence is the same for a history of several read paths, each with a
// promise of its own.
func pathsSentence(v *checker.Verdict, reason string) string {
	switch v.Holds {
	case checker.Holds:
		return " and keeps its promises: " + reason
	case checker.Violated:
		var broken []string
		for _, p := range pathsOf(v) {
			if p.verdict.Holds == checker.Violated {
				broken = append(broken, fmt.Sprintf("%s, promised %s, is %s", p.name, p.verdict.Promise, brokenPath(p.verdict)))
			}
		}
		return " and breaks a promise: " + strings.Join(broken, "; ")
	}
	return ", while a promise is undecided: " + reason
}

// brokenPath says what a path is that did not keep its promise.
func brokenPath(v *checker.Verdict) string {
	class := classWord(v.Verdict)
	if v.Levels[v.Promise] != checker.Violated {
		class += " but staler than allowed"
	}
	return class + ": " + strings.TrimSuffix(v.Reason, ".")
}

// summary lists what the sentence leaves out.
func (p *printer) summary(v *checker.Verdict) {
	p.WriteByte('\n')
	p.item("strongest held", levelNames(v.StrongestHeld))
	p.item("weakest broken", levelNames(v.WeakestBroken))
	p.item("looked at", fmt.Sprintf("%d operations, %d of them reads, %d of unknown outcome", v.Operations, v.Reads, v.Unknown))
	p.item("model", v.Model)
	if v.Engine != "" {
		engine := v.Engine
		if v.ConfirmedBy != "" {
			engine += ", violations confirmed by " + v.ConfirmedBy
		}
		p.item("engine", engine)
	}
}

// item is one named fact.
func (p *printer) item(name, text string) {
	const width = len("strongest held  ")
	p.wrap(name+strings.Repeat(" ", width-len(name)), width, text)
}

func levelNames(levels []checker.Level) string {
	if len(levels) == 0 {
		return "-"
	}
	names := make([]string, len(levels))
	for n, l := range levels {
		names[n] = string(l)
	}
	return strings.Join(names, ", ")
}

// named is the verdict of one read path.
type named struct {
	name    string
	verdict *checker.Verdict
}

// pathsOf gives the verdicts of the paths by name, or the whole verdict alone.
func pathsOf(v *checker.Verdict) []named {
	if len(v.Paths) == 0 {
		return []named{{"", v}}
	}
	var out []named
	for _, name := range slices.Sorted(maps.Keys(v.Paths)) {
		out = append(out, named{name, v.Paths[name]})
	}
	return out
}

// warnings come last; what every path says is said once.
func (p *printer) warnings(v *checker.Verdict) {
	all := slices.Clone(v.Warnings)
	for _, path := range pathsOf(v) {
		for _, w := range path.verdict.Warnings {
			if !slices.Contains(all, w) {
				all = append(all, w)
			}
		}
	}
	if len(all) > 0 {
		p.WriteByte('\n')
	}
	for _, w := range all {
		p.wrap("warning: ", len("warning: "), w)
	}
}
