package main

import (
	"bytes"
	"io"

	"github.com/spf13/cobra"
)

// reportWriters are the formats in which a command writes what it judged, where that
// is no single verdict.
type reportWriters[T any] map[string]func(io.Writer, T) error

// refuse gives the first report that was asked for and that there is none of.
func (w reportWriters[T]) refuse(c *cobra.Command) (t reportTarget, refused bool) {
	for _, t := range reportsOf(c) {
		if w[t.format] == nil {
			return t, true
		}
	}
	return t, false
}

// finish writes what --report asks for. The error carries the exit code, which is
// that of the judgement or of a report that could not be written.
func (w reportWriters[T]) finish(c *cobra.Command, judged T, code int) error {
	for _, t := range reportsOf(c) {
		var out bytes.Buffer
		err := w[t.format](&out, judged)
		if err := t.save(out.Bytes(), err); err != nil {
			return &exitError{worse(code, exitFailed), err}
		}
	}
	if code != exitHolds {
		return &exitError{code: code}
	}
	return nil
}
