package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// helpWidth is how wide help pages are at most, examples and lists excepted.
const helpWidth = 80

// groups are the commands as the help page of the program groups them. What is in
// none comes last.
var groups = []struct{ title, names string }{
	{"Run a system, judge what was seen:", "run check report serve diff"},
	{"Understand how nodes come to disagree:", "scenario compare guards demo"},
	{"Search for failures:", "explore replay merge"},
}

// arrange gives help pages their form: groups of commands, text and flags no wider
// than a terminal.
func arrange(root *cobra.Command) {
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for name := range strings.FieldsSeq(g.names) {
			for _, c := range root.Commands() {
				if c.Name() == name {
					c.GroupID = g.title
				}
			}
		}
	}
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages ", ".FlagUsagesWrapped 80 "))
	fold(root)
}

func fold(c *cobra.Command) {
	c.Long = filled(c.Long, helpWidth)
	for _, sub := range c.Commands() {
		fold(sub)
	}
}

// filled breaks the lines of paragraphs anew; lines that begin with a space are
// left as they are, and so is everything whose lines fit.
func filled(text string, width int) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		lines := strings.Split(p, "\n")
		free, wide := true, false
		for _, line := range lines {
			free = free && !strings.HasPrefix(line, " ")
			wide = wide || len([]rune(line)) > width
		}
		if !free || !wide {
			continue
		}
		var b strings.Builder
		column := 0
		for word := range strings.FieldsSeq(p) {
			n := len([]rune(word))
			switch {
			case column == 0:
			case column+1+n > width:
				b.WriteByte('\n')
				column = 0
			default:
				b.WriteByte(' ')
				column++
			}
			b.WriteString(word)
			column += n
		}
		paragraphs[i] = b.String()
	}
	return strings.Join(paragraphs, "\n\n")
}
