package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestHelpPagesFitATerminal(t *testing.T) {
	walk(newRoot(), func(c *cobra.Command) {
		for line := range strings.Lines(c.Long) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > helpWidth {
				t.Errorf("%s --help: %d columns: %s", c.CommandPath(), n, line)
			}
		}
	})
	out, code := stalemate(t, "", "check", "--help")
	_, flags, is := strings.Cut(out, "\nFlags:\n")
	if code != exitHolds || !is {
		t.Fatalf("exit code %d: %s", code, out)
	}
	for line := range strings.Lines(flags) {
		if n := len([]rune(line)); n > helpWidth+1 {
			t.Errorf("a flag takes %d columns: %s", n, line)
		}
	}
}

func TestTheProgramsHelpGroupsItsCommands(t *testing.T) {
	out, _ := stalemate(t, "", "--help")
	at := -1
	for _, want := range []string{groups[0].title, "  run ", groups[1].title, "  scenario ", groups[2].title, "  explore ", "  doctor "} {
		next := strings.Index(out, "\n"+want)
		if next <= at {
			t.Errorf("%q is not where it belongs in\n%s", want, out)
		}
		at = next
	}
	known := map[string]bool{}
	for _, c := range newRoot().Commands() {
		known[c.Name()] = true
	}
	for _, g := range groups {
		for name := range strings.FieldsSeq(g.names) {
			if !known[name] {
				t.Errorf("%q groups the command %s, which does not exist", g.title, name)
			}
		}
	}
}

func TestFilled(t *testing.T) {
	for _, x := range []struct{ rule, text, want string }{
		{"a paragraph that fits is left alone", "one\ntwo", "one\ntwo"},
		{"one with a line that is too long is broken anew", "one two three\nfour", "one two\nthree four"},
		{"a list is left alone, however long its lines", "  one two three", "  one two three"},
		{"paragraphs stay apart", "one two three\n\nfour", "one two\nthree\n\nfour"},
		{"a word that is too long has a line for itself", "a onetwothreefour b c d e f", "a\nonetwothreefour\nb c d e f"},
	} {
		if got := filled(x.text, 10); got != x.want {
			t.Errorf("%s: %q", x.rule, got)
		}
	}
}
