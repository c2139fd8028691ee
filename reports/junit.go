package reports

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/policy"
)

// JUnit writes the XML that Jenkins, GitLab and other pipelines read as test
// results: a suite for each history and in it a case for each request (the
// level of a read path, a budget of staleness) and for each level that it was
// checked for. A broken request is a failure, one that is undecided an error,
// since nothing is known to be wrong; what was not asked for, or is allowed, is
// skipped and says so.
func JUnit(w io.Writer, all []Judged) error {
	var suites []junitSuite
	for i := range all {
		suites = append(suites, junitOf(&all[i]))
	}
	return writeJUnit(w, "stalemate", suites)
}

func writeJUnit(w io.Writer, name string, suites []junitSuite) error {
	out := junitSuites{Name: name, Suites: suites}
	for i := range suites {
		out.Tests += suites[i].Tests
		out.Failures += suites[i].Failures
		out.Errors += suites[i].Errors
	}
	text, err := xml.MarshalIndent(out, "", "  ")
	if err == nil {
		_, err = io.WriteString(w, xml.Header+string(text)+"\n")
	}
	return err
}

// The elements of the format, as far as they are written. Their names and the
// order of children are those that the schema of Jenkins' xUnit plugin allows.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string           `xml:"name,attr"`
		Tests      int              `xml:"tests,attr"`
		Failures   int              `xml:"failures,attr"`
		Errors     int              `xml:"errors,attr"`
		Skipped    int              `xml:"skipped,attr"`
		Properties *junitProperties `xml:"properties"`
		Cases      []junitCase      `xml:"testcase"`
		Out        string           `xml:"system-out,omitempty"`
	}
	junitProperties struct {
		All []junitProperty `xml:"property"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name    string       `xml:"name,attr"`
		Class   string       `xml:"classname,attr"`
		Skipped *junitResult `xml:"skipped"`
		Error   *junitResult `xml:"error"`
		Failure *junitResult `xml:"failure"`
	}
	junitResult struct {
		Type    string `xml:"type,attr,omitempty"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

func (s *junitSuite) add(c junitCase) {
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

// properties keeps those that have a value.
func properties(all []junitProperty) *junitProperties {
	out := &junitProperties{}
	for _, p := range all {
		if p.Value != "" {
			out.All = append(out.All, junitProperty{p.Name, clean(p.Value)})
		}
	}
	return out
}

func junitOf(j *Judged) junitSuite {
	s := junitSuite{Name: clean(j.title())}
	if j.Err != nil {
		s.add(junitCase{Name: "can be judged", Class: s.Name, Error: &junitResult{
			Type: "failed", Message: clean(j.Err.Error()), Text: clean(j.Name + ": " + j.Err.Error()),
		}})
		return s
	}
	v := j.Verdict
	s.Properties = properties([]junitProperty{
		{"history", j.Name}, {"verdict", string(v.Verdict)}, {"answer", string(j.Ruling.Answer)}, {"system", j.System}, {"model", v.Model}, {"engine", v.Engine},
		{"policy", j.Ruling.Policy}, {"operations", fmt.Sprint(v.Operations)}, {"reads", fmt.Sprint(v.Reads)}, {"stale_reads", fmt.Sprint(v.StaleReads)},
	})
	for i := range j.Ruling.Findings {
		f := &j.Ruling.Findings[i]
		s.add(j.request(f))
		if f.Level != "" {
			for _, c := range j.levels(f) {
				s.add(c)
			}
		}
	}
	s.Out = strings.Join(slices.Concat(j.Ruling.Notes, v.Warnings), "\n")
	return s
}

// request is the case of a request itself.
func (j *Judged) request(f *policy.Finding) junitCase {
	c := junitCase{Name: clean(requestName(f.Path, f.Asked)), Class: clean(j.title())}
	result := &junitResult{Message: clean(f.Why)}
	switch {
	case f.Excused != "":
		result.Message = clean("broken, yet allowed: " + f.Excused)
		c.Skipped = result
	case f.Answer == checker.Violated:
		result.Type, result.Text = strings.Join(f.Kinds, ","), findingText(j, f)
		c.Failure = result
	case f.Answer == checker.Undecided:
		result.Type, result.Text = "undecided", findingText(j, f)
		c.Error = result
	}
	return c
}

// levels are the cases of the checks beside the level that was asked for: those
// that it implies must hold too, of the others it is told how they went.
func (j *Judged) levels(f *policy.Finding) []junitCase {
	var out []junitCase
	for _, l := range checker.Levels() {
		answer, checked := f.Verdict.Levels[l]
		if l == f.Level || l == checker.None || !checked {
			continue
		}
		g := policy.Finding{Path: f.Path, Asked: string(l), Level: l, From: f.From, Answer: answer, Why: f.Why, Verdict: f.Verdict}
		if answer == checker.Violated {
			g.Excused, g.Kinds = f.Excused, policy.Breaking(l, f.Verdict)
		}
		c := j.request(&g)
		if !f.Level.Implies(l) {
			c.Failure, c.Error = nil, nil
			c.Skipped = &junitResult{Message: clean("not asked for; it " + answerVerb(answer))}
		}
		out = append(out, c)
	}
	return out
}

func answerVerb(a checker.Answer) string {
	switch a {
	case checker.Holds:
		return "holds"
	case checker.Violated:
		return "is violated"
	}
	return "is undecided"
}
