package reports

import (
	"fmt"
	"io"
	"strings"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/policy"
)

// CompareRuling is what came of holding many runs against a policy.
type CompareRuling struct {
	// Policy names the file.
	Policy string `json:"policy"`
	// Answer is violated where a run violated what was asked, undecided where one
	// is undecided and none violated.
	Answer  checker.Answer  `json:"answer"`
	Answers []CompareAnswer `json:"answers"`
	Notes   []string        `json:"notes,omitempty"`
}

// CompareAnswer is how all runs under one kind of trouble answered one request.
type CompareAnswer struct {
	Trouble string `json:"family"`
	System  string `json:"system"`
	// Path that was asked about; empty where there is but one.
	Path string `json:"path,omitempty"`
	// Asked and From are as in a policy.Finding.
	Asked string `json:"asked"`
	From  string `json:"from"`
	// Of so many Runs, those that violated it, are undecided, and violated it
	// where that is allowed.
	Runs    int `json:"runs"`
	Broken  int `json:"violated"`
	Open    int `json:"undecided"`
	Allowed int `json:"allowed"`
	// Seed is the least that violated it or, if none did, is undecided, and Why
	// its reason.
	Seed uint64 `json:"seed,omitempty"`
	Why  string `json:"why,omitempty"`
	// Excused tells why violations are allowed.
	Excused string `json:"excused,omitempty"`
}

// Add adds what the run of a seed answered.
func (a *CompareAnswer) Add(seed uint64, f *policy.Finding) {
	before, now := a.Counts(), f.Counts()
	a.Runs++
	switch {
	case f.Excused != "":
		a.Allowed++
		a.Excused = f.Excused
	case now == checker.Violated:
		a.Broken++
	case now == checker.Undecided:
		a.Open++
	}
	if policy.Worse(now, before) || now != checker.Holds && now == before && seed < a.Seed {
		a.Seed, a.Why = seed, f.Why
	}
}

// Counts is the answer of all runs, with what is allowed taken into account.
func (a *CompareAnswer) Counts() checker.Answer {
	switch {
	case a.Broken > 0:
		return checker.Violated
	case a.Open > 0:
		return checker.Undecided
	}
	return checker.Holds
}

// word is the answer in a word.
func (a *CompareAnswer) word() string {
	if w := a.Counts(); w != checker.Holds || a.Allowed == 0 {
		return answerWord(w)
	}
	return "allowed"
}

// tally tells how many runs answered what.
func (a *CompareAnswer) tally() string {
	var out []string
	for _, n := range []struct {
		runs int
		what string
	}{{a.Broken, "violated"}, {a.Open, "undecided"}, {a.Allowed, "allowed"}} {
		if n.runs > 0 {
			out = append(out, fmt.Sprintf("%d %s", n.runs, n.what))
		}
	}
	if out == nil {
		out = []string{"none violated"}
	}
	return fmt.Sprintf("%s of %d", strings.Join(out, ", "), a.Runs)
}

// worst tells of the run that is worst, if any is bad.
func (a *CompareAnswer) worst() string {
	if a.Why == "" {
		return ""
	}
	return fmt.Sprintf("seed %d: %s", a.Seed, a.Why)
}

// table has a row for each request.
func (r *CompareRuling) table() *Table {
	t := NewTable("trouble", "system", "asked", "by", "", "runs")
	for i := range r.Answers {
		a := &r.Answers[i]
		t.Row(a.Trouble, a.System, requestName(a.Path, a.Asked), from(&policy.Finding{From: a.From}), a.word(), a.tally())
	}
	return t
}

// ComparePolicy writes how many runs were answered where a policy asks.
func ComparePolicy(w io.Writer, r *CompareRuling, o TextOptions) error {
	p := newPrinter(o)
	p.WriteString("\npolicy " + clean(r.Policy) + ": " + p.mark(r.Answer) + "\n")
	t := r.table()
	t.Indent = "  "
	if p.Color {
		t.Color = wordColor
	}
	p.WriteString(t.String())
	var excuses []string
	for i := range r.Answers {
		a := &r.Answers[i]
		if worst := a.worst(); worst != "" {
			p.wrap("  ", 4, fmt.Sprintf("%s under %s, %s: %s", a.System, a.Trouble, requestName(a.Path, a.Asked), worst))
		}
		if a.Excused != "" {
			excuses = append(excuses, a.Excused)
		}
	}
	for _, said := range [][]string{unique(excuses), r.Notes} {
		for _, s := range said {
			p.wrap("  ", 4, s)
		}
	}
	_, err := io.WriteString(w, p.String())
	return err
}
