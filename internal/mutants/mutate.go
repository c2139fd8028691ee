package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
)

// mutant is one change of one source file.
type mutant struct {
	file     string
	function string // that it is in
	line     int
	start    int // byte offsets of what is replaced
	end      int
	old, new string
}

// name tells mutants apart, and does not change when lines above it do.
func (m *mutant) name() string {
	return fmt.Sprintf("%s %s: %s -> %s", m.file, m.function, oneLine(m.old), oneLine(m.new))
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// apply gives the changed source.
func (m *mutant) apply(source []byte) []byte {
	out := append([]byte{}, source[:m.start]...)
	out = append(out, m.new...)
	return append(out, source[m.end:]...)
}

// opposite is each comparison turned round.
var opposite = map[token.Token]string{
	token.LSS: ">=", token.LEQ: ">", token.GTR: "<=", token.GEQ: "<",
	token.EQL: "!=", token.NEQ: "==",
}

// neighbour is each ordering with its boundary moved.
var neighbour = map[token.Token]string{
	token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">",
}

// mutants lists the mutants of a file: each comparison turned round and, for
// orderings, moved by one; each rule (the body of an if without else) dropped.
func mutants(file string) ([]mutant, []byte, error) {
	source, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	var out []mutant
	function := ""
	add := func(from, to token.Pos, text string) {
		a, b := set.Position(from), set.Position(to)
		out = append(out, mutant{file, function, a.Line, a.Offset, b.Offset, string(source[a.Offset:b.Offset]), text})
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			function = n.Name.Name
		case *ast.BinaryExpr:
			left, right := text(source, set, n.X), text(source, set, n.Y)
			for _, table := range []map[token.Token]string{opposite, neighbour} {
				if op, ok := table[n.Op]; ok {
					add(n.Pos(), n.End(), left+" "+op+" "+right)
				}
			}
		case *ast.IfStmt:
			cond := text(source, set, n.Cond)
			add(n.Cond.Pos(), n.Cond.End(), "("+cond+") && false")
		}
		return true
	})
	return out, source, nil
}

// text is the source of a node.
func text(source []byte, set *token.FileSet, n ast.Node) string {
	return string(source[set.Position(n.Pos()).Offset:set.Position(n.End()).Offset])
}
