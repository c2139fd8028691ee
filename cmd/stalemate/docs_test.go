package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/internal/live"
)

// document is a Markdown file: its text and the code in it, line by line.
type document struct {
	path, text string
	lines      []string // of code blocks, fenced or indented
	spans      []string // of code within sentences
}

var codeSpan = regexp.MustCompile("`([^`\n]+(?:\n[^`\n]+)?)`")

// documents reads all that a user is told: README.md and docs/*.md.
func documents(t *testing.T) []*document {
	t.Helper()
	paths, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(paths) == 0 {
		t.Fatal("expected documents, found none: ", err)
	}
	var all []*document
	for _, path := range append(paths, "../../README.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		d := &document{path: strings.TrimPrefix(path, "../../"), text: string(text)}
		fenced, prose := false, ""
		for line := range strings.Lines(d.text) {
			line = strings.TrimSuffix(line, "\n")
			switch {
			case strings.HasPrefix(line, "```"):
				fenced = !fenced
			case fenced, strings.HasPrefix(line, "    "):
				d.lines = append(d.lines, strings.TrimSpace(line))
			default:
				prose += line + "\n"
			}
		}
		for _, m := range codeSpan.FindAllStringSubmatch(prose, -1) {
			d.spans = append(d.spans, strings.ReplaceAll(m[1], "\n", " "))
		}
		all = append(all, d)
	}
	return all
}

var wordOfShell = regexp.MustCompile(`"[^"]*"|'[^']*'|[^\s"']+`)

// commandIn gives the words after "stalemate" of a line that is a command of it,
// without what belongs to the shell.
func commandIn(line string) (words []string, is bool) {
	line = strings.TrimPrefix(line, "$ ")
	for _, prefix := range []string{"stalemate ", "bin/stalemate "} {
		if rest, ok := strings.CutPrefix(line, prefix); ok {
			for _, w := range wordOfShell.FindAllString(rest, -1) {
				if w == "|" || w == "&&" || w == ";" || strings.HasPrefix(w, ">") || strings.HasPrefix(w, "#") {
					break
				}
				w, _, _ = strings.Cut(strings.Trim(w, `"'`), "|") // of alternatives the first
				words = append(words, w)
			}
			return words, true
		}
	}
	return nil, false
}

// placeholder is a word that a reader is to replace.
var placeholder = regexp.MustCompile(`^[A-Z]+(\.\.\.)?$`)

// understood reports why a command line is none that this program takes. Within a
// sentence a command may be named without its arguments.
func understood(words []string, whole bool) error {
	c, rest, err := newRoot().Find(words)
	if err != nil {
		return err
	}
	if c.HasSubCommands() && c.Name() != "scenario" && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") && !placeholder.MatchString(rest[0]) {
		return fmt.Errorf("%s has no command %q", c.CommandPath(), rest[0])
	}
	var given []string
	for _, w := range rest {
		if w != "…" {
			given = append(given, w)
		}
	}
	if !whole { // a flag may be named without its value
		for _, w := range given {
			if name, is := strings.CutPrefix(w, "--"); is {
				name, _, _ = strings.Cut(name, "=")
				if c.Flag(name) == nil {
					return fmt.Errorf("%s has no flag --%s", c.CommandPath(), name)
				}
			}
		}
		return nil
	}
	if err := c.ParseFlags(given); err != nil {
		return err
	}
	if c.Args != nil {
		return c.Args(c, c.Flags().Args())
	}
	return nil
}

func TestDocumentsNameCommandsThatThereAre(t *testing.T) {
	found := map[string]int{}
	for _, d := range documents(t) {
		for _, line := range d.lines {
			if words, is := commandIn(line); is {
				found[words[0]]++
				if err := understood(words, true); err != nil {
					t.Errorf("%s: %q: %v", d.path, line, err)
				}
			}
		}
		for _, span := range d.spans {
			if words, is := commandIn(span); is {
				found[words[0]]++
				if err := understood(words, false); err != nil {
					t.Errorf("%s: `%s`: %v", d.path, span, err)
				}
			}
		}
	}
	for _, c := range newRoot().Commands() {
		if found[c.Name()] == 0 && !c.Hidden && c.Name() != "completion" && c.Name() != "help" {
			t.Errorf("no document tells of stalemate %s", c.Name())
		}
	}
}

func TestDocumentsNameFlagsThatThereAre(t *testing.T) {
	known := map[string]bool{}
	walk(newRoot(), func(c *cobra.Command) {
		c.InitDefaultHelpFlag()
		c.Flags().VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
		c.PersistentFlags().VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
	})
	looked := 0
	for _, d := range documents(t) {
		for _, span := range d.spans {
			name, is := strings.CutPrefix(span, "--")
			if !is || strings.HasPrefix(span, "---") {
				continue
			}
			looked++
			if name = strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == '=' })[0]; !known[name] {
				t.Errorf("%s: no command has the flag `%s`", d.path, span)
			}
		}
	}
	if looked == 0 {
		t.Error("no flag was found in the documents")
	}
}

func TestExamplesOfHelpPagesAreUnderstood(t *testing.T) {
	examples := 0
	walk(newRoot(), func(c *cobra.Command) {
		for line := range strings.Lines(c.Example) {
			words, is := commandIn(strings.TrimSpace(line))
			if !is {
				continue
			}
			examples++
			if err := understood(words, true); err != nil {
				t.Errorf("stalemate %s --help: %q: %v", c.Name(), strings.TrimSpace(line), err)
			}
		}
		if c.Runnable() && c.Short == "" {
			t.Errorf("%s does not say in a line what it does", c.CommandPath())
		}
	})
	if examples == 0 {
		t.Error("no help page has an example")
	}
}

func walk(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, sub := range c.Commands() {
		walk(sub, visit)
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	noSlug  = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	target  = regexp.MustCompile(`(?m)^([a-z][a-z-]*):`)
	makes   = regexp.MustCompile(`(?:^|\s)make ([a-z][a-z-]*)`)
)

// slug is the anchor that a heading gets.
func slug(heading string) string {
	return strings.ReplaceAll(strings.ToLower(noSlug.ReplaceAllString(heading, "")), " ", "-")
}

func TestLinksInDocumentsLeadSomewhere(t *testing.T) {
	all := documents(t)
	anchors := map[string]bool{}
	for _, d := range all {
		for _, m := range heading.FindAllStringSubmatch(d.text, -1) {
			anchors[d.path+"#"+slug(m[1])] = true
		}
	}
	links := 0
	for _, d := range all {
		for _, m := range link.FindAllStringSubmatch(d.text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			file, anchor, _ := strings.Cut(m[1], "#")
			path := d.path
			if file != "" {
				path = filepath.Join(filepath.Dir(d.path), file)
			}
			if _, err := os.Stat(filepath.Join("../..", path)); err != nil {
				t.Errorf("%s: the link %s: %v", d.path, m[1], err)
			} else if anchor != "" && !anchors[path+"#"+anchor] {
				t.Errorf("%s: the link %s: no heading there is called so", d.path, m[1])
			}
		}
	}
	if links == 0 {
		t.Error("no link was found in the documents")
	}
}

// fieldsOf gives the names of all fields in the JSON of a type.
func fieldsOf(x reflect.Type, seen map[reflect.Type]bool, found map[string]bool) {
	for x.Kind() == reflect.Pointer || x.Kind() == reflect.Slice || x.Kind() == reflect.Map {
		x = x.Elem()
	}
	if x.Kind() != reflect.Struct || seen[x] {
		return
	}
	seen[x] = true
	for f := range x.Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			found[name] = true
			fieldsOf(f.Type, seen, found)
		}
	}
}

func TestDocumentsNameEveryFieldAndFile(t *testing.T) {
	told := map[string]string{}
	for _, d := range documents(t) {
		told[d.path] = d.text
	}
	need := func(document, what, name string) {
		t.Helper()
		if !strings.Contains(told[document], "`"+name+"`") {
			t.Errorf("%s does not tell of the %s `%s`", document, what, name)
		}
	}
	fields := map[string]bool{}
	fieldsOf(reflect.TypeFor[checker.Verdict](), map[reflect.Type]bool{}, fields)
	if !fields["with_log"] || !fields["p99"] {
		t.Fatal("fields of a verdict are missing: ", fields)
	}
	for name := range fields {
		need("docs/verdict.md", "field", name)
	}
	for _, level := range checker.Levels() {
		need("docs/verdict.md", "level", string(level))
	}
	for _, model := range checker.Models() {
		need("docs/histories.md", "model", model)
	}
	for _, f := range reportFormats {
		need("docs/histories.md", "file", f.file)
	}

	store := t.TempDir()
	if out, code := stalemate(t, "", "run", "push", "--time", "1s", "--settle", "1s", "--store", store); code != exitHolds {
		t.Fatalf("exit code %d: %s", code, out)
	}
	left, err := os.ReadDir(filepath.Join(store, "latest"))
	if err != nil || len(left) == 0 {
		t.Fatal("the run left nothing: ", err)
	}
	for _, file := range left {
		need("docs/histories.md", "file", file.Name())
	}
	for _, file := range []string{histories.RunFile, histories.HistoryFile, histories.LogFile, histories.VerdictFile, live.BeginningFile, live.ClientsFile} {
		need("docs/histories.md", "file", file)
	}
}

func TestDocumentsNameTargetsOfMakeThatThereAre(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	targets := map[string]bool{}
	for _, m := range target.FindAllStringSubmatch(string(makefile), -1) {
		targets[m[1]] = true
	}
	for _, d := range documents(t) {
		for _, code := range append(d.lines, d.spans...) {
			for _, m := range makes.FindAllStringSubmatch(code, -1) {
				if strings.HasPrefix(code, "make ") && !targets[m[1]] {
					t.Errorf("%s: %q: the Makefile has no target %s", d.path, code, m[1])
				}
			}
		}
	}
}
