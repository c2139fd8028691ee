package histories

import (
	"fmt"
	"strings"
)

// Format is a way to write a history down.
type Format uint8

// The formats.
const (
	// Auto is the format that the content shows.
	Auto Format = iota
	// JSONL is this package's own: one JSON object a line and a closing line
	// that tells the number of events. See Writer.
	JSONL
	// JSON is one array of objects, as elle-cli takes it, or objects one after
	// another over any number of lines.
	JSON
	// EDN is Jepsen's history.edn: maps one after another, or all in one vector
	// or list.
	EDN
	// Text is Jepsen's history.txt and the lines of its log: process, type,
	// function, value and perhaps an error, in columns. It is only read.
	Text
)

var formatNames = [...]string{Auto: "auto", JSONL: "jsonl", JSON: "json", EDN: "edn", Text: "text"}

// String gives the name that ParseFormat takes.
func (f Format) String() string {
	if int(f) < len(formatNames) {
		return formatNames[f]
	}
	return fmt.Sprintf("format(%d)", int(f))
}

// ParseFormat finds a format by name: auto, jsonl, json, edn or text.
func ParseFormat(name string) (Format, error) {
	for i, n := range formatNames {
		if n == name {
			return Format(i), nil
		}
	}
	return Auto, fmt.Errorf("expected one of the formats %s, found %s", strings.Join(formatNames[:], ", "), quoteShort(name))
}
