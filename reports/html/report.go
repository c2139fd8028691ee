package html

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
)

// Input is what a report is made of.
type Input struct {
	// Name of the run or file, for the title.
	Name    string
	History *histories.History
	Verdict *checker.Verdict
	// Options are those that the verdict was made with.
	Options checker.Options
	// Info is run.json; nil for a history that is no run's.
	Info *histories.RunInfo
	// Version of stalemate that writes the report.
	Version string
}

// MaxDrawn is how many operations a page carries. Of a longer history the
// inner ones of long runs of equal reads are left out, evenly; nothing that is
// stale for the first or last time in a row, changes what a node shows, or is
// part of an anomaly ever is.
const MaxDrawn = 200_000

//go:embed assets/page.tmpl
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// Write writes the page. It fails where the options do not fit the history, or
// where w does.
func Write(w io.Writer, in Input) error {
	return write(w, in, MaxDrawn)
}

func write(w io.Writer, in Input, limit int) error {
	line, err := checker.NewTimeline(in.History, in.Options)
	if err != nil {
		return fmt.Errorf("the history does not fit the options of its verdict: %w", err)
	}
	p, err := newPage(in, line, limit)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := pageTemplate.Execute(&out, p); err != nil {
		return err
	}
	_, err = w.Write(out.Bytes())
	return err
}
