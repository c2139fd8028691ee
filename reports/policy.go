package reports

import (
	"io"

	"github.com/stalemate-io/stalemate/policy"
)

// Policy writes how a history was answered where a policy asks: a row for each
// request, with the excuse of those that are allowed to be broken.
func Policy(w io.Writer, r *policy.Ruling, o TextOptions) error {
	p := newPrinter(o)
	p.WriteString("\npolicy " + clean(r.Policy) + ": " + p.mark(r.Answer) + "\n")
	t := NewTable("asked", "by", "", "found")
	t.Indent = "  "
	var excuses []string
	for i := range r.Findings {
		f := &r.Findings[i]
		word := answerWord(f.Answer)
		if f.Excused != "" {
			word = "allowed"
			excuses = append(excuses, f.Excused)
		}
		found := f.Why
		if f.Level != "" {
			found = classWord(f.Verdict.Verdict)
		}
		t.Row(requestName(f.Path, f.Asked), from(f), word, found)
	}
	if p.Color {
		t.Color = wordColor
	}
	p.WriteString(t.String())
	for _, said := range [][]string{unique(excuses), r.Notes} {
		for _, s := range said {
			p.wrap("  ", 4, s)
		}
	}
	_, err := io.WriteString(w, p.String())
	return err
}
