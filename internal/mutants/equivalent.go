package main

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
)

// equivalents are the mutants that no test can tell from the original, each
// with its argument.
type equivalents struct {
	file     string
	argument map[string]string // by the mutant's name
	lines    map[string]int
	met      map[string]bool // by name: it is a mutant of a file that was tried
}

// readEquivalents reads a file of pairs of lines: the mutant's name, and below
// it, indented, the argument, of as many lines as it takes. Empty lines and
// lines that begin with # are comments.
func readEquivalents(file string) (*equivalents, error) {
	e := &equivalents{file: file, argument: map[string]string{}, lines: map[string]int{}, met: map[string]bool{}}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	name := ""
	number := 0
	for s := bufio.NewScanner(f); s.Scan(); {
		number++
		line := s.Text()
		text := strings.TrimSpace(line)
		switch indented := strings.TrimLeft(line, " \t") != line; {
		case text == "" || strings.HasPrefix(line, "#"):
		case indented && name == "":
			return nil, fmt.Errorf("%s:%d: expected the name of a mutant before its argument, found %q", file, number, text)
		case indented:
			e.argument[name] = strings.TrimSpace(e.argument[name] + " " + text)
		default:
			if _, ok := e.lines[text]; ok {
				return nil, fmt.Errorf("%s:%d: expected each mutant once, found %q again", file, number, text)
			}
			name = text
			e.lines[name] = number
		}
	}
	for name, line := range e.lines {
		if e.argument[name] == "" {
			return nil, fmt.Errorf("%s:%d: expected an indented argument below %q", file, line, name)
		}
	}
	return e, nil
}

// unused is an error if a listed mutant of one of the files does not exist any
// more: the list must not rot.
func (e *equivalents) unused(files []string) error {
	for name, line := range e.lines {
		file, _, _ := strings.Cut(name, " ")
		if slices.Contains(files, file) && !e.met[name] {
			return fmt.Errorf("%s:%d: no such mutant: %s", e.file, line, name)
		}
	}
	return nil
}
