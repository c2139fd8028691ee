package policy

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/stalemate-io/stalemate/checker"
)

// Error is a fault in a policy file.
type Error struct {
	File         string
	Line, Column int // from 1
	Message      string
}

// Error writes file:line:column: message, as compilers do.
func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// maxFile is how long a policy may be: nobody writes more by hand, and aliases
// make YAML of any length cheap.
const maxFile = 1 << 20

// Read reads a policy file.
func Read(file string) (*Policy, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return Parse(file, text)
}

// Parse reads the text of a policy strictly: a field that nobody knows, a value
// that does not fit, a name that is given twice are errors (*Error) that say
// where they stand.
func Parse(file string, text []byte) (*Policy, error) {
	p := &parser{file: file}
	policy, err := p.policy(text)
	if err != nil {
		return nil, err
	}
	policy.Name = file
	return policy, nil
}

type parser struct{ file string }

// fail makes an error about a node.
func (p *parser) fail(n *yaml.Node, format string, args ...any) error {
	return &Error{File: p.file, Line: max(n.Line, 1), Column: max(n.Column, 1), Message: fmt.Sprintf(format, args...)}
}

func (p *parser) policy(text []byte) (*Policy, error) {
	if len(text) > maxFile {
		return nil, &Error{p.file, 1, 1, fmt.Sprintf("expected at most %d bytes, found %d", maxFile, len(text))}
	}
	root, err := p.root(text)
	if err != nil {
		return nil, err
	}
	out := &Policy{Require: map[string]map[string]Requirement{}}
	versioned := false
	err = p.fields(root, map[string]func(*yaml.Node) error{
		"version": func(n *yaml.Node) error {
			versioned = true
			if n.Value != "1" {
				return p.fail(n, "expected version 1, found %q; a later stalemate may read it", n.Value)
			}
			return nil
		},
		"require": func(n *yaml.Node) error { return p.require(n, out) },
		"allow":   func(n *yaml.Node) error { return p.allow(n, out) },
		"retries": func(n *yaml.Node) (err error) {
			if out.Retries, err = strconv.Atoi(n.Value); err != nil || out.Retries < 0 || out.Retries > MaxRetries {
				return p.fail(n, "expected a number of retries from 0 to %d, found %q", MaxRetries, n.Value)
			}
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	if !versioned {
		return nil, p.fail(root, "expected the field version: 1")
	}
	return out, nil
}

// root gives the one mapping that a file consists of.
func (p *parser) root(text []byte) (*yaml.Node, error) {
	d := yaml.NewDecoder(strings.NewReader(string(text)))
	var document, more yaml.Node
	if err := d.Decode(&document); err != nil {
		return nil, p.syntax(err)
	}
	if err := d.Decode(&more); err == nil {
		return nil, p.fail(&more, "expected one document, found another")
	}
	if document.Kind != yaml.DocumentNode || len(document.Content) != 1 {
		return nil, &Error{p.file, 1, 1, "expected a mapping with version, require, allow and retries, found nothing"}
	}
	return document.Content[0], nil
}

// syntax gives an error of the YAML parser its place in the file; it names the
// line within its text.
func (p *parser) syntax(err error) error {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	if message == "EOF" {
		message = "expected a mapping with version, require, allow and retries, found nothing"
	}
	line := 1
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		if number, what, ok := strings.Cut(rest, ": "); ok {
			if n, err := strconv.Atoi(number); err == nil {
				line, message = n, what
			}
		}
	}
	return &Error{p.file, line, 1, message}
}

// fields reads a mapping whose keys must be among those of read.
func (p *parser) fields(n *yaml.Node, read map[string]func(*yaml.Node) error) error {
	var names []string
	for name := range read {
		names = append(names, name)
	}
	slices.Sort(names)
	return p.entries(n, func(key, value *yaml.Node) error {
		f, ok := read[key.Value]
		if !ok {
			return p.fail(key, "no field is called %q here; expected one of %s", key.Value, strings.Join(names, ", "))
		}
		return f(value)
	})
}

// entries reads a mapping; no key may come twice, and there are no aliases, so
// that what stands in the file is all there is.
func (p *parser) entries(n *yaml.Node, read func(key, value *yaml.Node) error) error {
	if n.Kind != yaml.MappingNode {
		return p.fail(n, "expected a mapping (name: value), found %s", kindWord(n))
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode || value.Kind == yaml.AliasNode {
			return p.fail(key, "expected plain names and values, without aliases")
		}
		if seen[key.Value] {
			return p.fail(key, "%q is given twice", key.Value)
		}
		seen[key.Value] = true
		if err := read(key, value); err != nil {
			return err
		}
	}
	return nil
}

// scalar reads a text that is not empty.
func (p *parser) scalar(n *yaml.Node, what string, into *string) error {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" || strings.TrimSpace(n.Value) == "" {
		return p.fail(n, "expected %s, found %s", what, kindWord(n))
	}
	*into = n.Value
	return nil
}

func kindWord(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.ScalarNode && strings.TrimSpace(n.Value) != "" && n.Tag != "!!null":
		return strconv.Quote(n.Value)
	}
	return "nothing"
}

func (p *parser) require(n *yaml.Node, out *Policy) error {
	return p.entries(n, func(system, paths *yaml.Node) error {
		of := map[string]Requirement{}
		out.Require[system.Value] = of
		return p.entries(paths, func(path, value *yaml.Node) error {
			r, err := p.requirement(value)
			r.Line = path.Line
			of[path.Value] = r
			return err
		})
	})
}

// requirement reads a level alone or a mapping with level and bounds.
func (p *parser) requirement(n *yaml.Node) (r Requirement, err error) {
	if n.Kind == yaml.ScalarNode {
		return r, p.level(n, &r.Level)
	}
	err = p.fields(n, map[string]func(*yaml.Node) error{
		"level":         func(n *yaml.Node) error { return p.level(n, &r.Level) },
		"max-staleness": func(n *yaml.Node) error { return p.duration(n, &r.MaxStaleness) },
		"p99-staleness": func(n *yaml.Node) error { return p.duration(n, &r.P99Staleness) },
	})
	if err == nil && r == (Requirement{}) {
		err = p.fail(n, "expected a level or a bound on staleness, found neither")
	}
	return r, err
}

func (p *parser) level(n *yaml.Node, into *checker.Level) error {
	var name string
	if err := p.scalar(n, "a level", &name); err != nil {
		return err
	}
	level, err := checker.ParseLevel(name)
	if err != nil {
		return p.fail(n, "%v", err)
	}
	*into = level
	return nil
}

func (p *parser) duration(n *yaml.Node, into *time.Duration) error {
	d, err := time.ParseDuration(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || d <= 0 {
		return p.fail(n, "expected a duration above zero, such as 500ms or 2s, found %s", kindWord(n))
	}
	*into = d
	return nil
}

func (p *parser) allow(n *yaml.Node, out *Policy) error {
	if n.Kind != yaml.SequenceNode {
		return p.fail(n, "expected a list of allowed anomalies, found %s", kindWord(n))
	}
	for _, item := range n.Content {
		a, err := p.allowance(item)
		if err != nil {
			return err
		}
		out.Allow = append(out.Allow, a)
	}
	return nil
}

func (p *parser) allowance(n *yaml.Node) (a Allowance, err error) {
	a = Allowance{System: Every, Path: Every, Line: n.Line}
	text := func(what string, into *string) func(*yaml.Node) error {
		return func(n *yaml.Node) error { return p.scalar(n, what, into) }
	}
	err = p.fields(n, map[string]func(*yaml.Node) error{
		"anomaly": func(n *yaml.Node) error { return p.kind(n, &a.Kind) },
		"system":  text("the name of a system", &a.System),
		"path":    text("the name of a read path", &a.Path),
		"reason":  text("a reason", &a.Reason),
		"expires": func(n *yaml.Node) error { return p.day(n, &a.Expires) },
	})
	switch {
	case err != nil:
	case a.Kind == "":
		err = p.fail(n, "expected the field anomaly: which kind is allowed")
	case a.Reason == "":
		err = p.fail(n, "expected the field reason: why %s is allowed", a.Kind)
	case a.Expires.IsZero():
		err = p.fail(n, "expected the field expires: the last day on which %s is allowed, such as 2027-03-31", a.Kind)
	}
	return a, err
}

func (p *parser) kind(n *yaml.Node, into *string) error {
	if err := p.scalar(n, "a kind of anomaly", into); err != nil {
		return err
	}
	if kinds := allowable(); !slices.Contains(kinds, *into) {
		return p.fail(n, "no anomaly is called %q; the kinds are %s", *into, strings.Join(kinds, ", "))
	}
	return nil
}

func (p *parser) day(n *yaml.Node, into *time.Time) error {
	day, err := time.Parse(time.DateOnly, n.Value)
	if err != nil {
		return p.fail(n, "expected a day such as 2027-03-31, found %s", kindWord(n))
	}
	*into = day
	return nil
}
