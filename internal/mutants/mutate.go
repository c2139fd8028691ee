package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
)

// mutant is one change of one source file. Mutants of a file are numbered from
// 1 in order of appearance; number 0 is the original.
type mutant struct {
	file     string
	function string // that it is in
	line     int
	old, new string
}

// name tells mutants apart, and does not change when lines above it do.
func (m *mutant) name() string {
	return fmt.Sprintf("%s %s: %s -> %s", m.file, m.function, oneLine(m.old), oneLine(m.new))
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// opposite is each comparison turned round.
var opposite = map[token.Token]string{
	token.LSS: ">=", token.LEQ: ">", token.GTR: "<=", token.GEQ: "<",
	token.EQL: "!=", token.NEQ: "==",
}

// neighbour is each ordering with its boundary moved.
var neighbour = map[token.Token]string{
	token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">",
}

// source is a file with all its mutants.
type source struct {
	text    string
	set     *token.FileSet
	tree    *ast.File
	mutants []mutant
	// By node, the number of the mutant that drops the rule whose condition it
	// is, and those that have another operator.
	dropped  map[ast.Expr]int
	replaced map[ast.Expr][]replacement
}

type replacement struct {
	operator string
	mutant   int
}

// readSource lists the mutants of a file: each comparison turned round and, for
// orderings, moved by one; each rule (the body of an if without else) dropped.
func readSource(file string) (*source, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	s := &source{text: string(text), set: token.NewFileSet(), dropped: map[ast.Expr]int{}, replaced: map[ast.Expr][]replacement{}}
	if s.tree, err = parser.ParseFile(s.set, file, text, parser.SkipObjectResolution); err != nil {
		return nil, err
	}
	function := ""
	add := func(n ast.Node, text string) int {
		s.mutants = append(s.mutants, mutant{file, function, s.set.Position(n.Pos()).Line, s.of(n), text})
		return len(s.mutants)
	}
	ast.Inspect(s.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			function = n.Name.Name
		case *ast.BinaryExpr:
			for _, table := range []map[token.Token]string{opposite, neighbour} {
				if op, ok := table[n.Op]; ok {
					number := add(n, s.of(n.X)+" "+op+" "+s.of(n.Y))
					s.replaced[n] = append(s.replaced[n], replacement{op, number})
				}
			}
		case *ast.IfStmt:
			s.dropped[n.Cond] = add(n.Cond, "("+s.of(n.Cond)+") && false")
		}
		return true
	})
	return s, nil
}

// of is the source of a node.
func (s *source) of(n ast.Node) string { return s.text[s.offset(n.Pos()):s.offset(n.End())] }

func (s *source) offset(p token.Pos) int { return s.set.Position(p).Offset }

// chooser is the variable by which the changed source chooses its mutant when
// it runs, so that all mutants of a file are compiled at once.
const chooser = "mutantNumber"

// all is the source with every mutant in it.
func (s *source) all() string { return s.render(s.tree, 0, len(s.text)) }

// render is the source of a node with the mutants below it, from one offset to
// another.
func (s *source) render(n ast.Node, from, to int) string {
	var out strings.Builder
	ast.Inspect(n, func(child ast.Node) bool {
		e, ok := child.(ast.Expr)
		if !ok || child == n || s.dropped[e] == 0 && s.replaced[e] == nil {
			return true
		}
		out.WriteString(s.text[from:s.offset(e.Pos())])
		out.WriteString(s.choice(e))
		from = s.offset(e.End())
		return false
	})
	out.WriteString(s.text[from:to])
	return out.String()
}

// choice is an expression that is each of its mutants where that is chosen.
func (s *source) choice(e ast.Expr) string {
	text := ""
	if b, ok := e.(*ast.BinaryExpr); ok && s.replaced[e] != nil {
		left, right := s.operand(b.X), s.operand(b.Y)
		text = "func() bool {"
		for _, r := range s.replaced[e] {
			text += fmt.Sprintf(" if %s == %d { return %s %s %s };", chooser, r.mutant, left, r.operator, right)
		}
		text += fmt.Sprintf(" return %s %s %s }()", left, b.Op, right)
	} else {
		text = s.render(e, s.offset(e.Pos()), s.offset(e.End()))
	}
	if number := s.dropped[e]; number != 0 {
		text = fmt.Sprintf("(%s) && %s != %d", text, chooser, number)
	}
	return text
}

// operand is one side of a comparison.
func (s *source) operand(e ast.Expr) string {
	if s.replaced[e] != nil {
		return s.choice(e)
	}
	return s.render(e, s.offset(e.Pos()), s.offset(e.End()))
}
