package local

import (
	"io"
	"os"
	"strings"
)

// tailBytes is how much of the end of a log Tail looks at.
const tailBytes = 16 << 10

// Tail gives the last n lines that the process wrote, fewer where there are
// fewer, for the message of an error. It is empty where the log cannot be read.
func (p *Process) Tail(n int) string { return Tail(p.log, n) }

// Tail gives the last n lines of a text file, as Process.Tail does.
func Tail(path string, n int) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	start := max(0, size-tailBytes)
	text, err := io.ReadAll(io.NewSectionReader(f, start, size-start))
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	if start > 0 && len(lines) > 1 {
		lines = lines[1:] // most likely the end of a line only
	}
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
