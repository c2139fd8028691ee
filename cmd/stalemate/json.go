package main

import (
	"encoding/json"
	"io"
)

// printJSON writes a value as what --json asks for, indented.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
